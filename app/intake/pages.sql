-- name: event
-- One event with where it stands, for its page.
SELECT e.id, e.event_key, e.type, e.fact, e.refs, e.merchant_reference, e.amount, e.currency, e.fee, e.occurred_at,
       e.provider_refund_id, e.cumulative, e.dispute_id, e.account, e.test, e.received_at, p.slug, p.provider,
       coalesce(s.status, 'received'), coalesce(s.reason, 'received'), s.payment_id, s.caused_by, s.entry_id,
       coalesce(s.detail, '{}'), coalesce(s.redeliveries, 0), s.processed_at
FROM intake.event e
JOIN intake.endpoint p ON p.id = e.endpoint_id
LEFT JOIN intake.standing s ON s.event_id = e.id
WHERE e.id = %(event_id)s;

-- name: deliveries
-- Every time the event arrived, first to last; bounded, since a provider may repeat for days.
SELECT id, received_at, remote_address, secret_label, encode(body_sha256, 'hex'), body IS NOT NULL, contradicts
FROM intake.delivery WHERE event_id = %(event_id)s ORDER BY id LIMIT %(limit)s;

-- name: kept
-- The bytes and headers that a delivery kept: the first does, a later one where it differed.
SELECT id, body, headers FROM intake.delivery
WHERE event_id = %(event_id)s AND body IS NOT NULL AND (%(delivery_id)s::bigint IS NULL OR id = %(delivery_id)s)
ORDER BY id LIMIT 1;

-- name: decisions
-- Every decision made of the event, the newest first; bounded.
SELECT id, status, reason, payment_id, caused_by, entry_id, detail, actor, decided_at
FROM intake.decision WHERE event_id = %(event_id)s ORDER BY id DESC LIMIT %(limit)s;

-- name: types
-- The types of some events, for sentences that name them.
SELECT id, type, received_at FROM intake.event WHERE id = ANY (%(event_ids)s);

-- name: of_payment
-- The events that stand to a payment, with their deliveries counted.
SELECT e.id, e.event_key, e.type, e.fact, e.amount, e.currency, e.received_at, s.status, s.reason, s.caused_by, s.entry_id,
       s.detail, (SELECT count(*) FROM intake.delivery d WHERE d.event_id = e.id)
FROM intake.standing s JOIN intake.event e ON e.id = s.event_id
WHERE s.payment_id = %(payment_id)s ORDER BY s.event_id LIMIT %(limit)s;

-- name: needs
-- How many events need a person, by what they need, counted up to a thousand each, and since when.
SELECT wanted.status, counted.number, oldest.received_at
FROM unnest(%(statuses)s::text[]) AS wanted (status)
CROSS JOIN LATERAL (SELECT count(*) AS number FROM (
    SELECT FROM intake.standing s WHERE s.status = wanted.status LIMIT 1000) found) counted
CROSS JOIN LATERAL (SELECT e.received_at FROM intake.standing s JOIN intake.event e ON e.id = s.event_id
                    WHERE s.status = wanted.status ORDER BY s.event_id LIMIT 1) oldest;

-- name: contradicting
-- The newest deliveries that contradict what their event had said.
SELECT event_id, max(received_at) FROM (
    SELECT event_id, received_at FROM intake.delivery WHERE contradicts ORDER BY id DESC LIMIT 1000) d
GROUP BY event_id ORDER BY event_id DESC;

-- name: queue
-- How much waits for the worker (counted up to a thousand), and since when.
SELECT count(*), min(due_at) FROM (SELECT due_at FROM intake.queue WHERE due_at <= now() ORDER BY due_at LIMIT 1000) q;

-- name: ignored_since
-- Since a moment: effects that existed already, by currency, with the amount of those that said 'paid' (not credited twice).
SELECT e.currency, count(*), coalesce(sum(e.amount) FILTER (WHERE e.fact = 'paid'), 0)::bigint
FROM (SELECT DISTINCT event_id FROM intake.decision
      WHERE decided_at >= %(since)s AND status = 'duplicate' AND reason <> 'repeats_itself') d
JOIN intake.event e ON e.id = d.event_id
GROUP BY e.currency ORDER BY e.currency NULLS LAST;

-- name: received_since
-- Since a moment: deliveries, and the events that were new among them.
SELECT (SELECT count(*) FROM intake.delivery WHERE received_at >= %(since)s),
       (SELECT count(*) FROM intake.event WHERE received_at >= %(since)s);

-- name: endpoints
-- Each endpoint with its secrets' labels, its last event and its last rejections.
SELECT p.id, p.slug, p.provider, p.url_token IS NOT NULL, p.unmatched, p.options, p.created_at, p.disabled_at,
       labels.active, labels.retired, last.id, last.type, last.received_at, refused.number, refused.at
FROM intake.endpoint p
CROSS JOIN LATERAL (SELECT coalesce(array_agg(label ORDER BY id) FILTER (WHERE retired_at IS NULL), '{}') AS active,
                           count(*) FILTER (WHERE retired_at IS NOT NULL) AS retired
                    FROM intake.secret s WHERE s.endpoint_id = p.id) labels
LEFT JOIN LATERAL (SELECT e.id, e.type, e.received_at FROM intake.event e WHERE e.endpoint_id = p.id
                   ORDER BY e.id DESC LIMIT 1) last ON true
CROSS JOIN LATERAL (SELECT count(*) AS number, max(rejected_at) AS at FROM intake.rejection r
                    WHERE r.endpoint_id = p.id AND r.rejected_at > now() - interval '1 day') refused
ORDER BY p.slug LIMIT 500;

-- name: rejections
-- The newest calls that proved nothing.
SELECT p.slug, r.reason, r.remote_address, r.rejected_at
FROM intake.rejection r JOIN intake.endpoint p ON p.id = r.endpoint_id ORDER BY r.id DESC LIMIT %(limit)s;

-- name: event_types
-- Every type seen, one jump through the index for each.
WITH RECURSIVE seen (type) AS (
    (SELECT type FROM intake.event ORDER BY type LIMIT 1)
    UNION ALL
    SELECT (SELECT e.type FROM intake.event e WHERE e.type > seen.type ORDER BY e.type LIMIT 1) FROM seen WHERE seen.type IS NOT NULL
)
SELECT type FROM seen WHERE type <> '' LIMIT 200;

-- name: slugs
SELECT slug FROM intake.endpoint ORDER BY slug LIMIT 500;

-- name: by_key
-- Events that a provider calls so; the key alone finds them at every endpoint.
SELECT e.id, e.type, p.slug FROM intake.event e JOIN intake.endpoint p ON p.id = e.endpoint_id
WHERE e.event_key = %(key)s ORDER BY e.id DESC LIMIT 20;

-- name: exists
SELECT 1 FROM intake.event WHERE id = %(event_id)s;

-- name: deliveries_of_payment
-- Every time that anything about a payment arrived.
SELECT d.id, d.event_id, d.received_at, d.secret_label, d.contradicts
FROM intake.standing s JOIN intake.delivery d ON d.event_id = s.event_id
WHERE s.payment_id = %(payment_id)s ORDER BY d.id LIMIT 500;

-- name: decisions_of_payment
-- Every decision of the events that stand to a payment.
SELECT d.event_id, d.id, d.status, d.reason, d.payment_id, d.caused_by, d.entry_id, d.detail, d.actor, d.decided_at
FROM intake.standing s JOIN intake.decision d ON d.event_id = s.event_id
WHERE s.payment_id = %(payment_id)s ORDER BY d.id LIMIT 500;
