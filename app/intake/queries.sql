-- name: receive
-- Rule 1. Stores each event that its endpoint has not seen, its first delivery with the exact bytes, and queues it: one statement,
-- one commit. An event that exists, or that another connection is storing right now, gives no row: see `deliver_again`.
WITH incoming AS (
    SELECT * FROM ROWS FROM (
        json_to_recordset(%(events)s) AS (
            endpoint_id bigint, event_key text, type text, fact text, refs text[], merchant_reference text, amount bigint,
            currency text, fee bigint, occurred_at timestamptz, provider_refund_id text, cumulative boolean, dispute_id text,
            reverses_chargeback boolean, account text, test boolean, unreadable text, review text, received_at timestamptz,
            remote_address text, secret_label text, headers jsonb),
        unnest(%(bodies)b::bytea[]))
    AS i (endpoint_id, event_key, type, fact, refs, merchant_reference, amount, currency, fee, occurred_at, provider_refund_id,
          cumulative, dispute_id, reverses_chargeback, account, test, unreadable, review, received_at, remote_address,
          secret_label, headers, body)
), stored AS (
    INSERT INTO intake.event (endpoint_id, event_key, type, fact, refs, merchant_reference, amount, currency, fee, occurred_at,
                              provider_refund_id, cumulative, dispute_id, reverses_chargeback, account, test, unreadable,
                              review, received_at)
    SELECT endpoint_id, event_key, type, fact, refs, merchant_reference, amount, currency, fee, occurred_at, provider_refund_id,
           cumulative, dispute_id, reverses_chargeback, account, test, unreadable, review, received_at
    FROM incoming ORDER BY event_key, endpoint_id
    ON CONFLICT ON CONSTRAINT event_once DO NOTHING
    RETURNING id, event_key, endpoint_id
), delivered AS (
    INSERT INTO intake.delivery (event_id, received_at, remote_address, secret_label, body_sha256, body, headers)
    SELECT s.id, i.received_at, i.remote_address, i.secret_label, sha256(i.body), i.body, i.headers
    FROM stored s JOIN incoming i USING (event_key, endpoint_id)
), queued AS (
    INSERT INTO intake.queue (event_id) SELECT id FROM stored
)
SELECT id, event_key, endpoint_id FROM stored;

-- name: deliver_again
-- A further delivery of events that exist. Its bytes are kept only where they differ from the first; it contradicts when the
-- same event now means something else (amount, kind or payment): kept for a person, never applied, never overwriting.
WITH incoming AS (
    SELECT * FROM ROWS FROM (
        json_to_recordset(%(events)s) AS (
            endpoint_id bigint, event_key text, fact text, refs text[], amount bigint, currency text, received_at timestamptz,
            remote_address text, secret_label text, headers jsonb),
        unnest(%(bodies)b::bytea[]))
    AS i (endpoint_id, event_key, fact, refs, amount, currency, received_at, remote_address, secret_label, headers, body)
), known AS (
    SELECT e.id, i.*, f.body_sha256 = sha256(i.body) AS same_bytes,
           (e.fact, e.amount, e.currency, e.refs) IS DISTINCT FROM (i.fact, i.amount, i.currency, i.refs) AS contradicts
    FROM incoming i
    JOIN intake.event e USING (event_key, endpoint_id)
    CROSS JOIN LATERAL (SELECT d.body_sha256 FROM intake.delivery d WHERE d.event_id = e.id ORDER BY d.id LIMIT 1) f
), delivered AS (
    INSERT INTO intake.delivery (event_id, received_at, remote_address, secret_label, body_sha256, body, headers, contradicts)
    SELECT id, received_at, remote_address, secret_label, sha256(body),
           CASE WHEN NOT same_bytes THEN body END, CASE WHEN NOT same_bytes THEN headers END, contradicts
    FROM known
)
SELECT id, event_key, endpoint_id FROM known;

-- name: reject
-- Notes a call that proved nothing. Bounded: what an endpoint's log holds beyond its newest thousand goes.
WITH old AS (
    DELETE FROM intake.rejection WHERE id IN (
        SELECT id FROM intake.rejection WHERE endpoint_id = %(endpoint_id)s ORDER BY id DESC OFFSET 999 LIMIT 100)
)
INSERT INTO intake.rejection (endpoint_id, reason, remote_address) VALUES (%(endpoint_id)s, %(reason)s, %(remote_address)s);

-- name: claim
-- Takes the events that are due, oldest first, and holds them until the transaction ends. What another worker holds is
-- skipped; if a worker dies, its hold ends with its connection.
WITH due AS (
    SELECT event_id, attempts FROM intake.queue WHERE due_at <= now() ORDER BY due_at, event_id LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
SELECT e.id, e.endpoint_id, p.slug, p.unmatched, e.event_key, e.type, e.fact, e.refs, e.merchant_reference, e.amount, e.currency,
       e.fee, coalesce(e.occurred_at, e.received_at), e.provider_refund_id, e.cumulative, e.dispute_id, e.reverses_chargeback,
       e.test, e.unreadable, e.review, e.received_at
FROM due
JOIN intake.event e ON e.id = due.event_id
JOIN intake.endpoint p ON p.id = e.endpoint_id
ORDER BY e.id;

-- name: claim_one
-- Holds one queued event, if nobody else does.
SELECT event_id FROM intake.queue WHERE event_id = %(event_id)s FOR UPDATE SKIP LOCKED;

-- name: get_events
-- Stored events as the confirmation wants them, queued or not.
SELECT e.id, e.endpoint_id, p.slug, p.unmatched, e.event_key, e.type, e.fact, e.refs, e.merchant_reference, e.amount, e.currency,
       e.fee, coalesce(e.occurred_at, e.received_at), e.provider_refund_id, e.cumulative, e.dispute_id, e.reverses_chargeback,
       e.test, e.unreadable, e.review, e.received_at
FROM intake.event e
JOIN intake.endpoint p ON p.id = e.endpoint_id
WHERE e.id = ANY (%(event_ids)s)
ORDER BY e.id;

-- name: record_decisions
-- Rule 11: each decision is a new row. The event's standing follows it, except that 'applied' stays.
WITH made AS (
    INSERT INTO intake.decision (event_id, status, reason, payment_id, caused_by, entry_id, detail, actor)
    SELECT * FROM json_to_recordset(%(decisions)s)
        AS d (event_id bigint, status text, reason text, payment_id bigint, caused_by bigint, entry_id bigint, detail jsonb, actor text)
    ORDER BY event_id
    RETURNING event_id, status, reason, payment_id, caused_by, entry_id, detail
)
INSERT INTO intake.standing (event_id, status, reason, payment_id, caused_by, entry_id, detail)
SELECT * FROM made
ON CONFLICT (event_id) DO UPDATE
SET status = excluded.status, reason = excluded.reason, payment_id = excluded.payment_id, caused_by = excluded.caused_by,
    entry_id = excluded.entry_id, detail = excluded.detail, processed_at = now()
WHERE standing.status <> 'applied';

-- name: count_redelivery
UPDATE intake.standing SET redeliveries = redeliveries + 1 WHERE event_id = %(event_id)s;

-- name: enqueue
-- Queues events again. A row that is there already is being worked on or soon will be: whoever holds it decides after us.
INSERT INTO intake.queue (event_id) SELECT unnest(%(event_ids)b::bigint[]) ON CONFLICT (event_id) DO NOTHING;

-- name: dequeue
DELETE FROM intake.queue WHERE event_id = ANY (%(event_ids)s);

-- name: enqueue_waiting
-- Events that waited for something to happen to these payments have their turn again; so do, for a payment just disputed,
-- repeats that would have been the end of the chargeback (Asaas), had it arrived before them.
INSERT INTO intake.queue (event_id)
SELECT s.event_id FROM intake.standing s JOIN intake.event e ON e.id = s.event_id
WHERE s.payment_id = ANY (%(payment_ids)s)
  AND (s.status = 'waiting'
       OR (s.status = 'duplicate' AND e.reverses_chargeback AND s.payment_id = ANY (%(disputed_ids)s)))
ORDER BY s.event_id
ON CONFLICT (event_id) DO NOTHING
RETURNING event_id;

-- name: put_off
-- An error of ours: the event is tried again after 2, 4, 8 … seconds at most ten minutes, each with jitter of half to one and
-- a half times, so that a crowd does not come back together. Returns how often it has been tried.
UPDATE intake.queue
SET attempts = attempts + 1,
    due_at = now() + least(power(2, attempts + 1), 600) * (0.5 + random()) * interval '1 second'
WHERE event_id = %(event_id)s
RETURNING attempts;

-- name: backlog
-- How much waits, and since when: for readiness and metrics.
SELECT count(*), coalesce(extract(epoch FROM now() - min(due_at)), 0) FROM (
    SELECT due_at FROM intake.queue WHERE due_at <= now() ORDER BY due_at LIMIT 10000) q;

-- name: endpoint_id
SELECT id FROM intake.endpoint WHERE slug = %(slug)s;

-- name: endpoints
SELECT id, slug, provider, url_token, unmatched, options, disabled_at FROM intake.endpoint ORDER BY slug;

-- name: all_active_secrets
SELECT endpoint_id, label, sealed FROM intake.secret WHERE retired_at IS NULL ORDER BY id;

-- name: announce_endpoints
-- Arrives on commit: every web process reads its endpoints again.
NOTIFY razao_endpoints;

-- name: add_endpoint
INSERT INTO intake.endpoint (slug, provider, url_token, unmatched, options)
VALUES (%(slug)s, %(provider)s, %(url_token)s, %(unmatched)s, %(options)s)
RETURNING id;

-- name: add_secret
INSERT INTO intake.secret (endpoint_id, label, sealed) VALUES (%(endpoint_id)s, %(label)s, %(sealed)s) RETURNING id;

-- name: retire_secrets
-- After a rotation: of each label, all but the newest end.
UPDATE intake.secret s SET retired_at = now()
WHERE s.endpoint_id = %(endpoint_id)s AND s.retired_at IS NULL
  AND EXISTS (SELECT FROM intake.secret newer
              WHERE newer.endpoint_id = s.endpoint_id AND newer.label = s.label AND newer.retired_at IS NULL AND newer.id > s.id)
RETURNING s.label;

-- name: disable_endpoint
UPDATE intake.endpoint SET disabled_at = coalesce(disabled_at, now()) WHERE id = %(endpoint_id)s;

-- name: standing
SELECT status, payment_id FROM intake.standing WHERE event_id = %(event_id)s;

-- name: find_ids
-- Events by where they stand, for a re-delivery of many.
SELECT e.id
FROM intake.event e
LEFT JOIN intake.standing s ON s.event_id = e.id
JOIN intake.endpoint p ON p.id = e.endpoint_id
WHERE (%(status)s::text IS NULL OR s.status = %(status)s)
  AND (%(slug)s::text IS NULL OR p.slug = %(slug)s)
  AND (%(since)s::timestamptz IS NULL OR e.received_at >= %(since)s)
ORDER BY e.id;

-- name: announce_work
-- Arrives on commit: a worker looks at the queue at once.
NOTIFY razao_work;
