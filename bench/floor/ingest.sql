-- One event stored, one commit.
INSERT INTO event (provider, event_key, body, headers)
VALUES ('asaas', 'evt_' || nextval('key'), repeat('x', 900)::bytea, '{"a": "b"}') ON CONFLICT DO NOTHING;
