-- Everything Razão keeps, and every rule that must hold even if the code is wrong.
--
-- One schema for each capability that owns tables. Each rule has a name here, a row in docs/invariants.md, a probe in
-- the doctor and a test that breaks it with raw SQL. Triggers refuse; they never compute.

CREATE SCHEMA safeguards;
CREATE SCHEMA intake;
CREATE SCHEMA payments;
CREATE SCHEMA ledger;
CREATE SCHEMA outbox;
CREATE SCHEMA access;

-- A role for the running application: it owns nothing. Roles belong to the whole server, so another database may have made it.
DO $$
BEGIN
    CREATE ROLE razao_app NOLOGIN;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$$;

-- Rule 5 and 11: the trigger that refuses every change to what only grows, the owner's too. The refusal names its trigger.
CREATE FUNCTION safeguards.only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% on %.% is refused: this table only grows', TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME
        USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME, SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME;
END
$$;

---------------------------------------------------------------------------------------------------------------------
-- intake: verified events, stored once; their deliveries; what was decided of them
---------------------------------------------------------------------------------------------------------------------

CREATE TABLE intake.endpoint (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    slug        text NOT NULL CONSTRAINT endpoint_slug_shape CHECK (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
    provider    text NOT NULL,
    url_token   bytea,                                -- encrypted with the master key
    unmatched   text NOT NULL DEFAULT 'hold' CONSTRAINT endpoint_unmatched_known CHECK (unmatched IN ('hold', 'register')),
    options     jsonb NOT NULL DEFAULT '{}',
    created_at  timestamptz NOT NULL DEFAULT now(),
    disabled_at timestamptz,
    CONSTRAINT endpoint_once UNIQUE (slug)
);

-- Several secrets may be active at once; a retired one stays, for the events that name its label.
CREATE TABLE intake.secret (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id bigint NOT NULL REFERENCES intake.endpoint,
    label       text NOT NULL CONSTRAINT secret_label_shape CHECK (label ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$'),
    sealed      bytea NOT NULL,                       -- encrypted with the master key
    created_at  timestamptz NOT NULL DEFAULT now(),
    retired_at  timestamptz
);
CREATE INDEX secret_by_endpoint ON intake.secret (endpoint_id);

-- Rule 1: an event is stored once. The key comes first, so that a person holding only the key finds it too.
-- No foreign key to endpoint: every reception would lock that one row; endpoints are never deleted (endpoint_is_kept).
CREATE TABLE intake.event (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id         bigint NOT NULL,
    event_key           text NOT NULL,
    type                text NOT NULL,
    fact                text NOT NULL CONSTRAINT event_fact_known CHECK (fact IN
                            ('paid', 'refunded', 'chargeback_opened', 'chargeback_reversed', 'expired', 'informational')),
    refs                text[] NOT NULL,              -- the provider's names for the payment, most specific first
    merchant_reference  text,
    amount              bigint CONSTRAINT event_amount_not_negative CHECK (amount >= 0),
    currency            text,
    fee                 bigint CONSTRAINT event_fee_not_negative CHECK (fee >= 0),
    occurred_at         timestamptz,
    provider_refund_id  text,
    cumulative          boolean NOT NULL,
    dispute_id          text,
    reverses_chargeback boolean NOT NULL,
    account             text,
    test                boolean NOT NULL,
    unreadable          text,
    review              text,
    received_at         timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT event_once UNIQUE (event_key, endpoint_id)
);
CREATE INDEX event_by_endpoint ON intake.event (endpoint_id, id);
CREATE INDEX event_by_type ON intake.event (type, id);
CREATE INDEX event_by_time ON intake.event (received_at, id);

-- One authentic HTTP request for one event. The first keeps the exact bytes and headers; a later one only if they differ.
CREATE TABLE intake.delivery (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id       bigint NOT NULL REFERENCES intake.event,
    received_at    timestamptz NOT NULL DEFAULT now(),
    remote_address text,
    secret_label   text NOT NULL,
    body_sha256    bytea NOT NULL,
    body           bytea,
    headers        jsonb,
    contradicts    boolean NOT NULL DEFAULT false     -- same key, another meaning: kept for a person, never applied
);
CREATE INDEX delivery_by_event ON intake.delivery (event_id, id);
CREATE INDEX delivery_by_time ON intake.delivery USING brin (received_at);  -- rows arrive in this order: pages of a day, hardly a cost
CREATE INDEX delivery_contradicting ON intake.delivery (id) WHERE contradicts;

-- Events that wait for the worker. A row apart from the event, so that queueing never waits for a lock on the event.
CREATE TABLE intake.queue (
    event_id bigint PRIMARY KEY,
    due_at   timestamptz NOT NULL DEFAULT now(),
    attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX queue_by_due ON intake.queue (due_at, event_id);

-- Rule 11: every decision ever made of an event.
CREATE TABLE intake.decision (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   bigint NOT NULL REFERENCES intake.event,
    status     text NOT NULL CONSTRAINT decision_status_known CHECK (status IN
                   ('applied', 'duplicate', 'ignored', 'unmatched', 'waiting', 'review', 'unreadable', 'test', 'failed')),
    reason     text NOT NULL,
    payment_id bigint,
    caused_by  bigint,                                -- the event that came first
    entry_id   bigint,                                -- the entry that it made, or that existed
    detail     jsonb NOT NULL DEFAULT '{}',           -- what the sentence for people needs
    actor      text NOT NULL,                         -- 'worker', 'operator:ana', 'api:shop'
    decided_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX decision_by_event ON intake.decision (event_id, id);
CREATE INDEX decision_by_time ON intake.decision USING brin (decided_at);

-- Where each event stands now: its last decision, except that 'applied' stays (a repeat of itself is no news).
CREATE TABLE intake.standing (
    event_id     bigint PRIMARY KEY REFERENCES intake.event,
    status       text NOT NULL,
    reason       text NOT NULL,
    payment_id   bigint,
    caused_by    bigint,
    entry_id     bigint,
    detail       jsonb NOT NULL DEFAULT '{}',
    redeliveries integer NOT NULL DEFAULT 0,
    processed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX standing_by_status ON intake.standing (status, event_id);
CREATE INDEX standing_by_payment ON intake.standing (payment_id, event_id);

-- Calls that did not prove where they come from: when, where, why. Bounded by the code that writes it; never the body.
CREATE TABLE intake.rejection (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id    bigint NOT NULL,
    reason         text NOT NULL,
    remote_address text,
    rejected_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX rejection_by_endpoint ON intake.rejection (endpoint_id, id);

CREATE TRIGGER event_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.event
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER delivery_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.delivery
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER decision_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON intake.decision
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER endpoint_is_kept BEFORE DELETE OR TRUNCATE ON intake.endpoint
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();

---------------------------------------------------------------------------------------------------------------------
-- payments: what is expected, the names it is known by, what it gives, what went back
---------------------------------------------------------------------------------------------------------------------

CREATE TABLE payments.payment (
    id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reference           text NOT NULL,
    endpoint_id         bigint NOT NULL REFERENCES intake.endpoint,
    provider_ref        text,
    status              text NOT NULL DEFAULT 'pending' CONSTRAINT payment_status_known CHECK (status IN
                            ('pending', 'paid', 'partially_refunded', 'refunded', 'charged_back', 'expired')),
    amount              bigint NOT NULL CONSTRAINT payment_amount_positive CHECK (amount > 0),
    currency            text NOT NULL CONSTRAINT payment_currency_shape CHECK (currency ~ '^[A-Z]{3}$'),
    registered_amount   bigint NOT NULL,              -- differs from amount only when a person accepted what was really paid
    refunded_amount     bigint NOT NULL DEFAULT 0,
    charged_back_amount bigint NOT NULL DEFAULT 0,
    wallet              text,
    grant_subject       text,
    grant_resource      text,
    metadata            jsonb NOT NULL DEFAULT '{}',
    source              text NOT NULL,                -- 'api', 'event', 'operator'
    paid_at             timestamptz,
    paid_by_event       bigint,
    created_at          timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT payment_reference_once UNIQUE (reference),
    CONSTRAINT payment_grant_whole CHECK ((grant_subject IS NULL) = (grant_resource IS NULL)),
    -- Rule 4: money back never exceeds the payment.
    CONSTRAINT refunds_within_payment CHECK (refunded_amount >= 0 AND charged_back_amount >= 0
                                             AND refunded_amount + charged_back_amount <= amount)
);
CREATE INDEX payment_by_status ON payments.payment (status, id);
CREATE INDEX payment_by_wallet ON payments.payment (wallet, id) WHERE wallet IS NOT NULL;

-- Every name by which an endpoint may know a payment: the provider's own, and the merchant's reference.
-- A name met before its payment is kept empty, so that the event and the registration meet on this row.
CREATE TABLE payments.name (
    value       text NOT NULL,
    endpoint_id bigint NOT NULL,
    kind        text NOT NULL CONSTRAINT name_kind_known CHECK (kind IN ('provider', 'merchant')),
    payment_id  bigint REFERENCES payments.payment,
    CONSTRAINT name_once PRIMARY KEY (value, endpoint_id, kind)
);
CREATE INDEX name_by_payment ON payments.name (payment_id) WHERE payment_id IS NOT NULL;

-- Which stored events wait for a name to be given to a payment.
CREATE TABLE payments.awaiting (
    value       text NOT NULL,
    endpoint_id bigint NOT NULL,
    kind        text NOT NULL,
    event_id    bigint NOT NULL REFERENCES intake.event,
    CONSTRAINT awaiting_once PRIMARY KEY (value, endpoint_id, kind, event_id)
);

CREATE TABLE payments.commission (
    payment_id   bigint NOT NULL REFERENCES payments.payment,
    partner      text NOT NULL,
    amount       bigint,
    basis_points integer,
    CONSTRAINT commission_once PRIMARY KEY (payment_id, partner),
    CONSTRAINT commission_fixed_or_share CHECK (
        (amount IS NOT NULL AND amount > 0 AND basis_points IS NULL)
        OR (amount IS NULL AND basis_points IS NOT NULL AND basis_points BETWEEN 1 AND 10000))
);

CREATE TABLE payments.access_grant (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id bigint NOT NULL REFERENCES payments.payment,
    subject    text NOT NULL,
    resource   text NOT NULL,
    granted_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT grant_once UNIQUE (payment_id, subject, resource)
);
CREATE INDEX grant_by_subject ON payments.access_grant (subject, resource, id);
CREATE INDEX grant_by_resource ON payments.access_grant (resource, id);

-- Money that went back, or that a person said goes back. `source`: 'operator', 'api', 'event' (the provider named this
-- refund), 'total' (booked as the difference of a cumulative total; named refunds may later claim it in parts).
CREATE TABLE payments.refund (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id     bigint NOT NULL REFERENCES payments.payment,
    amount         bigint NOT NULL CONSTRAINT refund_amount_positive CHECK (amount > 0),
    source         text NOT NULL CONSTRAINT refund_source_known CHECK (source IN ('operator', 'api', 'event', 'total')),
    status         text NOT NULL CONSTRAINT refund_status_known CHECK (status IN ('recorded', 'confirmed')),
    reason         text,
    refund_key     text NOT NULL,                     -- rule 4: the same request is one refund
    actor          text NOT NULL,
    event_id       bigint REFERENCES intake.event,    -- the event that made it, or that confirmed it
    occurred_at    timestamptz NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT refund_once UNIQUE (refund_key)
);
CREATE INDEX refund_by_payment ON payments.refund (payment_id, id);
CREATE INDEX refund_by_status ON payments.refund (status, id);

-- Rule 4: a refund that the provider names is counted once, whether it made a refund or was found in one.
CREATE TABLE payments.refund_claim (
    provider_refund_id text NOT NULL,
    endpoint_id        bigint NOT NULL,
    payment_id         bigint NOT NULL REFERENCES payments.payment,
    refund_id          bigint NOT NULL REFERENCES payments.refund,
    amount             bigint NOT NULL CONSTRAINT claim_amount_positive CHECK (amount > 0),
    event_id           bigint NOT NULL REFERENCES intake.event,
    CONSTRAINT provider_refund_once PRIMARY KEY (provider_refund_id, endpoint_id)
);
CREATE INDEX refund_claim_by_payment ON payments.refund_claim (payment_id);

CREATE TABLE payments.chargeback (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id     bigint NOT NULL REFERENCES payments.payment,
    cycle          integer NOT NULL,                  -- first, second … time this payment was disputed
    amount         bigint NOT NULL CONSTRAINT chargeback_amount_positive CHECK (amount > 0),
    wallet_part    bigint NOT NULL,                   -- of a top-up: how much the wallet could give back
    dispute_id     text,
    opened_event   bigint REFERENCES intake.event,
    opened_at      timestamptz NOT NULL,
    reversed_event bigint REFERENCES intake.event,
    reversed_at    timestamptz,
    CONSTRAINT chargeback_once UNIQUE (payment_id, cycle)
);
CREATE UNIQUE INDEX chargeback_one_open ON payments.chargeback (payment_id) WHERE reversed_at IS NULL;

CREATE TRIGGER commission_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON payments.commission
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();

---------------------------------------------------------------------------------------------------------------------
-- ledger: double entry that only grows
---------------------------------------------------------------------------------------------------------------------

CREATE TABLE ledger.account (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code       text NOT NULL,
    type       text NOT NULL CONSTRAINT account_type_known CHECK (type IN ('asset', 'liability', 'income', 'expense')),
    currency   text NOT NULL CONSTRAINT account_currency_shape CHECK (currency ~ '^[A-Z]{3}$'),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT account_once UNIQUE (code, currency)
);
-- A wallet holds one currency.
CREATE UNIQUE INDEX wallet_one_currency ON ledger.account (code) WHERE starts_with(code, 'wallet:');

-- Rule 8. Wallets and partners keep a row with what we owe them, since a wallet's must be checked under a lock.
CREATE TABLE ledger.balance (
    account_id bigint PRIMARY KEY REFERENCES ledger.account,
    owed       bigint NOT NULL DEFAULT 0,             -- credit positive
    floor      bigint,                                -- null: no limit
    CONSTRAINT wallet_not_overdrawn CHECK (floor IS NULL OR owed >= floor)
) WITH (fillfactor = 50);

-- All other accounts have no row that every worker fights for: each batch appends what it moved, folded later.
CREATE TABLE ledger.movement (
    account_id bigint NOT NULL,
    period     date NOT NULL,
    debit      bigint NOT NULL,                       -- debit positive
    postings   bigint NOT NULL
);
CREATE INDEX movement_by_account ON ledger.movement (account_id, period);

-- A row here is a closed month.
CREATE TABLE ledger.closed_period (
    period    date PRIMARY KEY CONSTRAINT period_is_a_month CHECK (extract(day FROM period) = 1),
    closed_at timestamptz NOT NULL DEFAULT now(),
    closed_by text NOT NULL
);

CREATE TABLE ledger.entry (
    id          bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind        text NOT NULL CONSTRAINT entry_kind_known CHECK (kind IN
                    ('sale', 'commission', 'fee', 'debit', 'refund', 'commission_reversal', 'chargeback',
                     'chargeback_reversal', 'adjustment')),
    amount      bigint NOT NULL,                      -- signed as people read it
    currency    text NOT NULL,
    period      date NOT NULL CONSTRAINT entry_period_is_a_month CHECK (extract(day FROM period) = 1),
    occurred_at timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT now(),
    payment_id  bigint REFERENCES payments.payment,
    event_id    bigint,
    refund_id   bigint,
    party       text NOT NULL DEFAULT '',             -- whom the effect concerns: a partner, a refund, a dispute's cycle
    memo        text,
    first_line  smallint NOT NULL DEFAULT 1 CONSTRAINT entry_first_line CHECK (first_line = 1),
    -- Rule 3: a commission, a fee, a refund of a payment is posted once; so is a wallet's debit, which has no payment.
    CONSTRAINT entry_once UNIQUE NULLS NOT DISTINCT (payment_id, kind, party)
);
-- Rule 2: at most one sale for a payment.
CREATE UNIQUE INDEX entry_one_sale ON ledger.entry (payment_id) WHERE kind = 'sale';
CREATE INDEX entry_by_period ON ledger.entry (period, id);
CREATE INDEX entry_by_kind ON ledger.entry (kind, id);
CREATE INDEX entry_by_time ON ledger.entry USING brin (recorded_at);

CREATE TABLE ledger.posting (
    entry_id   bigint NOT NULL REFERENCES ledger.entry,
    line       smallint NOT NULL,
    account_id bigint NOT NULL,                       -- posting_matches_entry holds what a foreign key would, without its lock
    amount     bigint NOT NULL CONSTRAINT posting_not_zero CHECK (amount <> 0),  -- debit positive
    CONSTRAINT posting_once PRIMARY KEY (entry_id, line)
);
CREATE INDEX posting_by_account ON ledger.posting (account_id, entry_id);

-- Rule 6, first half: an entry without postings cannot be committed. Deferred: the postings follow their entry.
ALTER TABLE ledger.entry ADD CONSTRAINT entry_has_postings FOREIGN KEY (id, first_line)
    REFERENCES ledger.posting (entry_id, line) DEFERRABLE INITIALLY DEFERRED;

-- Rule 6, second half. The postings of an entry arrive in one statement: they begin at line 1 (so nothing joins an old
-- entry later), sum to zero, and lie in accounts of the entry's currency. No posting is zero, so two is the least.
CREATE FUNCTION ledger.check_postings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bad record;
BEGIN
    SELECT entry_id, sum(amount) AS total, min(line) AS first INTO bad
    FROM arrived GROUP BY entry_id HAVING sum(amount) <> 0 OR min(line) <> 1 LIMIT 1;
    IF bad.entry_id IS NOT NULL AND bad.total <> 0 THEN
        RAISE EXCEPTION 'entry % does not balance: its postings sum to %', bad.entry_id, bad.total
            USING ERRCODE = 'check_violation', CONSTRAINT = 'entry_balances', SCHEMA = 'ledger', TABLE = 'posting';
    ELSIF bad.entry_id IS NOT NULL THEN
        RAISE EXCEPTION 'entry % already has its postings: nothing joins it later', bad.entry_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'entry_is_whole', SCHEMA = 'ledger', TABLE = 'posting';
    END IF;
    SELECT p.entry_id, p.account_id INTO bad
    FROM arrived p
    LEFT JOIN ledger.entry e ON e.id = p.entry_id
    LEFT JOIN ledger.account a ON a.id = p.account_id
    WHERE a.currency IS DISTINCT FROM e.currency LIMIT 1;
    IF bad.entry_id IS NOT NULL THEN
        RAISE EXCEPTION 'entry %: account % does not exist in the entry''s currency', bad.entry_id, bad.account_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'posting_matches_entry', SCHEMA = 'ledger', TABLE = 'posting';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER entry_balances AFTER INSERT ON ledger.posting REFERENCING NEW TABLE AS arrived
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.check_postings();

-- Rule 9: a closed month takes no entry. Whoever closes a month first locks ledger.entry against inserts.
CREATE FUNCTION ledger.check_period_open() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bad record;
BEGIN
    SELECT a.id, a.period INTO bad FROM arrived a JOIN ledger.closed_period c USING (period) LIMIT 1;
    IF bad.id IS NOT NULL THEN
        RAISE EXCEPTION 'the month % is closed', to_char(bad.period, 'YYYY-MM')
            USING ERRCODE = 'check_violation', CONSTRAINT = 'period_is_open', SCHEMA = 'ledger', TABLE = 'entry';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER period_is_open AFTER INSERT ON ledger.entry REFERENCING NEW TABLE AS arrived
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.check_period_open();

CREATE TRIGGER entry_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.entry
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER posting_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.posting
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER account_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.account
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();
CREATE TRIGGER closed_period_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.closed_period
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();

---------------------------------------------------------------------------------------------------------------------
-- outbox: messages owed to the shop's application
---------------------------------------------------------------------------------------------------------------------

-- Rule 10: written in the transaction of what it tells, so it exists exactly when that happened.
CREATE TABLE outbox.message (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type         text NOT NULL CONSTRAINT message_type_known CHECK (type IN
                     ('payment.paid', 'payment.refunded', 'payment.partially_refunded', 'payment.charged_back',
                      'payment.chargeback_reversed', 'wallet.credited', 'grant.created')),
    payment_id   bigint REFERENCES payments.payment,
    subject      text NOT NULL,                       -- what the outcome is about; with the type it makes the message unique
    body         jsonb NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    due_at       timestamptz NOT NULL DEFAULT now(),
    attempts     integer NOT NULL DEFAULT 0,
    delivered_at timestamptz,
    CONSTRAINT message_once UNIQUE (type, subject)
);
CREATE INDEX message_by_payment ON outbox.message (payment_id, id);
CREATE INDEX message_undelivered ON outbox.message (due_at, id) WHERE delivered_at IS NULL;

---------------------------------------------------------------------------------------------------------------------
-- access: who may do what, and who did
---------------------------------------------------------------------------------------------------------------------

CREATE TABLE access.operator (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login         text NOT NULL CONSTRAINT operator_login_shape CHECK (login ~ '^[a-z0-9][a-z0-9._@+-]{0,98}$'),
    password_hash text NOT NULL,
    role          text NOT NULL CONSTRAINT operator_role_known CHECK (role IN ('viewer', 'support', 'finance', 'admin')),
    session_epoch integer NOT NULL DEFAULT 0,         -- raised to end every session of this person
    created_at    timestamptz NOT NULL DEFAULT now(),
    disabled_at   timestamptz,
    CONSTRAINT operator_once UNIQUE (login)
);

CREATE TABLE access.api_key (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name       text NOT NULL,
    scope      text NOT NULL CONSTRAINT api_key_scope_known CHECK (scope IN ('read', 'write')),
    key_sha256 bytea NOT NULL,                        -- 256 random bits need no slow hash
    created_at timestamptz NOT NULL DEFAULT now(),
    revoked_at timestamptz,
    CONSTRAINT api_key_secret_once UNIQUE (key_sha256)
);
CREATE UNIQUE INDEX api_key_one_active ON access.api_key (name) WHERE revoked_at IS NULL;

-- Rule 11: acts of people and keys.
CREATE TABLE access.audit (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor          text NOT NULL,
    act            text NOT NULL,
    object         text NOT NULL,                     -- 'event:12', 'payment:7', 'endpoint:loja'
    reason         text,
    detail         jsonb NOT NULL DEFAULT '{}',
    remote_address text,
    at             timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX audit_by_object ON access.audit (object, id);
CREATE INDEX audit_by_actor ON access.audit (actor, id);
CREATE TRIGGER audit_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON access.audit
    FOR EACH STATEMENT EXECUTE FUNCTION safeguards.only_grows();

-- The first answer to each request that carried an Idempotency-Key.
CREATE TABLE access.idempotency (
    caller      text NOT NULL,
    key         text NOT NULL,
    request     text NOT NULL,                        -- method and path
    body_sha256 bytea NOT NULL,
    status      integer,
    answer      bytea,
    created_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT idempotency_once PRIMARY KEY (caller, key)
);
CREATE INDEX idempotency_by_age ON access.idempotency (created_at);

-- Failed sign-ins, counted across processes to slow guessing down.
CREATE TABLE access.failed_login (
    id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    login          text NOT NULL,
    remote_address text NOT NULL,
    at             timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX failed_login_by_login ON access.failed_login (login, at);
CREATE INDEX failed_login_by_address ON access.failed_login (remote_address, at);

---------------------------------------------------------------------------------------------------------------------
-- safeguards: the last proofs
---------------------------------------------------------------------------------------------------------------------

CREATE TABLE safeguards.report (
    id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind   text NOT NULL CONSTRAINT report_kind_known CHECK (kind IN ('doctor', 'verify')),
    holds  boolean NOT NULL,
    result jsonb NOT NULL,
    at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX report_by_kind ON safeguards.report (kind, id);

-- The refusals hold for replicated and restored sessions too.
ALTER TABLE intake.event         ENABLE ALWAYS TRIGGER event_only_grows;
ALTER TABLE intake.delivery      ENABLE ALWAYS TRIGGER delivery_only_grows;
ALTER TABLE intake.decision      ENABLE ALWAYS TRIGGER decision_only_grows;
ALTER TABLE intake.endpoint      ENABLE ALWAYS TRIGGER endpoint_is_kept;
ALTER TABLE payments.commission  ENABLE ALWAYS TRIGGER commission_only_grows;
ALTER TABLE ledger.entry         ENABLE ALWAYS TRIGGER entry_only_grows;
ALTER TABLE ledger.entry         ENABLE ALWAYS TRIGGER period_is_open;
ALTER TABLE ledger.posting       ENABLE ALWAYS TRIGGER posting_only_grows;
ALTER TABLE ledger.posting       ENABLE ALWAYS TRIGGER entry_balances;
ALTER TABLE ledger.account       ENABLE ALWAYS TRIGGER account_only_grows;
ALTER TABLE ledger.closed_period ENABLE ALWAYS TRIGGER closed_period_only_grows;
ALTER TABLE access.audit         ENABLE ALWAYS TRIGGER audit_only_grows;

---------------------------------------------------------------------------------------------------------------------
-- What the running application may do. It owns nothing, and has no UPDATE, DELETE or TRUNCATE on what only grows.
---------------------------------------------------------------------------------------------------------------------

GRANT USAGE ON SCHEMA safeguards, intake, payments, ledger, outbox, access TO razao_app;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA safeguards, intake, payments, ledger, outbox, access TO razao_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA safeguards, intake, payments, ledger, outbox, access TO razao_app;

GRANT UPDATE (disabled_at, url_token, options, unmatched) ON intake.endpoint TO razao_app;
GRANT UPDATE (retired_at, sealed) ON intake.secret TO razao_app;
GRANT UPDATE, DELETE ON intake.queue TO razao_app;
GRANT UPDATE ON intake.standing TO razao_app;
GRANT DELETE ON intake.rejection TO razao_app;
GRANT UPDATE ON payments.payment TO razao_app;
GRANT UPDATE (payment_id) ON payments.name TO razao_app;
GRANT DELETE ON payments.awaiting TO razao_app;
GRANT UPDATE (status, event_id) ON payments.refund TO razao_app;
GRANT UPDATE (reversed_event, reversed_at) ON payments.chargeback TO razao_app;
GRANT UPDATE ON ledger.balance TO razao_app;
GRANT UPDATE (postings), DELETE ON ledger.movement TO razao_app;   -- folding locks what it adds up
GRANT UPDATE (due_at, attempts, delivered_at) ON outbox.message TO razao_app;
GRANT UPDATE (password_hash, role, session_epoch, disabled_at) ON access.operator TO razao_app;
GRANT UPDATE (revoked_at) ON access.api_key TO razao_app;
GRANT UPDATE (status, answer), DELETE ON access.idempotency TO razao_app;
GRANT DELETE ON access.failed_login TO razao_app;
