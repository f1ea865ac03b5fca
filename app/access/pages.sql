-- name: of_objects
-- What people did to some objects, first to last.
SELECT a.id, a.actor, a.act, a.object, a.reason, a.detail, a.remote_address, a.at
FROM access.audit a WHERE a.object = ANY (%(objects)s) ORDER BY a.id LIMIT 500;

-- name: last_of
-- When an act was last done to some objects.
SELECT object, max(at) FROM access.audit WHERE object = ANY (%(objects)s) AND act = %(act)s GROUP BY object;
