-- name: record_act
-- Rule 11: acts are only ever added.
INSERT INTO access.audit (actor, act, object, reason, detail, remote_address)
VALUES (%(actor)s, %(act)s, %(object)s, %(reason)s, %(detail)s, %(remote_address)s);

-- name: add_operator
INSERT INTO access.operator (login, password_hash, role) VALUES (%(login)s, %(password_hash)s, %(role)s) RETURNING id;

-- name: any_operator
SELECT 1 FROM access.operator LIMIT 1;

-- name: operator_by_id
SELECT id, login, role, session_epoch FROM access.operator WHERE id = %(id)s AND disabled_at IS NULL;

-- name: operator_by_login
SELECT id, login, role, session_epoch, password_hash FROM access.operator WHERE login = %(login)s AND disabled_at IS NULL;

-- name: count_failures
-- Failed sign-ins of late: of this login, and from this address.
SELECT (SELECT count(*) FROM access.failed_login
        WHERE login = %(login)s AND at > now() - %(minutes)s * interval '1 minute'),
       (SELECT count(*) FROM access.failed_login
        WHERE remote_address = %(remote_address)s AND at > now() - %(minutes)s * interval '1 minute');

-- name: note_failure
-- Counts a failure, and forgets those that count no more.
WITH old AS (DELETE FROM access.failed_login WHERE at < now() - interval '1 day')
INSERT INTO access.failed_login (login, remote_address) VALUES (%(login)s, %(remote_address)s);

-- name: forget_failures
DELETE FROM access.failed_login WHERE login = %(login)s;

-- name: add_api_key
INSERT INTO access.api_key (name, scope, key_sha256) VALUES (%(name)s, %(scope)s, %(key_sha256)s);

-- name: api_key_by_hash
SELECT id, name, scope FROM access.api_key WHERE key_sha256 = %(key_sha256)s AND revoked_at IS NULL;

-- name: revoke_api_key
UPDATE access.api_key SET revoked_at = now() WHERE name = %(name)s AND revoked_at IS NULL RETURNING id;

-- name: forget_expired_key
-- A key of more than a day ago is as good as new.
DELETE FROM access.idempotency
WHERE caller = %(caller)s AND key = %(key)s AND created_at < now() - %(hours)s * interval '1 hour';

-- name: take_key
-- The key's row comes first: a concurrent request with the same key waits here until this transaction ends.
INSERT INTO access.idempotency (caller, key, request, body_sha256)
VALUES (%(caller)s, %(key)s, %(request)s, %(body_sha256)s)
ON CONFLICT ON CONSTRAINT idempotency_once DO NOTHING
RETURNING key;

-- name: kept_answer
SELECT request, body_sha256, status, answer FROM access.idempotency WHERE caller = %(caller)s AND key = %(key)s;

-- name: keep_answer
-- Keeps the first answer. Old keys go a few at a time; those that somebody holds are left.
WITH old AS (
    DELETE FROM access.idempotency WHERE (caller, key) IN (
        SELECT caller, key FROM access.idempotency WHERE created_at < now() - %(hours)s * interval '1 hour'
        ORDER BY created_at LIMIT 20 FOR UPDATE SKIP LOCKED)
)
UPDATE access.idempotency SET status = %(status)s, answer = %(answer)s WHERE caller = %(caller)s AND key = %(key)s;
