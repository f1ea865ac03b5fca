-- Each statement returns who does not fit: (id, what is wrong). None is as it should be. All run in one snapshot, and read only.
-- The comment says the rule as it holds, then, after `Otherwise:`, what it means when it does not, and what to do.

---------------------------------------------------------------------------------------------------------------------
-- ledger
---------------------------------------------------------------------------------------------------------------------

-- name: entries_balance
-- Rule 6. Every entry has at least two postings, and they sum to zero.
-- Otherwise: money appeared or vanished. Find out who changed the postings with the triggers off; restore these entries from a
-- backup.
SELECT 'ent_' || e.id, count(p.entry_id) || ' postings, which sum to ' || coalesce(sum(p.amount), 0)
FROM ledger.entry e
LEFT JOIN ledger.posting p ON p.entry_id = e.id
GROUP BY e.id
HAVING count(p.entry_id) < 2 OR sum(p.amount) <> 0;

-- name: entries_say_what_they_move
-- Rule 6. The amount that people read on an entry is what its postings move.
-- Otherwise: lists and reports show another amount than the accounts. Restore these entries from a backup.
SELECT 'ent_' || e.id, 'it says ' || e.amount || ' and moves ' || coalesce(sum(p.amount) FILTER (WHERE p.amount > 0), 0)
FROM ledger.entry e
LEFT JOIN ledger.posting p ON p.entry_id = e.id
WHERE e.kind <> 'adjustment'
GROUP BY e.id
HAVING abs(e.amount) <> coalesce(sum(p.amount) FILTER (WHERE p.amount > 0), 0);

-- name: entries_lie_in_their_currency
-- Rule 6. Every posting lies in an account of its entry's currency.
-- Otherwise: two currencies were added up. Restore these entries from a backup.
SELECT 'ent_' || e.id, 'line ' || p.line || ' is in ' || a.currency || ', the entry in ' || e.currency
FROM ledger.posting p
JOIN ledger.entry e ON e.id = p.entry_id
JOIN ledger.account a ON a.id = p.account_id
WHERE a.currency <> e.currency;

-- name: postings_have_entry_and_account
-- Rule 6. Every posting belongs to an entry and to an account that exist.
-- Otherwise: money moves that no list shows. Restore what is missing from a backup.
SELECT 'ent_' || p.entry_id,
       'line ' || p.line || CASE WHEN e.id IS NULL THEN ' has no entry' ELSE ' is on account ' || p.account_id || ', which is not there' END
FROM ledger.posting p
LEFT JOIN ledger.entry e ON e.id = p.entry_id
LEFT JOIN ledger.account a ON a.id = p.account_id
WHERE e.id IS NULL OR a.id IS NULL;

-- name: balances_equal_postings
-- Rule 7. What we owe on every wallet and to every partner is the sum of the postings there.
-- Otherwise: somebody can spend money that he does not have, or cannot spend what he has. Trust the postings: set the balance
-- to them.
SELECT a.code || ' (' || a.currency || ')',
       'the balance says ' || coalesce(b.owed::text, 'nothing') || ', the postings say ' || -coalesce(p.total, 0)
FROM ledger.account a
LEFT JOIN ledger.balance b ON b.account_id = a.id
LEFT JOIN (SELECT account_id, sum(amount) AS total FROM ledger.posting GROUP BY account_id) p ON p.account_id = a.id
WHERE a.type = 'liability' AND b.owed IS DISTINCT FROM -coalesce(p.total, 0);

-- name: movements_equal_postings
-- Rule 7. What was appended for every other account and month is the sum of the postings there.
-- Otherwise: reports by month differ from the entries. Trust the postings: replace these months' movements by their sums.
SELECT a.code || ' (' || a.currency || ') in ' || to_char(period, 'YYYY-MM'),
       'the movements say ' || coalesce(m.debit, 0) || ' in ' || coalesce(m.postings, 0) || ' postings, the postings say '
           || coalesce(p.debit, 0) || ' in ' || coalesce(p.postings, 0)
FROM (SELECT account_id, period, sum(debit) AS debit, sum(postings) AS postings
      FROM ledger.movement GROUP BY account_id, period) m
FULL JOIN (SELECT p.account_id, e.period, sum(p.amount) AS debit, count(*) AS postings
           FROM ledger.posting p
           JOIN ledger.entry e ON e.id = p.entry_id
           JOIN ledger.account a ON a.id = p.account_id
           WHERE a.type <> 'liability'
           GROUP BY p.account_id, e.period) p USING (account_id, period)
LEFT JOIN ledger.account a ON a.id = account_id
WHERE a.type IS DISTINCT FROM 'liability' AND (m.debit, m.postings) IS DISTINCT FROM (p.debit, p.postings);

-- name: accounts_have_one_balance
-- Rule 7. Wallets and partners keep a balance and no movements; every other account movements and no balance.
-- Otherwise: an account's money is counted twice, or by nobody. Remove what does not belong; trust the postings.
SELECT a.code || ' (' || a.currency || ')', 'it is of type ' || a.type || ' and has a balance'
FROM ledger.balance b JOIN ledger.account a ON a.id = b.account_id WHERE a.type <> 'liability'
UNION ALL
SELECT DISTINCT a.code || ' (' || a.currency || ')', 'it is of type ' || a.type || ' and has movements'
FROM ledger.movement m JOIN ledger.account a ON a.id = m.account_id WHERE a.type = 'liability'
UNION ALL
SELECT DISTINCT 'account ' || m.account_id, 'it has movements and does not exist'
FROM ledger.movement m LEFT JOIN ledger.account a ON a.id = m.account_id WHERE a.id IS NULL;

-- name: wallets_above_floor
-- Rule 8. Every wallet has a floor, and holds no less.
-- Otherwise: a customer spent money that he does not have. See the wallet's statement; post an adjustment once you know why.
SELECT a.code || ' (' || a.currency || ')', 'it holds ' || b.owed || ', its floor is ' || coalesce(b.floor::text, 'missing')
FROM ledger.balance b
JOIN ledger.account a ON a.id = b.account_id
WHERE b.owed < b.floor OR (b.floor IS NULL AND starts_with(a.code, 'wallet:'));

---------------------------------------------------------------------------------------------------------------------
-- payments and their entries
---------------------------------------------------------------------------------------------------------------------

-- name: paid_payments_have_one_sale
-- Rule 2. Every payment that was paid has exactly one sale, of its amount and currency.
-- Otherwise: money that came is not in the books, or is there twice. Re-deliver the event that paid it; a second sale needs an
-- adjustment.
SELECT 'pmt_' || p.id, 'it is ' || p.status || ' and has ' || count(e.id) || ' sales, of ' || coalesce(sum(e.amount), 0) || ' for ' || p.amount
FROM payments.payment p
LEFT JOIN ledger.entry e ON e.payment_id = p.id AND e.kind = 'sale'
WHERE p.status NOT IN ('pending', 'expired')
GROUP BY p.id
HAVING count(e.id) <> 1 OR sum(e.amount) <> p.amount OR min(e.currency) <> p.currency;

-- name: sales_have_paid_payments
-- Rule 2. Every sale belongs to a payment that was paid.
-- Otherwise: the shop was never told that it is paid. Re-deliver the event of the sale: it repairs the payment's state.
SELECT 'ent_' || e.id, coalesce('its payment pmt_' || p.id || ' is ' || p.status, 'it belongs to no payment')
FROM ledger.entry e
LEFT JOIN payments.payment p ON p.id = e.payment_id
WHERE e.kind = 'sale' AND (p.id IS NULL OR p.status IN ('pending', 'expired'));

-- name: refunded_amount_is_its_refunds
-- Rule 4. What a payment says was refunded is the sum of its refunds, and of their entries.
-- Otherwise: more, or less, can be refunded than remains. Compare with the provider's statement; correct by an adjustment.
SELECT 'pmt_' || p.id,
       'it says ' || p.refunded_amount || ', its refunds ' || coalesce(r.total, 0) || ', their entries ' || coalesce(e.total, 0)
FROM payments.payment p
LEFT JOIN (SELECT payment_id, sum(amount) AS total FROM payments.refund GROUP BY payment_id) r ON r.payment_id = p.id
LEFT JOIN (SELECT payment_id, -sum(amount) AS total FROM ledger.entry WHERE kind = 'refund' GROUP BY payment_id) e
    ON e.payment_id = p.id
WHERE p.refunded_amount <> coalesce(r.total, 0) OR p.refunded_amount <> coalesce(e.total, 0);

-- name: charged_back_amount_is_open_disputes
-- Rule 4. What a payment says is charged back is what its open disputes hold.
-- Otherwise: money under dispute could be refunded too. Compare with the provider's statement.
SELECT 'pmt_' || p.id, 'it says ' || p.charged_back_amount || ', its open disputes ' || coalesce(c.total, 0)
FROM payments.payment p
LEFT JOIN (SELECT payment_id, sum(amount) AS total FROM payments.chargeback WHERE reversed_at IS NULL GROUP BY payment_id) c
    ON c.payment_id = p.id
WHERE p.charged_back_amount <> coalesce(c.total, 0);

-- name: status_follows_amounts
-- Rule 4. A payment's status is what its amounts imply.
-- Otherwise: the shop gives or takes goods by a status that the money does not bear out. Re-deliver its events; if that does
-- not mend it, ask us.
SELECT 'pmt_' || p.id, 'it is ' || p.status || ', its amounts say ' || i.status
FROM payments.payment p
CROSS JOIN LATERAL (
    SELECT CASE WHEN EXISTS (SELECT FROM payments.chargeback c WHERE c.payment_id = p.id AND c.reversed_at IS NULL) THEN 'charged_back'
                WHEN p.paid_at IS NULL AND p.refunded_amount = 0 THEN 'pending or expired'
                WHEN p.refunded_amount = 0 THEN 'paid'
                WHEN p.refunded_amount = p.amount THEN 'refunded'
                ELSE 'partially_refunded' END AS status) i
WHERE p.status <> i.status AND NOT (i.status = 'pending or expired' AND p.status IN ('pending', 'expired'));

-- name: refunds_have_entries
-- Rule 4. Every refund has its entry, of its amount, and every refund entry its refund.
-- Otherwise: money went back and the books do not show it, or the other way round. Compare with the provider's statement.
SELECT coalesce('rfd_' || r.id, 'ent_' || e.id),
       CASE WHEN e.id IS NULL THEN 'it has no entry' WHEN r.id IS NULL THEN 'it has no refund'
            ELSE 'it is of ' || r.amount || ' on pmt_' || r.payment_id || ', entry ent_' || e.id || ' of ' || e.amount END
FROM payments.refund r
FULL JOIN (SELECT id, refund_id, payment_id, amount FROM ledger.entry WHERE kind = 'refund') e ON e.refund_id = r.id
WHERE (r.payment_id, r.amount) IS DISTINCT FROM (e.payment_id, -e.amount);

-- name: claims_stay_within_refunds
-- Rule 4. What the provider named as refunds of a payment never exceeds what is booked as refunded, and is booked at that
-- payment.
-- Otherwise: the provider paid back more than the books show. Re-deliver the events of the claims.
SELECT 'pmt_' || c.payment_id,
       'the provider named ' || sum(c.amount) || ', booked are ' || coalesce(min(p.refunded_amount), 0)
           || CASE WHEN bool_and(r.id IS NOT NULL) THEN '' ELSE ', and a claim is on another payment''s refund' END
FROM payments.refund_claim c
LEFT JOIN payments.payment p ON p.id = c.payment_id
LEFT JOIN payments.refund r ON r.id = c.refund_id AND r.payment_id = c.payment_id
GROUP BY c.payment_id
HAVING sum(c.amount) > coalesce(min(p.refunded_amount), 0) OR NOT bool_and(r.id IS NOT NULL);

-- name: disputes_have_entries
-- Rule 3. Every dispute has its entry, and one that was won the entry that brings the money back; and the other way round.
-- Otherwise: disputed money is not in the books, or came back twice. Compare with the provider's statement.
WITH expected AS (
    SELECT payment_id, 'chargeback' AS kind, cycle::text AS party, -amount AS amount FROM payments.chargeback
    UNION ALL
    SELECT payment_id, 'chargeback_reversal', cycle::text, amount FROM payments.chargeback WHERE reversed_at IS NOT NULL
), posted AS (
    SELECT payment_id, kind, party, amount FROM ledger.entry WHERE kind IN ('chargeback', 'chargeback_reversal')
)
SELECT coalesce('pmt_' || payment_id, 'no payment'),
       kind || ' ' || party || ' should be ' || coalesce(x.amount::text, 'absent') || ', posted is ' || coalesce(e.amount::text, 'nothing')
FROM expected x
FULL JOIN posted e USING (payment_id, kind, party)
WHERE x.amount IS DISTINCT FROM e.amount;

-- name: commissions_follow_agreements
-- Rule 3. Every paid payment has for each partner the commission that was agreed, once; no commission was posted that nobody
-- agreed.
-- Otherwise: a partner is owed too much or too little. Correct it by an adjustment.
WITH agreed AS (
    SELECT c.payment_id, c.partner AS party,
           CASE WHEN c.amount IS NULL THEN p.amount::numeric * c.basis_points / 10000 ELSE least(c.amount, p.amount) END AS exact
    FROM payments.commission c
    JOIN payments.payment p ON p.id = c.payment_id
    WHERE p.status NOT IN ('pending', 'expired')
), owed AS (
    SELECT payment_id, party, floor(exact)::bigint AS amount FROM agreed WHERE floor(exact) > 0
), posted AS (
    SELECT payment_id, party, amount FROM ledger.entry WHERE kind = 'commission'
)
SELECT coalesce('pmt_' || payment_id, 'no payment'),
       party || ' should get ' || coalesce(o.amount::text, 'nothing') || ', posted is ' || coalesce(e.amount::text, 'nothing')
FROM owed o
FULL JOIN posted e USING (payment_id, party)
WHERE o.amount IS DISTINCT FROM e.amount;

-- name: commissions_come_back_in_proportion
-- Rule 3. Of each commission c, once r of a payment p is refunded, exactly c*r/p rounded down is taken back, so never more than
-- c.
-- Otherwise: a partner keeps money of a sale that was undone, or gives back more than he got. Correct it by an adjustment.
WITH commission AS (
    SELECT e.payment_id, e.party, floor(e.amount::numeric * p.refunded_amount / p.amount)::bigint AS amount
    FROM ledger.entry e
    JOIN payments.payment p ON p.id = e.payment_id
    WHERE e.kind = 'commission' AND p.refunded_amount > 0
), taken AS (
    SELECT payment_id, regexp_replace(party, '/[^/]*$', '') AS party, -sum(amount) AS amount
    FROM ledger.entry WHERE kind = 'commission_reversal' GROUP BY 1, 2
)
SELECT coalesce('pmt_' || payment_id, 'no payment'),
       party || ' should give back ' || coalesce(c.amount, 0) || ', gave ' || coalesce(t.amount, 0)
FROM commission c
FULL JOIN taken t USING (payment_id, party)
WHERE coalesce(c.amount, 0) <> coalesce(t.amount, 0);

-- name: fees_are_what_events_told
-- Rule 3. Every fee is the one that its event told.
-- Otherwise: the money that lies with the provider is not what the books say. Compare with the provider's statement.
SELECT 'ent_' || e.id, 'it is ' || e.amount || ', its event told ' || coalesce(v.fee::text, 'none')
FROM ledger.entry e
LEFT JOIN intake.event v ON v.id = e.event_id
WHERE e.kind = 'fee' AND v.fee IS DISTINCT FROM e.amount;

---------------------------------------------------------------------------------------------------------------------
-- events, decisions and effects
---------------------------------------------------------------------------------------------------------------------

-- name: applied_events_have_effects
-- Rule 2. Every event that stands as applied has its effect: its own entry, of the kind it speaks of; for an expiry, its payment.
-- Otherwise: support says "applied" and no money moved. Re-deliver the event.
SELECT 'evn_' || s.event_id, s.reason || CASE WHEN e.id IS NULL THEN ': its entry is not there' ELSE ': ent_' || e.id || ' is not its effect' END
FROM intake.standing s
LEFT JOIN ledger.entry e ON e.id = s.entry_id
LEFT JOIN payments.payment p ON p.id = s.payment_id
WHERE s.status = 'applied'
  AND NOT coalesce(CASE s.reason
        WHEN 'payment_expired' THEN p.id IS NOT NULL
        ELSE (e.event_id, e.payment_id) = (s.event_id, s.payment_id)
             AND e.kind = coalesce((SELECT kind FROM (VALUES
                     ('payment_confirmed', 'sale'), ('accepted_by_person', 'sale'), ('refund_recorded', 'refund'),
                     ('chargeback_recorded', 'chargeback'), ('chargeback_reversed', 'chargeback_reversal')) AS k (reason, kind)
                   WHERE k.reason = s.reason), e.kind)
        END, false);

-- name: effects_have_applied_events
-- Rule 2. Every sale, refund and dispute that an event made belongs to an event that stands as applied by it.
-- Otherwise: money moved, and the event that moved it says that it did not. Re-deliver the event.
SELECT 'ent_' || e.id, 'evn_' || e.event_id || coalesce(' stands as ' || s.status || ' (' || s.reason || ')', ' is undecided')
FROM ledger.entry e
LEFT JOIN intake.standing s ON s.event_id = e.event_id
WHERE e.event_id IS NOT NULL AND e.kind IN ('sale', 'refund', 'chargeback', 'chargeback_reversal')
  AND (s.status, s.entry_id) IS DISTINCT FROM ('applied', e.id);

-- name: standings_are_decided
-- Rule 11. Every event stands where one of its decisions put it, and one that was ever applied stands as applied.
-- Otherwise: the page shows another reason than the record of decisions. Trust the decisions; re-deliver the event.
SELECT 'evn_' || s.event_id, 'it stands as ' || s.status || ' (' || s.reason || '), which no decision says'
FROM intake.standing s
WHERE NOT EXISTS (SELECT FROM intake.decision d WHERE (d.event_id, d.status, d.reason) = (s.event_id, s.status, s.reason))
UNION ALL
SELECT DISTINCT 'evn_' || d.event_id, 'it was decided as ' || d.status || coalesce(' and stands as ' || s.status, ' and stands nowhere')
FROM intake.decision d
LEFT JOIN intake.standing s ON s.event_id = d.event_id
WHERE s.event_id IS NULL OR (d.status = 'applied' AND s.status <> 'applied');

-- name: events_are_delivered
-- Rule 1. Every event has a delivery, and of every delivery the exact bytes are kept, under their own hash.
-- Otherwise: what the provider signed cannot be shown. Restore the deliveries from a backup; ask the provider to send the event
-- again.
SELECT 'evn_' || e.id, 'it has no delivery'
FROM intake.event e
WHERE NOT EXISTS (SELECT FROM intake.delivery d WHERE d.event_id = e.id)
UNION ALL
SELECT 'dlv_' || d.id, 'its bytes have another hash'
FROM intake.delivery d WHERE d.body IS NOT NULL AND sha256(d.body) <> d.body_sha256
UNION ALL
SELECT 'dlv_' || d.id, 'its bytes are not kept'
FROM intake.delivery d
WHERE d.body IS NULL
  AND NOT EXISTS (SELECT FROM intake.delivery k
                  WHERE k.event_id = d.event_id AND k.body IS NOT NULL AND k.body_sha256 = d.body_sha256);

-- name: undecided_events_are_queued
-- Rule 1. Every event that nobody has decided is in the queue, and everything in the queue is an event.
-- Otherwise: a payment was acknowledged and will never be confirmed. Re-deliver these events.
SELECT 'evn_' || e.id, 'it is undecided and not in the queue'
FROM intake.event e
WHERE NOT EXISTS (SELECT FROM intake.standing s WHERE s.event_id = e.id)
  AND NOT EXISTS (SELECT FROM intake.queue q WHERE q.event_id = e.id)
UNION ALL
SELECT 'evn_' || q.event_id, 'it is in the queue and does not exist'
FROM intake.queue q
WHERE NOT EXISTS (SELECT FROM intake.event e WHERE e.id = q.event_id);

---------------------------------------------------------------------------------------------------------------------
-- what is owed to the shop
---------------------------------------------------------------------------------------------------------------------

-- name: paid_payments_are_told
-- Rule 10. For every payment that was paid, the shop is owed the message that says so; for a top-up also that its wallet was
-- credited.
-- Otherwise: the shop does not know that it was paid. Tell it by hand, then find out how the message was lost.
SELECT 'pmt_' || p.id, wanted.type || ' is missing'
FROM payments.payment p
CROSS JOIN (VALUES ('payment.paid'), ('wallet.credited')) AS wanted (type)
WHERE p.status NOT IN ('pending', 'expired') AND (wanted.type = 'payment.paid' OR p.wallet IS NOT NULL)
  AND NOT EXISTS (SELECT FROM outbox.message m WHERE m.type = wanted.type AND m.subject = 'pmt_' || p.id);

-- name: money_back_is_told
-- Rule 10. For every refund and every dispute, the shop is owed its message.
-- Otherwise: the shop delivers what was paid back. Tell it by hand, then find out how the message was lost.
SELECT 'rfd_' || r.id, 'payment.refunded or payment.partially_refunded is missing'
FROM payments.refund r
WHERE NOT EXISTS (SELECT FROM outbox.message m
                  WHERE m.type IN ('payment.refunded', 'payment.partially_refunded')
                    AND m.subject = 'pmt_' || r.payment_id || '/rfd_' || r.id)
UNION ALL
SELECT 'pmt_' || c.payment_id, wanted.type || ' of dispute ' || c.cycle || ' is missing'
FROM payments.chargeback c
CROSS JOIN (VALUES ('payment.charged_back'), ('payment.chargeback_reversed')) AS wanted (type)
WHERE (wanted.type = 'payment.charged_back' OR c.reversed_at IS NOT NULL)
  AND NOT EXISTS (SELECT FROM outbox.message m
                  WHERE m.type = wanted.type AND m.subject = 'pmt_' || c.payment_id || '/' || c.cycle);

-- name: promised_access_is_given
-- Rule 2. Every payment that was paid and promises access has given it, and told; no access was given by an unpaid payment.
-- Otherwise: somebody paid and stands before a closed door, or the other way round. Re-deliver the event that paid it: that
-- restores access.
SELECT 'pmt_' || p.id, CASE WHEN g.id IS NULL THEN 'the access is missing' ELSE 'grant.created is missing' END
FROM payments.payment p
LEFT JOIN payments.access_grant g
    ON (g.payment_id, g.subject, g.resource) = (p.id, p.grant_subject, p.grant_resource)
WHERE p.status NOT IN ('pending', 'expired') AND p.grant_subject IS NOT NULL
  AND (g.id IS NULL
       OR NOT EXISTS (SELECT FROM outbox.message m WHERE m.type = 'grant.created' AND m.subject = 'pmt_' || p.id))
UNION ALL
SELECT 'grt_' || g.id, coalesce('pmt_' || p.id || ' is ' || p.status, 'its payment is not there')
FROM payments.access_grant g
LEFT JOIN payments.payment p ON p.id = g.payment_id
WHERE p.id IS NULL OR p.status IN ('pending', 'expired');

---------------------------------------------------------------------------------------------------------------------
-- orphans: what points to something that is not there, where no foreign key stands (docs/decisions/0004)
---------------------------------------------------------------------------------------------------------------------

-- name: nothing_is_orphaned
-- Everything that is named exists: endpoints, events, payments, entries, refunds.
-- Otherwise: something was deleted by hand, or a restore is incomplete. Restore what is missing from a backup.
SELECT 'evn_' || e.id, 'endpoint ' || e.endpoint_id || ' is not there'
FROM intake.event e LEFT JOIN intake.endpoint p ON p.id = e.endpoint_id WHERE p.id IS NULL
UNION ALL
SELECT 'name ' || n.value, 'endpoint ' || n.endpoint_id || ' is not there'
FROM payments.name n LEFT JOIN intake.endpoint p ON p.id = n.endpoint_id WHERE p.id IS NULL
UNION ALL
SELECT 'claim ' || c.provider_refund_id, 'endpoint ' || c.endpoint_id || ' is not there'
FROM payments.refund_claim c LEFT JOIN intake.endpoint p ON p.id = c.endpoint_id WHERE p.id IS NULL
UNION ALL
SELECT 'ent_' || e.id, 'evn_' || e.event_id || ' is not there'
FROM ledger.entry e LEFT JOIN intake.event v ON v.id = e.event_id WHERE e.event_id IS NOT NULL AND v.id IS NULL
UNION ALL
SELECT 'ent_' || e.id, 'pmt_' || e.payment_id || ' is not there'
FROM ledger.entry e LEFT JOIN payments.payment p ON p.id = e.payment_id WHERE e.payment_id IS NOT NULL AND p.id IS NULL
UNION ALL
SELECT 'ent_' || e.id, 'rfd_' || e.refund_id || ' is not there'
FROM ledger.entry e LEFT JOIN payments.refund r ON r.id = e.refund_id WHERE e.refund_id IS NOT NULL AND r.id IS NULL
UNION ALL
SELECT 'pmt_' || p.id, 'evn_' || p.paid_by_event || ', which paid it, is not there'
FROM payments.payment p LEFT JOIN intake.event v ON v.id = p.paid_by_event WHERE p.paid_by_event IS NOT NULL AND v.id IS NULL
UNION ALL
SELECT 'decision ' || d.id || ' of evn_' || d.event_id,
       CASE WHEN p.id IS NULL AND d.payment_id IS NOT NULL THEN 'pmt_' || d.payment_id
            WHEN v.id IS NULL AND d.caused_by IS NOT NULL THEN 'evn_' || d.caused_by
            ELSE 'ent_' || d.entry_id END || ' is not there'
FROM intake.decision d
LEFT JOIN payments.payment p ON p.id = d.payment_id
LEFT JOIN intake.event v ON v.id = d.caused_by
LEFT JOIN ledger.entry e ON e.id = d.entry_id
WHERE (d.payment_id IS NOT NULL AND p.id IS NULL) OR (d.caused_by IS NOT NULL AND v.id IS NULL)
   OR (d.entry_id IS NOT NULL AND e.id IS NULL);
