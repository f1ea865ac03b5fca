-- name: find_names
-- Which payments those names belong to. A name without a payment has been met, but nobody has registered it yet.
SELECT n.value, n.endpoint_id, n.kind, n.payment_id
FROM unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[]) AS wanted (value, endpoint_id, kind)
JOIN payments.name n USING (value, endpoint_id, kind);

-- name: keep_names
-- A row that does not exist cannot be locked: unknown names are kept empty, in one order for everyone. Here an event and the
-- registration of its payment meet: whoever comes second waits, and then sees what the first did.
INSERT INTO payments.name (value, endpoint_id, kind)
SELECT value, endpoint_id, kind
FROM unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[]) AS met (value, endpoint_id, kind)
ORDER BY value, endpoint_id, kind
ON CONFLICT ON CONSTRAINT name_once DO NOTHING;

-- name: lock_names
SELECT n.value, n.endpoint_id, n.kind, n.payment_id
FROM payments.name n
WHERE (n.value, n.endpoint_id, n.kind) IN (
    SELECT * FROM unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[]))
ORDER BY n.value, n.endpoint_id, n.kind
FOR UPDATE;

-- name: give_names
-- An event that carries two names of one payment teaches the second. A name that has a payment keeps it.
UPDATE payments.name n SET payment_id = given.payment_id
FROM unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[], %(payment_id)b::bigint[])
    AS given (value, endpoint_id, kind, payment_id)
WHERE (n.value, n.endpoint_id, n.kind) = (given.value, given.endpoint_id, given.kind) AND n.payment_id IS NULL;

-- name: await_names
-- These events wait until one of these names has a payment.
INSERT INTO payments.awaiting (value, endpoint_id, kind, event_id)
SELECT * FROM unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[], %(event_id)b::bigint[])
ON CONFLICT DO NOTHING;

-- name: end_awaiting
-- The names have payments now: the events that waited for them have their turn.
DELETE FROM payments.awaiting a
USING unnest(%(value)b::text[], %(endpoint_id)b::bigint[], %(kind)b::text[]) AS named (value, endpoint_id, kind)
WHERE (a.value, a.endpoint_id, a.kind) = (named.value, named.endpoint_id, named.kind)
RETURNING a.event_id;

-- name: register
-- Payments that nobody has registered under this reference; a taken reference gives no row.
INSERT INTO payments.payment (reference, endpoint_id, provider_ref, amount, currency, registered_amount, wallet, grant_subject,
                              grant_resource, metadata, source)
SELECT reference, endpoint_id, provider_ref, amount, currency, amount, wallet, grant_subject, grant_resource, metadata, source
FROM unnest(%(reference)b::text[], %(endpoint_id)b::bigint[], %(provider_ref)b::text[], %(amount)b::bigint[], %(currency)b::text[],
            %(wallet)b::text[], %(grant_subject)b::text[], %(grant_resource)b::text[], %(metadata)b::jsonb[], %(source)b::text[])
    AS p (reference, endpoint_id, provider_ref, amount, currency, wallet, grant_subject, grant_resource, metadata, source)
ORDER BY reference
ON CONFLICT ON CONSTRAINT payment_reference_once DO NOTHING
RETURNING id, reference;

-- name: add_commissions
INSERT INTO payments.commission (payment_id, partner, amount, basis_points)
SELECT * FROM unnest(%(payment_id)b::bigint[], %(partner)b::text[], %(amount)b::bigint[], %(basis_points)b::integer[]);

-- name: lock_payments
-- Rule 2. The payments of a batch, held in one order over the whole batch; whoever comes second sees what the first committed.
SELECT p.id, p.reference, p.endpoint_id, e.slug, p.provider_ref, p.status, p.amount, p.currency, p.refunded_amount,
       p.charged_back_amount, p.wallet, p.grant_subject, p.grant_resource, p.paid_at, p.paid_by_event
FROM payments.payment p JOIN intake.endpoint e ON e.id = p.endpoint_id
WHERE p.id = ANY (%(ids)s)
ORDER BY p.id
FOR NO KEY UPDATE OF p;

-- name: commissions_of
SELECT payment_id, partner, amount, basis_points FROM payments.commission WHERE payment_id = ANY (%(ids)s) ORDER BY partner;

-- name: refunds_of
SELECT payment_id, id, amount, source, status, event_id FROM payments.refund WHERE payment_id = ANY (%(ids)s) ORDER BY id;

-- name: claims_of
SELECT payment_id, provider_refund_id, event_id, refund_id, amount FROM payments.refund_claim WHERE payment_id = ANY (%(ids)s);

-- name: chargebacks_of
SELECT payment_id, id, cycle, amount, wallet_part, dispute_id, opened_event, opened_at, reversed_event, reversed_at
FROM payments.chargeback WHERE payment_id = ANY (%(ids)s) ORDER BY cycle;

-- name: entries_of
-- What is posted for these payments, so that a decision can name it and nothing is posted beside it.
SELECT payment_id, id, kind, party, abs(amount), event_id FROM ledger.entry WHERE payment_id = ANY (%(ids)s);

-- name: grants_of
SELECT payment_id FROM payments.access_grant WHERE payment_id = ANY (%(ids)s);

-- name: provider_names_of
SELECT payment_id, value FROM payments.name WHERE payment_id = ANY (%(ids)s) AND kind = 'provider';

-- name: take_refund_ids
SELECT nextval(pg_get_serial_sequence('payments.refund', 'id')) FROM generate_series(1, %(count)s);

-- name: change_payments
UPDATE payments.payment p
SET status = c.status, amount = c.amount, refunded_amount = c.refunded_amount, charged_back_amount = c.charged_back_amount,
    paid_at = c.paid_at, paid_by_event = c.paid_by_event, provider_ref = coalesce(p.provider_ref, c.provider_ref)
FROM unnest(%(id)b::bigint[], %(status)b::text[], %(amount)b::bigint[], %(refunded_amount)b::bigint[],
            %(charged_back_amount)b::bigint[], %(paid_at)b::timestamptz[], %(paid_by_event)b::bigint[], %(provider_ref)b::text[])
    AS c (id, status, amount, refunded_amount, charged_back_amount, paid_at, paid_by_event, provider_ref)
WHERE p.id = c.id;

-- name: record_refunds
INSERT INTO payments.refund (id, payment_id, amount, source, status, reason, refund_key, actor, event_id, occurred_at)
OVERRIDING SYSTEM VALUE
SELECT * FROM unnest(%(id)b::bigint[], %(payment_id)b::bigint[], %(amount)b::bigint[], %(source)b::text[], %(status)b::text[],
                     %(reason)b::text[], %(refund_key)b::text[], %(actor)b::text[], %(event_id)b::bigint[],
                     %(occurred_at)b::timestamptz[]);

-- name: confirm_refunds
UPDATE payments.refund r SET status = 'confirmed', event_id = c.event_id
FROM unnest(%(id)b::bigint[], %(event_id)b::bigint[]) AS c (id, event_id)
WHERE r.id = c.id AND r.status = 'recorded';

-- name: claim_refunds
-- Rule 4: a refund that the provider names is counted once.
INSERT INTO payments.refund_claim (provider_refund_id, endpoint_id, payment_id, refund_id, amount, event_id)
SELECT * FROM unnest(%(provider_refund_id)b::text[], %(endpoint_id)b::bigint[], %(payment_id)b::bigint[], %(refund_id)b::bigint[],
                     %(amount)b::bigint[], %(event_id)b::bigint[]);

-- name: open_chargebacks
INSERT INTO payments.chargeback (payment_id, cycle, amount, wallet_part, dispute_id, opened_event, opened_at)
SELECT * FROM unnest(%(payment_id)b::bigint[], %(cycle)b::integer[], %(amount)b::bigint[], %(wallet_part)b::bigint[],
                     %(dispute_id)b::text[], %(opened_event)b::bigint[], %(opened_at)b::timestamptz[]);

-- name: reverse_chargebacks
UPDATE payments.chargeback c SET reversed_event = r.event_id, reversed_at = r.reversed_at
FROM unnest(%(payment_id)b::bigint[], %(cycle)b::integer[], %(event_id)b::bigint[], %(reversed_at)b::timestamptz[])
    AS r (payment_id, cycle, event_id, reversed_at)
WHERE (c.payment_id, c.cycle) = (r.payment_id, r.cycle);

-- name: give_access
INSERT INTO payments.access_grant (payment_id, subject, resource)
SELECT * FROM unnest(%(payment_id)b::bigint[], %(subject)b::text[], %(resource)b::text[])
ON CONFLICT ON CONSTRAINT grant_once DO NOTHING;

-- name: endpoint_and_ref
SELECT endpoint_id, provider_ref FROM payments.payment WHERE id = %(id)s;

-- name: set_provider_ref
-- Once: only an empty one is set, and the same value again is no change.
UPDATE payments.payment SET provider_ref = %(provider_ref)s
WHERE id = %(id)s AND (provider_ref IS NULL OR provider_ref = %(provider_ref)s)
RETURNING id;
