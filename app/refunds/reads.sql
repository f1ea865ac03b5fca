-- name: of_payment
-- A payment's refunds, each with the entry that booked it (entry_once finds it).
SELECT r.id, r.payment_id, r.amount, p.currency, r.status, r.reason, e.id, e.period, r.created_at
FROM payments.refund r
JOIN payments.payment p ON p.id = r.payment_id
LEFT JOIN ledger.entry e ON e.payment_id = r.payment_id AND e.kind = 'refund' AND e.party = r.id::text
WHERE r.payment_id = %(payment_id)s AND (%(before)s::bigint IS NULL OR r.id < %(before)s)
ORDER BY r.id DESC LIMIT %(limit)s;
