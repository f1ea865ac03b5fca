-- name: last_reports
-- The last report of each kind.
SELECT r.id, r.kind, r.holds, r.result, r.at
FROM unnest(ARRAY['doctor', 'verify']) AS wanted (kind)
CROSS JOIN LATERAL (SELECT * FROM safeguards.report r WHERE r.kind = wanted.kind ORDER BY r.id DESC LIMIT 1) r;
