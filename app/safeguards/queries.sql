-- name: save_report
-- Keeps a proof for the console's Safeguards page (read by pages.sql).
INSERT INTO safeguards.report (kind, holds, result) VALUES (%(kind)s, %(holds)s, %(result)s);

-- name: one_doctor_at_a_time
-- Two doctors would meet on the rows that their probes make; the second waits its turn.
SELECT pg_advisory_xact_lock(%(key)s);

-- name: be_quick
-- A probe that has to wait gives up, so that it never makes the business wait.
SET LOCAL lock_timeout = '2s';
SET LOCAL statement_timeout = '10s';
SET LOCAL synchronous_commit = off;

-- name: be_quicker
-- TRUNCATE wants the table for itself: not for longer than nobody notices.
SET LOCAL lock_timeout = '250ms';
SET LOCAL statement_timeout = '500ms';

-- name: truncate_is_guarded
-- What the catalogue says of a trigger when its table is too busy for the attempt: it stands before TRUNCATE (16 and 2 and 32).
SELECT tgenabled = 'A' AND tgtype & 34 = 34
FROM pg_trigger WHERE tgname = %(trigger)s AND tgrelid = to_regclass(%(table)s);

-- name: sleeping_triggers
-- Our triggers that are off, or off for replicated and restored sessions.
SELECT t.tgname, t.tgrelid::regclass::text, t.tgenabled::text
FROM pg_trigger t
JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = ANY (%(schemas)s::regnamespace[]) AND NOT t.tgisinternal AND t.tgenabled <> 'A'
ORDER BY 1;

-- name: safeguards
-- Every constraint, unique index and trigger in our schemas: kind, name, table, whether the rows that were there are held to it.
-- NOT NULL is a constraint of its own only since PostgreSQL 18: required.py tries it column by column.
SELECT CASE c.contype WHEN 'c' THEN 'check' WHEN 'u' THEN 'unique' WHEN 'p' THEN 'primary key' WHEN 'f' THEN 'foreign key'
                      ELSE c.contype::text END,
       c.conname::text, c.conrelid::regclass::text, c.convalidated
FROM pg_constraint c
WHERE c.connamespace = ANY (%(schemas)s::regnamespace[]) AND c.contype NOT IN ('n', 't')
UNION ALL
SELECT 'unique index', x.relname::text, i.indrelid::regclass::text, i.indisvalid
FROM pg_index i
JOIN pg_class x ON x.oid = i.indexrelid
WHERE x.relnamespace = ANY (%(schemas)s::regnamespace[]) AND i.indisunique
  AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x'))
UNION ALL
SELECT 'trigger', t.tgname::text, t.tgrelid::regclass::text, true
FROM pg_trigger t
JOIN pg_class r ON r.oid = t.tgrelid
WHERE r.relnamespace = ANY (%(schemas)s::regnamespace[]) AND NOT t.tgisinternal
ORDER BY 1, 2;

-- name: columns
-- Every column of our tables.
SELECT a.attrelid::regclass::text, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = ANY (%(schemas)s::regnamespace[]) AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
GROUP BY a.attrelid
ORDER BY 1;

-- name: who
-- The login of a connection, whether it owns the tables, and the powers that would let it pass by every rule.
SELECT session_user::text,
       pg_has_role(session_user, (SELECT relowner FROM pg_class WHERE oid = 'ledger.entry'::regclass), 'USAGE');

-- name: powers
-- What a role may do beyond its privileges on tables.
SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls, rolreplication,
       has_database_privilege(oid, current_database(), 'CREATE'),
       (SELECT array_agg(nspname::text ORDER BY nspname) FROM pg_namespace
        WHERE nspname = ANY (%(schemas)s::text[] || 'public'::text) AND has_schema_privilege(r.oid, pg_namespace.oid, 'CREATE')),
       (SELECT array_agg(pg_get_userbyid(m.roleid)::text) FROM pg_auth_members m
        WHERE m.member = r.oid AND pg_get_userbyid(m.roleid) <> %(app_role)s)
FROM pg_roles r WHERE rolname = %(role)s;

-- name: owned_by
-- What a role owns in this database (deptype 'o'), of any kind.
SELECT pg_describe_object(classid, objid, objsubid)
FROM pg_shdepend
WHERE refclassid = 'pg_authid'::regclass AND deptype = 'o' AND refobjid = (SELECT oid FROM pg_roles WHERE rolname = %(role)s)
  AND dbid IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
ORDER BY 1;

-- name: spare_privileges
-- Privileges of the application, or of everybody, that it has no use for: on tables TRUNCATE, REFERENCES, TRIGGER, MAINTAIN;
-- on sequences anything but USAGE (whoever sets one back makes ids collide).
SELECT g.privilege_type || ' on ' || c.oid::regclass
FROM pg_class c
CROSS JOIN LATERAL aclexplode(c.relacl) g
WHERE c.relnamespace = ANY (%(schemas)s::regnamespace[])
  AND (g.grantee = 0 OR g.grantee = (SELECT oid FROM pg_roles WHERE rolname = %(role)s))
  AND (g.grantee = 0
       OR CASE c.relkind WHEN 'S' THEN g.privilege_type <> 'USAGE'
                         ELSE g.privilege_type NOT IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE') END)
ORDER BY 1;

-- name: settings
-- What durability and text depend on.
SELECT current_setting('server_version_num')::integer, current_setting('server_version'), current_setting('fsync'),
       current_setting('full_page_writes'), current_setting('synchronous_commit'), pg_encoding_to_char(encoding)
FROM pg_database WHERE datname = current_database();

-- name: clock
SELECT clock_timestamp();

-- name: offset_of_zone
-- How far a zone is from UTC at an instant, in minutes, as PostgreSQL sees it; an unknown zone is an error.
SELECT extract(epoch FROM (%(at)s::timestamptz AT TIME ZONE %(zone)s) - (%(at)s::timestamptz AT TIME ZONE 'UTC'))::integer / 60;

-- name: sealed
-- Everything that the master key must open.
SELECT 'secret ' || s.label || ' of ' || e.slug, s.sealed
FROM intake.secret s JOIN intake.endpoint e ON e.id = s.endpoint_id WHERE s.id > 0
UNION ALL
SELECT 'URL token of ' || slug, url_token FROM intake.endpoint WHERE url_token IS NOT NULL
ORDER BY 1;

-- name: listen
LISTEN razao_doctor;

-- name: notify
SELECT pg_notify('razao_doctor', %(word)s);

-- name: balance_of_scene
SELECT (SELECT owed FROM ledger.balance WHERE account_id = -2),
       (SELECT sum(debit)::bigint FROM ledger.movement WHERE account_id = -1);

-- name: messages_about
SELECT count(*) FROM outbox.message WHERE payment_id = %(payment_id)s;

-- name: read_it_all
-- Plans for whole results, since as a rule there is no first row to be quick about; a long look is no mistake.
SET LOCAL cursor_tuple_fraction = 1;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
