-- One event stored and its payment confirmed, in one transaction: what a receiver does that works event by event.
\set payment random(1, 2000000)
BEGIN;
INSERT INTO event (provider, event_key, body, headers, status)
VALUES ('asaas', 'evt_' || nextval('key'), repeat('x', 900)::bytea, '{"a": "b"}', 'applied') ON CONFLICT DO NOTHING;
WITH paid AS (
    UPDATE payment SET status = 'paid' WHERE id = :payment AND status = 'pending' RETURNING id, amount, wallet_id
), entry AS (
    INSERT INTO journal (payment_id, kind, period) SELECT id, 'sale', current_date FROM paid RETURNING id, payment_id
), lines AS (
    INSERT INTO posting
    SELECT entry.id, 1, -paid.amount FROM entry, paid UNION ALL SELECT entry.id, 2, paid.amount FROM entry, paid
)
UPDATE wallet SET balance = balance + paid.amount FROM paid WHERE wallet.id = paid.wallet_id;
COMMIT;
