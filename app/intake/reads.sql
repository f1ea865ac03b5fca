-- name: of_payments
-- The events that stand to some payments, first to last, so many of each.
SELECT s.payment_id, e.id, e.event_key, e.type, s.status, s.reason
FROM unnest(%(payment_ids)s::bigint[]) AS wanted (payment_id)
CROSS JOIN LATERAL (SELECT * FROM intake.standing s WHERE s.payment_id = wanted.payment_id
                    ORDER BY s.event_id LIMIT %(most)s) s
JOIN intake.event e ON e.id = s.event_id
ORDER BY s.event_id;

-- name: last_decision
SELECT d.event_id, d.status, d.reason, d.payment_id, d.caused_by, d.entry_id, d.detail, d.actor, d.decided_at, e.currency
FROM intake.decision d JOIN intake.event e ON e.id = d.event_id
WHERE d.event_id = %(event_id)s ORDER BY d.id DESC LIMIT 1;

-- name: endpoint
SELECT id, disabled_at IS NULL FROM intake.endpoint WHERE slug = %(slug)s;

-- name: standing_counts
-- How many events stand where a person or another event must help, counted up to ten thousand each.
SELECT wanted.status, (SELECT count(*) FROM (SELECT FROM intake.standing s WHERE s.status = wanted.status LIMIT 10000) counted)
FROM unnest('{unmatched,waiting,review,unreadable,failed}'::text[]) AS wanted (status);
