-- Each statement here would do damage, and must be refused. The rows with negative ids are made by scene.sql in the same transaction.
-- `jsonb_populate_record(row, changes)` is a copy of that row with those columns changed. Every statement is tried alone.
-- The second line of each probe says what is expected: SQLSTATE, the constraint's name as the server reports it, and what refuses.
-- The rest says what would go wrong in money, or in the proof of it, if it were not refused.

---------------------------------------------------------------------------------------------------------------------
-- intake
---------------------------------------------------------------------------------------------------------------------

-- name: event_once
-- Rule 1. Refused: 23505 event_once, by unique on intake.event.
-- A provider that delivers twice would have one payment confirmed by two events.
INSERT INTO intake.event OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2}')).* FROM intake.event e WHERE id = -1;

-- name: event_pkey
-- Rule 1. Refused: 23505 event_pkey, by primary key on intake.event.
-- Two events under one id: a decision would no longer say which of them moved the money.
INSERT INTO intake.event OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"event_key": "razao-doctor-2"}')).* FROM intake.event e WHERE id = -1;

-- name: event_fact_known
-- Refused: 23514 event_fact_known, by check on intake.event.
-- A fact that the confirmation has no rule for would wait in the queue for ever, its money unbooked.
INSERT INTO intake.event OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2, "event_key": "razao-doctor-2", "fact": "given"}')).* FROM intake.event e WHERE id = -1;

-- name: event_amount_not_negative
-- Refused: 23514 event_amount_not_negative, by check on intake.event.
-- A negative amount would turn a payment into a refund.
INSERT INTO intake.event OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2, "event_key": "razao-doctor-2", "amount": -1}')).* FROM intake.event e WHERE id = -1;

-- name: event_fee_not_negative
-- Refused: 23514 event_fee_not_negative, by check on intake.event.
-- A negative fee would book income that nobody paid.
INSERT INTO intake.event OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2, "event_key": "razao-doctor-2", "fee": -1}')).* FROM intake.event e WHERE id = -1;

-- name: event_only_grows
-- Rule 11. Refused: 23514 event_only_grows, by trigger on intake.event.
-- What the provider said could be changed after money moved by it, or vanish: nobody could prove why.
UPDATE intake.event SET amount = 1 WHERE id = -1;
DELETE FROM intake.event WHERE id = -1;
TRUNCATE intake.event CASCADE;

-- name: endpoint_once
-- Refused: 23505 endpoint_once, by unique on intake.endpoint.
-- Two endpoints at one address: a call would be checked against the wrong secrets, or booked at the wrong provider.
INSERT INTO intake.endpoint OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2}')).* FROM intake.endpoint e WHERE id = -1;

-- name: endpoint_pkey
-- Refused: 23505 endpoint_pkey, by primary key on intake.endpoint.
-- Two endpoints under one id: events and payments of one provider would mix with another's.
INSERT INTO intake.endpoint OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"slug": "razao-doctor-2"}')).* FROM intake.endpoint e WHERE id = -1;

-- name: endpoint_slug_shape
-- Refused: 23514 endpoint_slug_shape, by check on intake.endpoint.
-- An address that no URL can hold receives nothing: every payment of that provider would be missed.
INSERT INTO intake.endpoint OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(e, '{"id": -2, "slug": "../Razao Doctor"}')).* FROM intake.endpoint e WHERE id = -1;

-- name: endpoint_unmatched_known
-- Refused: 23514 endpoint_unmatched_known, by check on intake.endpoint.
-- With a rule nobody knows, an unknown payment is neither held nor registered.
UPDATE intake.endpoint SET unmatched = 'guess' WHERE id = -1;

-- name: endpoint_is_kept
-- Rule 11. Refused: 23514 endpoint_is_kept, by trigger on intake.endpoint.
-- Its events have no foreign key to it (that would lock one row at every reception): deleted, they would belong to nobody.
DELETE FROM intake.endpoint WHERE id = -1;
TRUNCATE intake.endpoint CASCADE;

-- name: secret_pkey
-- Refused: 23505 secret_pkey, by primary key on intake.secret.
-- Two secrets under one id: retiring one would end the other, and honest calls would be refused.
INSERT INTO intake.secret OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(s, '{"label": "other"}')).* FROM intake.secret s WHERE id = -1;

-- name: secret_endpoint_id_fkey
-- Refused: 23503 secret_endpoint_id_fkey, by foreign key on intake.secret.
-- A secret of no endpoint proves nothing, and nobody would know to retire it.
UPDATE intake.secret SET endpoint_id = -99 WHERE id = -1;

-- name: secret_label_shape
-- Refused: 23514 secret_label_shape, by check on intake.secret.
-- The label says which account a call came from: an empty one loses the platform from the connected account.
UPDATE intake.secret SET label = '' WHERE id = -1;

-- name: delivery_pkey
-- Refused: 23505 delivery_pkey, by primary key on intake.delivery.
-- Two deliveries under one id: the bytes shown to support might not be those that were booked.
INSERT INTO intake.delivery OVERRIDING SYSTEM VALUE SELECT * FROM intake.delivery WHERE id = -1;

-- name: delivery_event_id_fkey
-- Refused: 23503 delivery_event_id_fkey, by foreign key on intake.delivery.
-- Bytes that belong to no event: the evidence of a payment that nobody can find.
INSERT INTO intake.delivery OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(d, '{"id": -2, "event_id": -99}')).* FROM intake.delivery d WHERE id = -1;

-- name: delivery_only_grows
-- Rule 11. Refused: 23514 delivery_only_grows, by trigger on intake.delivery.
-- The bytes that a provider signed could be replaced after the fact.
UPDATE intake.delivery SET body = '' WHERE id = -1;
DELETE FROM intake.delivery WHERE id = -1;
TRUNCATE intake.delivery CASCADE;

-- name: queue_pkey
-- Refused: 23505 queue_pkey, by primary key on intake.queue.
-- One event queued twice would be decided by two workers at once.
INSERT INTO intake.queue SELECT * FROM intake.queue WHERE event_id = -1;

-- name: decision_pkey
-- Rule 11. Refused: 23505 decision_pkey, by primary key on intake.decision.
-- Two decisions under one id: their order, and so the reason for what was booked, would be lost.
INSERT INTO intake.decision OVERRIDING SYSTEM VALUE SELECT * FROM intake.decision WHERE id = -1;

-- name: decision_event_id_fkey
-- Rule 11. Refused: 23503 decision_event_id_fkey, by foreign key on intake.decision.
-- A decision about nothing: money moved, and no call from a provider to show for it.
INSERT INTO intake.decision OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(d, '{"id": -2, "event_id": -99}')).* FROM intake.decision d WHERE id = -1;

-- name: decision_status_known
-- Refused: 23514 decision_status_known, by check on intake.decision.
-- An event that stands nowhere that people look: neither applied nor on anybody's list.
INSERT INTO intake.decision OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(d, '{"id": -2, "status": "perhaps"}')).* FROM intake.decision d WHERE id = -1;

-- name: decision_only_grows
-- Rule 11. Refused: 23514 decision_only_grows, by trigger on intake.decision.
-- The reason why a customer was or was not credited could be rewritten.
UPDATE intake.decision SET reason = 'razao-doctor' WHERE id = -1;
DELETE FROM intake.decision WHERE id = -1;
TRUNCATE intake.decision CASCADE;

-- name: standing_pkey
-- Refused: 23505 standing_pkey, by primary key on intake.standing.
-- An event would stand in two places at once: applied and for review.
INSERT INTO intake.standing SELECT * FROM intake.standing WHERE event_id = -1;

-- name: standing_event_id_fkey
-- Refused: 23503 standing_event_id_fkey, by foreign key on intake.standing.
-- A standing of no event: counted as applied, with nothing behind it.
INSERT INTO intake.standing
SELECT (jsonb_populate_record(s, '{"event_id": -99}')).* FROM intake.standing s WHERE event_id = -1;

-- name: rejection_pkey
-- Refused: 23505 rejection_pkey, by primary key on intake.rejection.
-- The log of refused calls is kept short by id: under one id, honest traces would go with the flood.
INSERT INTO intake.rejection OVERRIDING SYSTEM VALUE SELECT * FROM intake.rejection WHERE id = -1;

---------------------------------------------------------------------------------------------------------------------
-- payments
---------------------------------------------------------------------------------------------------------------------

-- name: payment_reference_once
-- Rule 2. Refused: 23505 payment_reference_once, by unique on payments.payment.
-- One order of the shop as two payments: the customer would be asked for the money, and credited, twice.
INSERT INTO payments.payment OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(p, '{"id": -2}')).* FROM payments.payment p WHERE id = -1;

-- name: payment_pkey
-- Rule 2. Refused: 23505 payment_pkey, by primary key on payments.payment.
-- The lock that lets a payment be confirmed once holds one row: two rows under one id would be two locks.
INSERT INTO payments.payment OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(p, '{"reference": "razao-doctor-2"}')).* FROM payments.payment p WHERE id = -1;

-- name: payment_endpoint_id_fkey
-- Refused: 23503 payment_endpoint_id_fkey, by foreign key on payments.payment.
-- A payment expected at no provider can never be paid, nor refunded from anywhere.
UPDATE payments.payment SET endpoint_id = -99 WHERE id = -1;

-- name: payment_status_known
-- Refused: 23514 payment_status_known, by check on payments.payment.
-- The shop would be told a status that it has no answer for, and might deliver.
UPDATE payments.payment SET status = 'probably' WHERE id = -1;

-- name: payment_amount_positive
-- Refused: 23514 payment_amount_positive, by check on payments.payment.
-- A payment of nothing would be confirmed by an event of nothing, and give access for free.
UPDATE payments.payment SET amount = 0 WHERE id = -1;

-- name: payment_currency_shape
-- Refused: 23514 payment_currency_shape, by check on payments.payment.
-- 4990 of no currency: cents, yen or fils, a factor of a thousand apart.
UPDATE payments.payment SET currency = 'R$' WHERE id = -1;

-- name: payment_grant_whole
-- Refused: 23514 payment_grant_whole, by check on payments.payment.
-- Access to something for nobody: paid for, and never given.
UPDATE payments.payment SET grant_subject = 'razao-doctor' WHERE id = -1;

-- name: refunds_within_payment
-- Rule 4. Refused: 23514 refunds_within_payment, by check on payments.payment.
-- Two refunds that together exceed the payment: the second would be paid with our own money.
UPDATE payments.payment SET refunded_amount = 4991 WHERE id = -1;
UPDATE payments.payment SET refunded_amount = 2500, charged_back_amount = 2500 WHERE id = -1;
UPDATE payments.payment SET refunded_amount = -1 WHERE id = -1;
UPDATE payments.payment SET charged_back_amount = -1 WHERE id = -1;

-- name: name_once
-- Rule 2. Refused: 23505 name_once, by primary key on payments.name.
-- One name of the provider for two payments: its event would confirm whichever was found first.
INSERT INTO payments.name SELECT * FROM payments.name WHERE value = 'razao-doctor' AND endpoint_id = -1;

-- name: name_kind_known
-- Refused: 23514 name_kind_known, by check on payments.name.
-- A name of a kind that nobody looks up: its events would stay unmatched though the payment is registered.
INSERT INTO payments.name (value, endpoint_id, kind) VALUES ('razao-doctor-2', -1, 'nickname');

-- name: name_payment_id_fkey
-- Refused: 23503 name_payment_id_fkey, by foreign key on payments.name.
-- A name that leads to no payment: the money of its events would be nobody's.
UPDATE payments.name SET payment_id = -99 WHERE value = 'razao-doctor' AND endpoint_id = -1;

-- name: awaiting_once
-- Refused: 23505 awaiting_once, by primary key on payments.awaiting.
-- An event that waits twice for one name would be queued twice when its payment is registered.
INSERT INTO payments.awaiting SELECT * FROM payments.awaiting WHERE event_id = -1;

-- name: awaiting_event_id_fkey
-- Refused: 23503 awaiting_event_id_fkey, by foreign key on payments.awaiting.
-- An event that is not there would be queued, and hold up the batch that claims it.
INSERT INTO payments.awaiting VALUES ('razao-doctor', -1, 'provider', -99);

-- name: commission_once
-- Rule 3. Refused: 23505 commission_once, by primary key on payments.commission.
-- One partner promised two shares of the same payment.
INSERT INTO payments.commission SELECT * FROM payments.commission WHERE payment_id = -1;

-- name: commission_payment_id_fkey
-- Rule 3. Refused: 23503 commission_payment_id_fkey, by foreign key on payments.commission.
-- A commission of no payment: owed to a partner, earned by nothing.
INSERT INTO payments.commission (payment_id, partner, amount) VALUES (-99, 'razao-doctor', 1);

-- name: commission_fixed_or_share
-- Rule 3. Refused: 23514 commission_fixed_or_share, by check on payments.commission.
-- A fixed amount and a share at once, or neither, or more than all of it: nobody could say what the partner is owed.
INSERT INTO payments.commission (payment_id, partner, amount, basis_points) VALUES (-1, 'razao-doctor-2', 1, 1);
INSERT INTO payments.commission (payment_id, partner) VALUES (-1, 'razao-doctor-2');
INSERT INTO payments.commission (payment_id, partner, amount) VALUES (-1, 'razao-doctor-2', 0);
INSERT INTO payments.commission (payment_id, partner, basis_points) VALUES (-1, 'razao-doctor-2', 10001);

-- name: commission_only_grows
-- Rule 3. Refused: 23514 commission_only_grows, by trigger on payments.commission.
-- A share changed after the sale: what was posted to the partner would no longer follow from what was agreed.
UPDATE payments.commission SET amount = 498 WHERE payment_id = -1;
DELETE FROM payments.commission WHERE payment_id = -1;
TRUNCATE payments.commission CASCADE;

-- name: grant_once
-- Refused: 23505 grant_once, by unique on payments.access_grant.
-- One payment would give the same access twice; taking it back once would leave the other.
INSERT INTO payments.access_grant OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(g, '{"id": -2}')).* FROM payments.access_grant g WHERE id = -1;

-- name: access_grant_pkey
-- Refused: 23505 access_grant_pkey, by primary key on payments.access_grant.
-- Two grants under one id: the shop, asking by id, would open the wrong door.
INSERT INTO payments.access_grant OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(g, '{"resource": "razao-doctor-2"}')).* FROM payments.access_grant g WHERE id = -1;

-- name: access_grant_payment_id_fkey
-- Refused: 23503 access_grant_payment_id_fkey, by foreign key on payments.access_grant.
-- Access that no payment gave.
UPDATE payments.access_grant SET payment_id = -99 WHERE id = -1;

-- name: refund_once
-- Rule 4. Refused: 23505 refund_once, by unique on payments.refund.
-- The same request sent again (a double click, a retry after a time-out) would pay the customer back twice.
INSERT INTO payments.refund OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(r, '{"id": -2}')).* FROM payments.refund r WHERE id = -1;

-- name: refund_pkey
-- Rule 4. Refused: 23505 refund_pkey, by primary key on payments.refund.
-- Two refunds under one id share one entry in the ledger: one of them would leave no trace there.
INSERT INTO payments.refund OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(r, '{"refund_key": "razao-doctor-2"}')).* FROM payments.refund r WHERE id = -1;

-- name: refund_payment_id_fkey
-- Rule 4. Refused: 23503 refund_payment_id_fkey, by foreign key on payments.refund.
-- Money going back for a payment that never came.
UPDATE payments.refund SET payment_id = -99 WHERE id = -1;

-- name: refund_event_id_fkey
-- Rule 4. Refused: 23503 refund_event_id_fkey, by foreign key on payments.refund.
-- A refund said to be confirmed by the provider, with no word of his to show.
UPDATE payments.refund SET event_id = -99 WHERE id = -1;

-- name: refund_amount_positive
-- Rule 4. Refused: 23514 refund_amount_positive, by check on payments.refund.
-- A negative refund would raise what may still be refunded above what was paid.
UPDATE payments.refund SET amount = -1 WHERE id = -1;

-- name: refund_source_known
-- Refused: 23514 refund_source_known, by check on payments.refund.
-- Whether a refund may be the one that the provider now tells of depends on who made it.
UPDATE payments.refund SET source = 'somebody' WHERE id = -1;

-- name: refund_status_known
-- Refused: 23514 refund_status_known, by check on payments.refund.
-- A refund neither recorded nor confirmed would be matched to no event, and so be booked again.
UPDATE payments.refund SET status = 'perhaps' WHERE id = -1;

-- name: provider_refund_once
-- Rule 4. Refused: 23505 provider_refund_once, by primary key on payments.refund_claim.
-- One refund of the provider counted twice: the second time it would book money that did not move.
INSERT INTO payments.refund_claim SELECT * FROM payments.refund_claim WHERE refund_id = -1;

-- name: claim_amount_positive
-- Rule 4. Refused: 23514 claim_amount_positive, by check on payments.refund_claim.
-- A negative claim would make room for a refund that never happened.
UPDATE payments.refund_claim SET amount = -1 WHERE refund_id = -1;

-- name: refund_claim_payment_id_fkey
-- Rule 4. Refused: 23503 refund_claim_payment_id_fkey, by foreign key on payments.refund_claim.
-- A refund of the provider counted at no payment would be booked again when it is told again.
UPDATE payments.refund_claim SET payment_id = -99 WHERE refund_id = -1;

-- name: refund_claim_refund_id_fkey
-- Rule 4. Refused: 23503 refund_claim_refund_id_fkey, by foreign key on payments.refund_claim.
-- A refund of the provider said to be booked, and no refund here that it was booked as.
UPDATE payments.refund_claim SET refund_id = -99 WHERE refund_id = -1;

-- name: refund_claim_event_id_fkey
-- Rule 4. Refused: 23503 refund_claim_event_id_fkey, by foreign key on payments.refund_claim.
-- A refund said to be told by the provider, and no event that told it.
UPDATE payments.refund_claim SET event_id = -99 WHERE refund_id = -1;

-- name: chargeback_once
-- Rule 3. Refused: 23505 chargeback_once, by unique on payments.chargeback.
-- The same dispute withdrawn twice from one payment.
INSERT INTO payments.chargeback OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(c, '{"id": -2, "reversed_at": "2026-01-01"}')).* FROM payments.chargeback c WHERE id = -1;

-- name: chargeback_one_open
-- Rule 4. Refused: 23505 chargeback_one_open, by unique index on payments.chargeback.
-- Two disputes at once hold the same money: winning one would return what the other still holds.
INSERT INTO payments.chargeback OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(c, '{"id": -2, "cycle": 2}')).* FROM payments.chargeback c WHERE id = -1;

-- name: chargeback_pkey
-- Refused: 23505 chargeback_pkey, by primary key on payments.chargeback.
-- Two disputes under one id: the provider's word on one would close the other.
INSERT INTO payments.chargeback OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(c, '{"cycle": 2, "reversed_at": "2026-01-01"}')).* FROM payments.chargeback c WHERE id = -1;

-- name: chargeback_amount_positive
-- Rule 4. Refused: 23514 chargeback_amount_positive, by check on payments.chargeback.
-- A negative dispute would pay us for being disputed.
UPDATE payments.chargeback SET amount = 0 WHERE id = -1;

-- name: chargeback_payment_id_fkey
-- Refused: 23503 chargeback_payment_id_fkey, by foreign key on payments.chargeback.
-- Money withdrawn for a payment that never came.
UPDATE payments.chargeback SET payment_id = -99 WHERE id = -1;

-- name: chargeback_opened_event_fkey
-- Refused: 23503 chargeback_opened_event_fkey, by foreign key on payments.chargeback.
-- A withdrawal with no word of the provider to show for it.
UPDATE payments.chargeback SET opened_event = -99 WHERE id = -1;

-- name: chargeback_reversed_event_fkey
-- Refused: 23503 chargeback_reversed_event_fkey, by foreign key on payments.chargeback.
-- A dispute said to be won, and nobody who said so.
UPDATE payments.chargeback SET reversed_event = -99 WHERE id = -1;

---------------------------------------------------------------------------------------------------------------------
-- ledger
---------------------------------------------------------------------------------------------------------------------

-- name: account_once
-- Rule 7. Refused: 23505 account_once, by unique on ledger.account.
-- One wallet as two accounts: the balance shown would be half of what its owner holds.
INSERT INTO ledger.account OVERRIDING SYSTEM VALUE VALUES (-4, 'psp:razao-doctor', 'asset', 'BRL');

-- name: account_pkey
-- Rule 7. Refused: 23505 account_pkey, by primary key on ledger.account.
-- Two accounts under one id: each posting would count for both.
INSERT INTO ledger.account OVERRIDING SYSTEM VALUE VALUES (-1, 'psp:razao-doctor-2', 'asset', 'BRL');

-- name: account_type_known
-- Refused: 23514 account_type_known, by check on ledger.account.
-- An account that is in no report: its money would be missing from every total.
INSERT INTO ledger.account OVERRIDING SYSTEM VALUE VALUES (-4, 'psp:razao-doctor-2', 'pocket', 'BRL');

-- name: account_currency_shape
-- Refused: 23514 account_currency_shape, by check on ledger.account.
-- A balance of no currency cannot be added to anything.
INSERT INTO ledger.account OVERRIDING SYSTEM VALUE VALUES (-4, 'psp:razao-doctor-2', 'asset', 'reais');

-- name: wallet_one_currency
-- Rule 8. Refused: 23505 wallet_one_currency, by unique index on ledger.account.
-- A wallet in two currencies: its owner would spend dollars that he holds in reais.
INSERT INTO ledger.account OVERRIDING SYSTEM VALUE VALUES (-4, 'wallet:razao-doctor', 'liability', 'USD');

-- name: account_only_grows
-- Rule 5. Refused: 23514 account_only_grows, by trigger on ledger.account.
-- Renaming an account, or turning a debt into an asset, changes every closed month without touching an entry.
UPDATE ledger.account SET code = 'psp:razao-doctor-2' WHERE id = -1;
DELETE FROM ledger.account WHERE id = -1;
TRUNCATE ledger.account CASCADE;

-- name: balance_pkey
-- Rule 8. Refused: 23505 balance_pkey, by primary key on ledger.balance.
-- Two balances of one wallet: each would be checked alone, and together they would be overdrawn.
INSERT INTO ledger.balance SELECT * FROM ledger.balance WHERE account_id = -2;

-- name: balance_account_id_fkey
-- Rule 7. Refused: 23503 balance_account_id_fkey, by foreign key on ledger.balance.
-- Money owed on an account that does not exist.
INSERT INTO ledger.balance (account_id, owed) VALUES (-99, 100);

-- name: wallet_not_overdrawn
-- Rule 8. Refused: 23514 wallet_not_overdrawn, by check on ledger.balance.
-- Two purchases at once, each within the balance, together beyond it: the second would be a gift.
UPDATE ledger.balance SET owed = owed - 4991 WHERE account_id = -2;

-- name: closed_period_pkey
-- Rule 9. Refused: 23505 closed_period_pkey, by primary key on ledger.closed_period.
-- A month closed twice, by two people at two times: nobody could say which report is the final one.
INSERT INTO ledger.closed_period SELECT * FROM ledger.closed_period WHERE period = '0001-02-01';

-- name: period_is_a_month
-- Rule 9. Refused: 23514 period_is_a_month, by check on ledger.closed_period.
-- Closing "the 15th" closes no month at all: entries would still be posted in it.
INSERT INTO ledger.closed_period (period, closed_by) VALUES ('0001-03-15', 'razao-doctor');

-- name: closed_period_only_grows
-- Rule 9. Refused: 23514 closed_period_only_grows, by trigger on ledger.closed_period.
-- A month opened again behind the back of the report that was sent out.
UPDATE ledger.closed_period SET period = '0001-03-01' WHERE period = '0001-02-01';
DELETE FROM ledger.closed_period WHERE period = '0001-02-01';
TRUNCATE ledger.closed_period CASCADE;

-- name: period_is_open
-- Rule 9. Refused: 23514 period_is_open, by trigger on ledger.entry.
-- A late refund would lower the sales of a month whose report, and tax, are done.
INSERT INTO ledger.entry
SELECT (jsonb_populate_record(e, '{"id": -4, "kind": "adjustment", "party": "razao-doctor-2", "period": "0001-02-01"}')).*
FROM ledger.entry e WHERE id = -1;

-- name: entry_one_sale
-- Rule 2. Refused: 23505 entry_one_sale, by unique index on ledger.entry.
-- One payment sold twice: the customer paid once, and the month shows the money twice.
INSERT INTO ledger.entry
SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -1;

-- name: entry_once
-- Rule 3. Refused: 23505 entry_once, by unique on ledger.entry.
-- A commission, or a wallet's purchase (which has no payment), posted twice: a partner paid twice, a customer charged twice.
INSERT INTO ledger.entry SELECT (jsonb_populate_record(e, '{"id": -4}')).* FROM ledger.entry e WHERE id = -2;
INSERT INTO ledger.entry SELECT (jsonb_populate_record(e, '{"id": -4}')).* FROM ledger.entry e WHERE id = -3;

-- name: entry_pkey
-- Rule 6. Refused: 23505 entry_pkey, by primary key on ledger.entry.
-- Two entries share one id, and so one set of postings: one of them would move nothing.
INSERT INTO ledger.entry SELECT (jsonb_populate_record(e, '{"party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2;

-- name: entry_kind_known
-- Refused: 23514 entry_kind_known, by check on ledger.entry.
-- An entry of a kind that no report counts.
INSERT INTO ledger.entry SELECT (jsonb_populate_record(e, '{"id": -4, "kind": "tip"}')).* FROM ledger.entry e WHERE id = -2;

-- name: entry_period_is_a_month
-- Rule 9. Refused: 23514 entry_period_is_a_month, by check on ledger.entry.
-- An entry in "the 15th" belongs to no month: it would be in no report, and slip past a closed month.
INSERT INTO ledger.entry
SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2", "period": "0001-01-15"}')).* FROM ledger.entry e WHERE id = -2;

-- name: entry_first_line
-- Rule 6. Refused: 23514 entry_first_line, by check on ledger.entry.
-- The first line is how an entry without postings is noticed: pointing elsewhere, it would be noticed by nobody.
INSERT INTO ledger.entry
SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2", "first_line": 2}')).* FROM ledger.entry e WHERE id = -2;

-- name: entry_payment_id_fkey
-- Rule 3. Refused: 23503 entry_payment_id_fkey, by foreign key on ledger.entry.
-- Income from a payment that does not exist.
WITH entry AS (
    INSERT INTO ledger.entry
    SELECT (jsonb_populate_record(e, '{"id": -4, "payment_id": -99}')).* FROM ledger.entry e WHERE id = -2
)
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-4, 1, -1, 499), (-4, 2, -2, -499);

-- name: entry_has_postings
-- Rule 6. Refused: 23503 entry_has_postings, by foreign key on ledger.entry.
-- A refund that is in the list of entries, and moved no money on any account. Noticed at the commit.
INSERT INTO ledger.entry
SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2;

-- name: entry_only_grows
-- Rule 5. Refused: 23514 entry_only_grows, by trigger on ledger.entry.
-- A sale moved to another month, or gone, after the report was sent.
UPDATE ledger.entry SET period = '0001-03-01' WHERE id = -1;
DELETE FROM ledger.entry WHERE id = -1;
TRUNCATE ledger.entry CASCADE;

-- name: posting_once
-- Rule 6. Refused: 23505 posting_once, by primary key on ledger.posting.
-- One line of an entry twice: the account would be charged twice.
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-1, 1, -1, 1), (-1, 2, -1, -1);

-- name: posting_not_zero
-- Rule 6. Refused: 23514 posting_not_zero, by check on ledger.posting.
-- A line of zero is how an entry of one line would pass for balanced.
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-1, 3, -1, 0);

-- name: posting_entry_id_fkey
-- Rule 6. Refused: 23503 posting_entry_id_fkey, by foreign key on ledger.posting.
-- Money that moves on accounts without an entry that says why.
INSERT INTO ledger.posting (entry_id, line, account_id, amount)
SELECT -99, line, account_id, amount FROM ledger.posting WHERE entry_id = -1;

-- name: entry_balances
-- Rule 6. Refused: 23514 entry_balances, by trigger entry_balances on ledger.posting.
-- Money from nowhere: the wallet is credited more than the provider owes us.
WITH entry AS (
    INSERT INTO ledger.entry
    SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2
)
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-4, 1, -1, 100), (-4, 2, -2, -499);
WITH entry AS (
    INSERT INTO ledger.entry
    SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2
)
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-4, 1, -1, 499);

-- name: entry_is_whole
-- Rule 6. Refused: 23514 entry_is_whole, by trigger entry_balances on ledger.posting.
-- A balanced pair that joins an old entry: a closed month changes, and everything still adds up.
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-1, 3, -1, 1), (-1, 4, -2, -1);

-- name: posting_matches_entry
-- Rule 6. Refused: 23514 posting_matches_entry, by trigger entry_balances on ledger.posting.
-- 499 reais against 499 dollars add up to zero; so does an account that does not exist.
WITH entry AS (
    INSERT INTO ledger.entry
    SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2
)
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-4, 1, -3, 499), (-4, 2, -2, -499);
WITH entry AS (
    INSERT INTO ledger.entry
    SELECT (jsonb_populate_record(e, '{"id": -4, "party": "razao-doctor-2"}')).* FROM ledger.entry e WHERE id = -2
)
INSERT INTO ledger.posting (entry_id, line, account_id, amount) VALUES (-4, 1, -99, 499), (-4, 2, -2, -499);

-- name: posting_only_grows
-- Rule 5. Refused: 23514 posting_only_grows, by trigger on ledger.posting.
-- Two lines changed by the same amount still balance: a customer's money would be another's, without a trace.
UPDATE ledger.posting SET account_id = -3 WHERE entry_id = -1 AND line = 1;
DELETE FROM ledger.posting WHERE entry_id = -1;
TRUNCATE ledger.posting CASCADE;

---------------------------------------------------------------------------------------------------------------------
-- outbox, access, safeguards
---------------------------------------------------------------------------------------------------------------------

-- name: message_once
-- Rule 10. Refused: 23505 message_once, by unique on outbox.message.
-- The shop is told twice that an order is paid, and sends the goods twice.
INSERT INTO outbox.message OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(m, '{"id": -2}')).* FROM outbox.message m WHERE id = -1;

-- name: message_pkey
-- Rule 10. Refused: 23505 message_pkey, by primary key on outbox.message.
-- The id is what the shop knows a repetition by: under one id, the second message would be dropped as one.
INSERT INTO outbox.message OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(m, '{"subject": "razao-doctor-2"}')).* FROM outbox.message m WHERE id = -1;

-- name: message_payment_id_fkey
-- Rule 10. Refused: 23503 message_payment_id_fkey, by foreign key on outbox.message.
-- The shop is told of a payment that does not exist.
UPDATE outbox.message SET payment_id = -99 WHERE id = -1;

-- name: message_type_known
-- Rule 10. Refused: 23514 message_type_known, by check on outbox.message.
-- A message that the shop has no answer for.
UPDATE outbox.message SET type = 'payment.maybe' WHERE id = -1;

-- name: operator_once
-- Refused: 23505 operator_once, by unique on access.operator.
-- Two people under one login: a refund could not be laid to either.
INSERT INTO access.operator OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(o, '{"id": -2}')).* FROM access.operator o WHERE id = -1;

-- name: operator_pkey
-- Refused: 23505 operator_pkey, by primary key on access.operator.
-- A session holds the id: it would open as the other, perhaps with the right to refund.
INSERT INTO access.operator OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(o, '{"login": "razao-doctor-2"}')).* FROM access.operator o WHERE id = -1;

-- name: operator_login_shape
-- Refused: 23514 operator_login_shape, by check on access.operator.
-- `Ana` beside `ana`: one of the two could act under the other's name.
UPDATE access.operator SET login = 'Razao Doctor' WHERE id = -1;

-- name: operator_role_known
-- Refused: 23514 operator_role_known, by check on access.operator.
-- A role that no check knows: refused everywhere, or let through.
UPDATE access.operator SET role = 'owner' WHERE id = -1;

-- name: api_key_secret_once
-- Refused: 23505 api_key_secret_once, by unique on access.api_key.
-- One key under two names: revoked under the first, it would still pay refunds under the second.
INSERT INTO access.api_key OVERRIDING SYSTEM VALUE
SELECT (jsonb_populate_record(k, '{"id": -2, "name": "razao-doctor-2"}')).* FROM access.api_key k WHERE id = -1;

-- name: api_key_one_active
-- Refused: 23505 api_key_one_active, by unique index on access.api_key.
-- Two active keys of one name: revoking it would leave the other in use.
INSERT INTO access.api_key OVERRIDING SYSTEM VALUE VALUES (-2, 'razao-doctor-7d2e9c', 'read', sha256('razao-doctor-2'), now(), NULL);

-- name: api_key_pkey
-- Refused: 23505 api_key_pkey, by primary key on access.api_key.
-- Two keys under one id: the audit would name the wrong one.
INSERT INTO access.api_key OVERRIDING SYSTEM VALUE VALUES (-1, 'razao-doctor-2', 'read', sha256('razao-doctor-2'), now(), NULL);

-- name: api_key_scope_known
-- Refused: 23514 api_key_scope_known, by check on access.api_key.
-- A key of no known scope might be taken for one that may refund.
UPDATE access.api_key SET scope = 'all' WHERE id = -1;

-- name: audit_pkey
-- Rule 11. Refused: 23505 audit_pkey, by primary key on access.audit.
-- Two acts under one id: their order would be lost.
INSERT INTO access.audit OVERRIDING SYSTEM VALUE SELECT * FROM access.audit WHERE id = -1;

-- name: audit_only_grows
-- Rule 11. Refused: 23514 audit_only_grows, by trigger on access.audit.
-- Whoever issued a refund to himself could take his name off it.
UPDATE access.audit SET actor = 'somebody else' WHERE id = -1;
DELETE FROM access.audit WHERE id = -1;
TRUNCATE access.audit CASCADE;

-- name: idempotency_once
-- Refused: 23505 idempotency_once, by primary key on access.idempotency.
-- A request repeated under its key would be carried out again: two debits, two refunds.
INSERT INTO access.idempotency SELECT * FROM access.idempotency WHERE caller = 'razao-doctor';

-- name: failed_login_pkey
-- Refused: 23505 failed_login_pkey, by primary key on access.failed_login.
-- Guesses at a password that are counted as one.
INSERT INTO access.failed_login OVERRIDING SYSTEM VALUE SELECT * FROM access.failed_login WHERE id = -1;

-- name: report_pkey
-- Refused: 23505 report_pkey, by primary key on safeguards.report.
-- The last proof might be shown for an older one.
INSERT INTO safeguards.report OVERRIDING SYSTEM VALUE SELECT * FROM safeguards.report WHERE id = -1;

-- name: report_kind_known
-- Refused: 23514 report_kind_known, by check on safeguards.report.
-- A proof of an unknown kind is shown nowhere.
UPDATE safeguards.report SET kind = 'guess' WHERE id = -1;
