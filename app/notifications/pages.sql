-- name: of_payment
SELECT id, type, payment_id, subject, body, created_at, attempts, due_at, delivered_at
FROM outbox.message WHERE payment_id = %(payment_id)s ORDER BY id LIMIT 200;
