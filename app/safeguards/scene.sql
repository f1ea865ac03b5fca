-- name: scene
-- One row in each table, for the probes to stand on. Ids are negative, which no real row has, and no sequence moves; names begin with
-- `razao-doctor`. Nobody else ever sees them: the transaction is always rolled back.
INSERT INTO intake.endpoint (id, slug, provider) OVERRIDING SYSTEM VALUE VALUES (-1, 'razao-doctor-7d2e9c', 'asaas');
INSERT INTO intake.secret (id, endpoint_id, label, sealed) OVERRIDING SYSTEM VALUE VALUES (-1, -1, 'default', '');
INSERT INTO intake.event (id, endpoint_id, event_key, type, fact, refs, amount, currency, fee, cumulative, reverses_chargeback, test)
    OVERRIDING SYSTEM VALUE
    VALUES (-1, -1, 'razao-doctor', 'PAYMENT_RECEIVED', 'paid', '{razao-doctor}', 4990, 'BRL', 99, false, false, false);
INSERT INTO intake.delivery (id, event_id, secret_label, body_sha256, body) OVERRIDING SYSTEM VALUE
    VALUES (-1, -1, 'default', sha256('{}'), '{}');
INSERT INTO intake.queue (event_id) VALUES (-1);
INSERT INTO intake.decision (id, event_id, status, reason, actor) OVERRIDING SYSTEM VALUE
    VALUES (-1, -1, 'applied', 'payment_confirmed', 'razao-doctor');
INSERT INTO intake.standing (event_id, status, reason) VALUES (-1, 'applied', 'payment_confirmed');
INSERT INTO intake.rejection (id, endpoint_id, reason) OVERRIDING SYSTEM VALUE VALUES (-1, -1, 'signature');
INSERT INTO payments.payment (id, reference, endpoint_id, status, amount, currency, registered_amount, source, paid_at)
    OVERRIDING SYSTEM VALUE
    VALUES (-1, 'razao-doctor-7d2e9c', -1, 'paid', 4990, 'BRL', 4990, 'api', now());
INSERT INTO payments.name (value, endpoint_id, kind, payment_id) VALUES ('razao-doctor', -1, 'provider', -1);
INSERT INTO payments.awaiting (value, endpoint_id, kind, event_id) VALUES ('razao-doctor', -1, 'provider', -1);
INSERT INTO payments.commission (payment_id, partner, amount) VALUES (-1, 'razao-doctor', 499);
INSERT INTO payments.access_grant (id, payment_id, subject, resource) OVERRIDING SYSTEM VALUE
    VALUES (-1, -1, 'razao-doctor', 'razao-doctor');
INSERT INTO payments.refund (id, payment_id, amount, source, status, refund_key, actor, event_id, occurred_at)
    OVERRIDING SYSTEM VALUE VALUES (-1, -1, 100, 'event', 'confirmed', 'razao-doctor-7d2e9c', 'razao-doctor', -1, now());
INSERT INTO payments.refund_claim (provider_refund_id, endpoint_id, payment_id, refund_id, amount, event_id)
    VALUES ('razao-doctor', -1, -1, -1, 100, -1);
INSERT INTO payments.chargeback (id, payment_id, cycle, amount, wallet_part, opened_event, opened_at)
    OVERRIDING SYSTEM VALUE VALUES (-1, -1, 1, 100, 0, -1, now());
INSERT INTO ledger.account (id, code, type, currency) OVERRIDING SYSTEM VALUE VALUES
    (-1, 'psp:razao-doctor', 'asset', 'BRL'), (-2, 'wallet:razao-doctor', 'liability', 'BRL'), (-3, 'psp:razao-doctor', 'asset', 'USD');
INSERT INTO ledger.balance (account_id, owed, floor) VALUES (-2, 4990, 0);
INSERT INTO ledger.movement (account_id, period, debit, postings) VALUES (-1, '0001-01-01', 4990, 1);
INSERT INTO ledger.entry (id, kind, amount, currency, period, occurred_at, payment_id, event_id, party)
    VALUES (-1, 'sale', 4990, 'BRL', '0001-01-01', now(), -1, -1, ''),
           (-2, 'commission', 499, 'BRL', '0001-01-01', now(), -1, -1, 'razao-doctor'),
           (-3, 'debit', -100, 'BRL', '0001-01-01', now(), NULL, NULL, 'razao-doctor/7d2e9c');
INSERT INTO ledger.posting (entry_id, line, account_id, amount)
    VALUES (-1, 1, -1, 4990), (-1, 2, -2, -4990), (-2, 1, -1, 499), (-2, 2, -2, -499), (-3, 1, -2, 100), (-3, 2, -1, -100);
INSERT INTO ledger.closed_period (period, closed_by) VALUES ('0001-02-01', 'razao-doctor');
INSERT INTO outbox.message (id, type, payment_id, subject, body) OVERRIDING SYSTEM VALUE
    VALUES (-1, 'payment.paid', -1, 'razao-doctor', '{}');
INSERT INTO access.operator (id, login, password_hash, role) OVERRIDING SYSTEM VALUE
    VALUES (-1, 'razao-doctor-7d2e9c', '!', 'viewer');
INSERT INTO access.api_key (id, name, scope, key_sha256) OVERRIDING SYSTEM VALUE
    VALUES (-1, 'razao-doctor-7d2e9c', 'read', sha256('razao-doctor'));
INSERT INTO access.audit (id, actor, act, object) OVERRIDING SYSTEM VALUE VALUES (-1, 'razao-doctor', 'doctor.probe', 'payment:-1');
INSERT INTO access.idempotency (caller, key, request, body_sha256) VALUES ('razao-doctor', 'razao-doctor', 'POST /', sha256(''));
INSERT INTO access.failed_login (id, login, remote_address) OVERRIDING SYSTEM VALUE VALUES (-1, 'razao-doctor', '192.0.2.1');
INSERT INTO safeguards.report (id, kind, holds, result) OVERRIDING SYSTEM VALUE VALUES (-1, 'doctor', true, '{}');
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
