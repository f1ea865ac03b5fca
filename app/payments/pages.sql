-- name: payment
-- One payment, for its page.
SELECT p.id, p.reference, e.slug, p.provider_ref, p.status, p.amount, p.currency, p.registered_amount, p.refunded_amount,
       p.charged_back_amount, p.wallet, p.grant_subject, p.grant_resource, p.metadata, p.source, p.paid_at, p.paid_by_event,
       p.created_at
FROM payments.payment p JOIN intake.endpoint e ON e.id = p.endpoint_id
WHERE p.id = %(payment_id)s;

-- name: commissions
SELECT partner, amount, basis_points FROM payments.commission WHERE payment_id = %(payment_id)s ORDER BY partner;

-- name: refunds
SELECT r.id, r.payment_id, r.amount, p.currency, r.source, r.status, r.reason, r.actor, r.event_id, r.occurred_at, r.created_at,
       p.reference
FROM payments.refund r JOIN payments.payment p ON p.id = r.payment_id
WHERE r.payment_id = %(payment_id)s ORDER BY r.id LIMIT 200;

-- name: refund
SELECT r.id, r.payment_id, r.amount, p.currency, r.source, r.status, r.reason, r.actor, r.event_id, r.occurred_at, r.created_at,
       p.reference
FROM payments.refund r JOIN payments.payment p ON p.id = r.payment_id
WHERE r.id = %(refund_id)s;

-- name: claims
-- What the provider calls a refund.
SELECT provider_refund_id, amount, event_id FROM payments.refund_claim
WHERE payment_id = %(payment_id)s AND refund_id = %(refund_id)s ORDER BY provider_refund_id LIMIT 100;

-- name: chargebacks
SELECT cycle, amount, dispute_id, opened_event, opened_at, reversed_event, reversed_at
FROM payments.chargeback WHERE payment_id = %(payment_id)s ORDER BY cycle;

-- name: references
-- The merchant's reference of some payments.
SELECT id, reference FROM payments.payment WHERE id = ANY (%(payment_ids)s);

-- name: refund_by_key
-- The refund that a form's key made.
SELECT id, payment_id, amount FROM payments.refund WHERE refund_key = %(key)s;

-- name: by_name
-- Payments that anybody calls so: the merchant, the provider.
SELECT id FROM payments.payment WHERE reference = %(text)s
UNION
SELECT payment_id FROM payments.name WHERE value = %(text)s AND payment_id IS NOT NULL
LIMIT 20;

-- name: awaiting
-- Events that wait for a payment of that name.
SELECT DISTINCT event_id FROM payments.awaiting WHERE value = %(text)s ORDER BY event_id DESC LIMIT 20;

-- name: by_provider_refund
SELECT refund_id FROM payments.refund_claim WHERE provider_refund_id = %(text)s LIMIT 20;
