"""The sentence for each reason code, in both languages: what happened, for a person at two in the morning.

Placeholders: {event} the event that came first, {entry} the entry it made, {payment} the reference; {seen},
{expected}, {remaining} amounts as the reader writes them; {reason} what an adapter could not read.
"""

from typing import Final

SENTENCES: Final[dict[str, tuple[str, str]]] = {
    # applied
    "payment_confirmed": (
        "Applied: this event confirmed the payment; its sale is entry {entry}.",
        "Aplicado: este evento confirmou o pagamento; a venda é o lançamento {entry}.",
    ),
    "refund_recorded": (
        "Applied: this refund was booked as entry {entry}.",
        "Aplicado: este estorno foi lançado como {entry}.",
    ),
    "chargeback_recorded": (
        "Applied: the disputed amount was withdrawn; entry {entry}.",
        "Aplicado: o valor contestado foi retirado; lançamento {entry}.",
    ),
    "chargeback_reversed": (
        "Applied: the dispute was won and the money came back; entry {entry}.",
        "Aplicado: a contestação foi vencida e o dinheiro voltou; lançamento {entry}.",
    ),
    "payment_expired": (
        "Applied: the charge expired or was withdrawn; it may still be paid later.",
        "Aplicado: a cobrança venceu ou foi retirada; ainda pode ser paga depois.",
    ),
    "accepted_by_person": (
        "Applied: a person accepted the amount that was really paid; its sale is entry {entry}.",
        "Aplicado: uma pessoa aceitou o valor realmente pago; a venda é o lançamento {entry}.",
    ),
    # duplicate
    "payment_already_confirmed": (
        "Ignored: this payment was already confirmed by {event}; its sale is entry {entry}.",
        "Ignorado: este pagamento já tinha sido confirmado por {event}; a venda é o lançamento {entry}.",
    ),
    "repeats_itself": (
        "Nothing to repair: this same event confirmed the payment; its sale is entry {entry}.",
        "Nada a reparar: este mesmo evento confirmou o pagamento; a venda é o lançamento {entry}.",
    ),
    "sale_already_posted": (
        "Ignored: the ledger already had the sale of this payment, entry {entry}; its state was repaired.",
        "Ignorado: o razão já tinha a venda deste pagamento, lançamento {entry}; o estado foi reparado.",
    ),
    "refund_already_recorded": (
        "Ignored: this refund is already in the ledger, entry {entry}; first told by {event}.",
        "Ignorado: este estorno já está no razão, lançamento {entry}; informado primeiro por {event}.",
    ),
    "covered_by_chargeback": (
        "Ignored: the money of this payment already went back in the chargeback opened by {event}.",
        "Ignorado: o dinheiro deste pagamento já voltou na contestação aberta por {event}.",
    ),
    "chargeback_already_recorded": (
        "Ignored: this dispute is already in the ledger, entry {entry}, opened by {event}.",
        "Ignorado: esta contestação já está no razão, lançamento {entry}, aberta por {event}.",
    ),
    "reversal_already_recorded": (
        "Ignored: the end of this dispute is already in the ledger, entry {entry}, told by {event}.",
        "Ignorado: o fim desta contestação já está no razão, lançamento {entry}, informado por {event}.",
    ),
    # ignored
    "moves_no_money": (
        "Ignored: events of this type move no money.",
        "Ignorado: eventos deste tipo não movem dinheiro.",
    ),
    "expired_unknown": (
        "Ignored: a charge expired that nobody registered here.",
        "Ignorado: venceu uma cobrança que ninguém registrou aqui.",
    ),
    "already_expired": (
        "Ignored: this payment had expired already.",
        "Ignorado: este pagamento já tinha vencido.",
    ),
    "expired_after_payment": (
        "Ignored: the charge expired, but the payment was confirmed before by {event}.",
        "Ignorado: a cobrança venceu, mas o pagamento já tinha sido confirmado por {event}.",
    ),
    "dismissed_by_person": (
        "Ignored: a person looked at it and dismissed it.",
        "Ignorado: uma pessoa analisou e dispensou o evento.",
    ),
    # unmatched, waiting
    "payment_unknown": (
        "Unmatched: no payment is registered under these names yet. It is applied as soon as one is.",
        "Sem pagamento: nenhum pagamento foi registrado com estes nomes. Será aplicado assim que houver um.",
    ),
    "refund_before_payment": (
        "Waiting: this refund came before its payment was confirmed. Both apply when the confirmation comes.",
        "Aguardando: este estorno chegou antes da confirmação do pagamento. Ambos valerão quando ela chegar.",
    ),
    "chargeback_before_payment": (
        "Waiting: this dispute came before its payment was confirmed.",
        "Aguardando: esta contestação chegou antes da confirmação do pagamento.",
    ),
    "reversal_before_chargeback": (
        "Waiting: the end of a dispute came before its beginning.",
        "Aguardando: o fim de uma contestação chegou antes do início.",
    ),
    # review
    "amount_differs": (
        "For review: the provider says {seen}, but {expected} was expected. Nothing was posted; a person decides.",
        "Em revisão: o provedor diz {seen}, mas o esperado era {expected}. Nada foi lançado; uma pessoa decide.",
    ),
    "currency_differs": (
        "For review: the provider says {seen}, but the payment is in {expected}. Nothing was posted.",
        "Em revisão: o provedor diz {seen}, mas o pagamento é em {expected}. Nada foi lançado.",
    ),
    "second_charge": (
        "For review: another charge with the same reference was paid. Perhaps the customer really paid twice.",
        "Em revisão: outra cobrança com a mesma referência foi paga. Talvez o cliente tenha mesmo pago duas vezes.",
    ),
    "names_of_two_payments": (
        "For review: the names in this event belong to different payments.",
        "Em revisão: os nomes neste evento pertencem a pagamentos diferentes.",
    ),
    "reference_taken": (
        "For review: it could not be registered, since its reference belongs to another payment.",
        "Em revisão: não pôde ser registrado, pois a referência pertence a outro pagamento.",
    ),
    "refund_exceeds_payment": (
        "For review: the refunds would come to {seen}, more than remains ({remaining}). Nothing was posted.",
        "Em revisão: os estornos chegariam a {seen}, mais do que resta ({remaining}). Nada foi lançado.",
    ),
    "chargeback_exceeds_payment": (
        "For review: {seen} is disputed, more than remains ({remaining}); perhaps it was refunded. Nothing was posted.",
        "Em revisão: {seen} foi contestado, mais do que resta ({remaining}); talvez já estornado. Nada foi lançado.",
    ),
    "chargeback_after_refund": (
        "For review: a dispute without an amount, after a partial refund. A person must say how much it is about.",
        "Em revisão: contestação sem valor, depois de um estorno parcial. Uma pessoa precisa dizer de quanto se trata.",
    ),
    "second_dispute": (
        "For review: another dispute of this payment is still open, from {event}.",
        "Em revisão: outra contestação deste pagamento ainda está aberta, de {event}.",
    ),
    "refund_failed_at_provider": (
        "For review: the provider says that a refund failed. If it is booked, post a correction.",
        "Em revisão: o provedor diz que um estorno falhou. Se foi lançado, faça a correção.",
    ),
    "payment_of_a_reusable_link": (
        "For review: paid through a reusable link that names no single payment. A person must say what it pays.",
        "Em revisão: pago por um link reutilizável, que não identifica um pagamento. Uma pessoa diz o que ele paga.",
    ),
    "cash_receipt_undone": (
        "For review: a manual receipt in cash was undone at the provider. If it is booked, post a correction.",
        "Em revisão: um recebimento em dinheiro foi desfeito no provedor. Se foi lançado, faça a correção.",
    ),
    # test, failed, unreadable
    "test_traffic": (
        "Test: the provider's test traffic on a live endpoint is kept, never booked.",
        "Teste: o tráfego de teste do provedor num endpoint de produção é guardado, nunca lançado.",
    ),
    "error_of_ours": (
        "Failed: an error of ours, after several tries. Re-deliver it once the cause is mended.",
        "Falhou: um erro nosso, depois de várias tentativas. Reprocesse quando a causa for corrigida.",
    ),
    "unreadable": (
        "Unreadable: authentic, but not understood ({reason}). Nothing was posted; the bytes are kept.",
        "Ilegível: autêntico, mas não compreendido ({reason}). Nada foi lançado; os bytes estão guardados.",
    ),
    "received": (
        "Received: stored and queued; it is about to be decided.",
        "Recebido: guardado e na fila; será decidido em instantes.",
    ),
}


def sentence(status: str, reason: str, *, portuguese: bool) -> str:
    """The sentence for a decision, with its placeholders; an adapter's own unreadable codes share one."""
    both = SENTENCES["unreadable"] if status == "unreadable" else SENTENCES[reason]
    return both[1] if portuguese else both[0]
