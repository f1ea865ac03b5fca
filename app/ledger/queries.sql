-- name: find_accounts
-- The accounts asked for, as far as they exist.
SELECT a.code, a.currency, a.id
FROM unnest(%(codes)b::text[], %(currencies)b::text[]) AS wanted (code, currency)
JOIN ledger.account a USING (code, currency);

-- name: open_accounts
-- Opens accounts that are missing, in one order for everyone. Two openers of one account meet at account_once.
INSERT INTO ledger.account (code, type, currency)
SELECT code, type, currency
FROM unnest(%(codes)b::text[], %(types)b::text[], %(currencies)b::text[]) AS wanted (code, type, currency)
ORDER BY code, currency
ON CONFLICT ON CONSTRAINT account_once DO NOTHING;

-- name: open_balances
-- What we owe to somebody has a balance row: a wallet stops at its floor, a partner may go below zero (commission taken back).
INSERT INTO ledger.balance (account_id, floor)
SELECT a.id, CASE WHEN starts_with(a.code, 'wallet:') THEN 0 END
FROM unnest(%(codes)b::text[], %(currencies)b::text[]) AS wanted (code, currency)
JOIN ledger.account a USING (code, currency)
WHERE a.type = 'liability'
ORDER BY a.id
ON CONFLICT (account_id) DO NOTHING;

-- name: lock_balances
-- Holds the balance rows in one order over the whole set, so that two sets never wait for each other crosswise.
SELECT account_id, owed FROM ledger.balance WHERE account_id = ANY (%(account_ids)s) ORDER BY account_id FOR UPDATE;

-- name: take_entry_ids
SELECT nextval('ledger.entry_id_seq') FROM generate_series(1, %(count)s);

-- name: post
-- Entries if absent, their postings, and the balances they move, in one statement: together or not at all (rules 2, 3, 6, 7).
-- An entry that exists already (entry_once, entry_one_sale) is left out together with its postings and its money.
-- A fact dated in a closed month is posted in the month after the last closed one; occurred_at keeps the true date.
WITH entry AS (
    INSERT INTO ledger.entry (id, kind, amount, currency, period, occurred_at, payment_id, event_id, refund_id, party, memo)
    SELECT e.id, e.kind, e.amount, e.currency,
           CASE WHEN EXISTS (SELECT FROM ledger.closed_period c WHERE c.period = e.period)
                THEN (SELECT (max(period) + interval '1 month')::date FROM ledger.closed_period)
                ELSE e.period END,
           e.occurred_at, e.payment_id, e.event_id, e.refund_id, e.party, e.memo
    FROM unnest(%(id)b::bigint[], %(kind)b::text[], %(amount)b::bigint[], %(currency)b::text[], %(period)b::date[],
                %(occurred_at)b::timestamptz[], %(payment_id)b::bigint[], %(event_id)b::bigint[], %(refund_id)b::bigint[],
                %(party)b::text[], %(memo)b::text[])
        AS e (id, kind, amount, currency, period, occurred_at, payment_id, event_id, refund_id, party, memo)
    ON CONFLICT DO NOTHING
    RETURNING id, period
), posting AS (
    INSERT INTO ledger.posting (entry_id, line, account_id, amount)
    SELECT p.entry_id, p.line, p.account_id, p.amount
    FROM unnest(%(posting_entry)b::bigint[], %(posting_line)b::smallint[], %(posting_account)b::bigint[], %(posting_amount)b::bigint[])
        AS p (entry_id, line, account_id, amount)
    JOIN entry ON entry.id = p.entry_id
    RETURNING entry_id, account_id, amount
), moved AS (
    SELECT account_id, period, sum(amount)::bigint AS debit, count(*) AS postings
    FROM posting JOIN entry ON entry.id = posting.entry_id
    GROUP BY account_id, period
), owed AS (
    UPDATE ledger.balance b SET owed = b.owed - m.debit
    FROM (SELECT account_id, sum(debit) AS debit FROM moved GROUP BY account_id) m
    WHERE b.account_id = m.account_id
), movement AS (
    INSERT INTO ledger.movement (account_id, period, debit, postings)
    SELECT m.account_id, m.period, m.debit, m.postings
    FROM moved m JOIN ledger.account a ON a.id = m.account_id
    WHERE a.type <> 'liability'
)
SELECT id FROM entry;

-- name: find_wallet
SELECT id, currency FROM ledger.account WHERE code = %(code)s;

-- name: withdraw
-- Rule 8: takes from a wallet only what it holds, in one conditional update; no row means that it does not reach.
UPDATE ledger.balance SET owed = owed - %(amount)s
WHERE account_id = %(account_id)s AND owed - %(amount)s >= floor
RETURNING owed;

-- name: post_withdrawn
-- The entry of a withdrawal whose balance has moved already.
WITH entry AS (
    INSERT INTO ledger.entry (id, kind, amount, currency, period, occurred_at, party, memo)
    VALUES (%(id)s, 'debit', -%(amount)s, %(currency)s, %(period)s, %(occurred_at)s, %(party)s, %(memo)s)
    RETURNING id
), posting AS (
    INSERT INTO ledger.posting (entry_id, line, account_id, amount)
    SELECT entry.id, p.line, p.account_id, p.amount
    FROM entry, (VALUES (1::smallint, %(wallet)s::bigint, %(amount)s::bigint), (2::smallint, %(sales)s::bigint, -%(amount)s::bigint))
        AS p (line, account_id, amount)
)
INSERT INTO ledger.movement (account_id, period, debit, postings)
VALUES (%(sales)s, %(period)s, -%(amount)s, 1);

-- name: fold_movements
-- Adds up what batches appended, so that a balance is a short sum. Rows that another folds are left to it.
WITH gone AS (
    DELETE FROM ledger.movement WHERE ctid IN (
        SELECT ctid FROM ledger.movement ORDER BY account_id, period LIMIT %(limit)s FOR UPDATE SKIP LOCKED)
    RETURNING account_id, period, debit, postings
)
INSERT INTO ledger.movement (account_id, period, debit, postings)
SELECT account_id, period, sum(debit), sum(postings) FROM gone GROUP BY account_id, period;
