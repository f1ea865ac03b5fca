-- name: enqueue
-- Rule 10: owed in the transaction of what it tells. One message per outcome: a second of the same type and subject is none.
INSERT INTO outbox.message (type, payment_id, subject, body)
SELECT * FROM json_to_recordset(%(messages)s) AS m (type text, payment_id bigint, subject text, body jsonb)
ON CONFLICT ON CONSTRAINT message_once DO NOTHING;
