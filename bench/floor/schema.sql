-- The least that a receiver of webhooks can keep: events, payments, wallets, a journal with two postings an entry.
CREATE TABLE event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    provider text NOT NULL,
    event_key text NOT NULL,
    received_at timestamptz DEFAULT now(),
    body bytea,
    headers jsonb,
    status text NOT NULL DEFAULT 'received',
    UNIQUE (provider, event_key)
);
CREATE TABLE wallet (id int PRIMARY KEY, balance bigint NOT NULL DEFAULT 0 CHECK (balance >= 0));
CREATE TABLE payment (
    id int PRIMARY KEY,
    provider text,
    provider_ref text,
    status text NOT NULL DEFAULT 'pending',
    amount bigint NOT NULL,
    wallet_id int REFERENCES wallet,
    UNIQUE (provider, provider_ref)
);
CREATE TABLE journal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    payment_id int REFERENCES payment,
    kind text,
    period date,
    created_at timestamptz DEFAULT now(),
    UNIQUE (payment_id, kind)
);
CREATE TABLE posting (journal_id bigint REFERENCES journal, account int, amount bigint);
CREATE SEQUENCE key;
INSERT INTO wallet SELECT n, 0 FROM generate_series(1, 10000) n;
INSERT INTO payment SELECT n, 'asaas', 'pay_' || n, 'pending', 4990, 1 + n % 10000 FROM generate_series(1, 2000000) n;
VACUUM ANALYZE;
