-- name: of_payments
-- The entries of some payments, first to last, so many of each.
SELECT e.id, e.kind, e.amount, e.currency, e.period, e.occurred_at, e.payment_id, e.event_id, e.refund_id, e.memo
FROM unnest(%(payment_ids)s::bigint[]) AS wanted (payment_id)
CROSS JOIN LATERAL (SELECT * FROM ledger.entry e WHERE e.payment_id = wanted.payment_id ORDER BY e.id LIMIT %(most)s) e
ORDER BY e.id;

-- name: postings
-- The postings of some entries, with their accounts' codes.
SELECT p.entry_id, a.code, p.amount
FROM ledger.posting p JOIN ledger.account a ON a.id = p.account_id
WHERE p.entry_id = ANY (%(entry_ids)s) ORDER BY p.entry_id, p.line;

-- name: wallet
-- A wallet and what it holds; a code that a wallet has, it has in one currency.
SELECT a.id, a.currency, b.owed FROM ledger.account a JOIN ledger.balance b ON b.account_id = a.id WHERE a.code = %(code)s;

-- name: statement
-- A wallet's movements below an entry, newest first, as its owner reads them, beside what it holds now: one snapshot of both.
SELECT e.id, e.kind, moved.amount, b.owed, e.occurred_at, e.memo, e.payment_id
FROM ledger.account a
JOIN ledger.balance b ON b.account_id = a.id
CROSS JOIN LATERAL (SELECT p.entry_id, -sum(p.amount)::bigint AS amount FROM ledger.posting p
                    WHERE p.account_id = a.id AND p.entry_id < %(before)s
                    GROUP BY p.entry_id ORDER BY p.entry_id DESC LIMIT %(limit)s) moved
JOIN ledger.entry e ON e.id = moved.entry_id
WHERE a.code = %(code)s
ORDER BY moved.entry_id DESC;
