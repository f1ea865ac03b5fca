-- name: entry
SELECT e.id, e.kind, e.amount, e.currency, e.period, e.occurred_at, e.recorded_at, e.payment_id, e.event_id, e.refund_id,
       e.party, e.memo
FROM ledger.entry e WHERE e.id = %(entry_id)s;

-- name: of_payment
-- The entries of a payment, first to last.
SELECT e.id, e.kind, e.amount, e.currency, e.period, e.occurred_at, e.recorded_at, e.payment_id, e.event_id, e.refund_id,
       e.party, e.memo
FROM ledger.entry e WHERE e.payment_id = %(payment_id)s ORDER BY e.id LIMIT 500;

-- name: postings
-- The postings of some entries, with their accounts.
SELECT p.entry_id, a.code, a.type, p.amount
FROM ledger.posting p JOIN ledger.account a ON a.id = p.account_id
WHERE p.entry_id = ANY (%(entry_ids)s) ORDER BY p.entry_id, p.line;

-- name: account
SELECT id, code, type, currency, created_at FROM ledger.account WHERE code = %(code)s ORDER BY currency LIMIT 20;

-- name: balances
-- What some accounts hold, debit positive: a kept balance where we owe somebody, else the sum of what was appended.
SELECT a.id, coalesce(-b.owed, (SELECT sum(m.debit) FROM ledger.movement m WHERE m.account_id = a.id), 0)::bigint
FROM ledger.account a LEFT JOIN ledger.balance b ON b.account_id = a.id
WHERE a.id = ANY (%(account_ids)s);

-- name: account_page
-- The newest postings of an account below an entry.
SELECT e.id, e.kind, e.period, e.occurred_at, e.payment_id, e.memo, p.amount
FROM ledger.posting p JOIN ledger.entry e ON e.id = p.entry_id
WHERE p.account_id = %(account_id)s AND p.entry_id < %(before)s
ORDER BY p.entry_id DESC, p.line DESC LIMIT %(limit)s;

-- name: periods
-- Every month with entries, newest first, one jump through the index for each.
WITH RECURSIVE seen (period) AS (
    (SELECT period FROM ledger.entry ORDER BY period DESC LIMIT 1)
    UNION ALL
    SELECT (SELECT e.period FROM ledger.entry e WHERE e.period < seen.period ORDER BY e.period DESC LIMIT 1)
    FROM seen WHERE seen.period IS NOT NULL
)
SELECT seen.period, c.closed_at FROM seen LEFT JOIN ledger.closed_period c USING (period)
WHERE seen.period IS NOT NULL LIMIT 240;

-- name: recorded_since
-- Since a moment, by kind and currency: how many entries and their sum as people read it.
SELECT kind, currency, count(*), sum(amount)::bigint FROM ledger.entry
WHERE recorded_at >= %(since)s GROUP BY kind, currency ORDER BY kind, currency;

-- name: of_party
-- Accounts of a wallet's owner or a partner.
SELECT code, currency FROM ledger.account
WHERE code IN (%(text)s, 'wallet:' || %(text)s, 'partner:' || %(text)s, 'receivable:' || %(text)s, 'psp:' || %(text)s)
ORDER BY code, currency LIMIT 20;

-- name: exists
SELECT 1 FROM ledger.entry WHERE id = %(entry_id)s;

-- name: open_month
-- The month in which a fact of that month is posted: its own, or the one after the last closed (as `post` does).
SELECT CASE WHEN EXISTS (SELECT FROM ledger.closed_period c WHERE c.period = %(period)s)
            THEN (SELECT (max(period) + interval '1 month')::date FROM ledger.closed_period) ELSE %(period)s::date END;
