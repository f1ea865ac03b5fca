-- name: provider_names
SELECT payment_id, value FROM payments.name
WHERE payment_id = ANY (%(payment_ids)s) AND kind = 'provider' ORDER BY payment_id, value;

-- name: grants_of
SELECT id, payment_id, subject, resource, granted_at FROM payments.access_grant
WHERE payment_id = ANY (%(payment_ids)s) ORDER BY id;

-- name: id_of_reference
SELECT id FROM payments.payment WHERE reference = %(reference)s;

-- name: currencies
SELECT id, currency FROM payments.payment WHERE id = ANY (%(payment_ids)s);
