"""Whatever arrives: verify raises nothing but Rejected, read raises nothing and answers storable readings."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.providers import registry
from app.providers.contract import Call, Config, Rejected, Secret
from app.providers.fields import is_clean
from app.providers.samples import SAMPLES, Case

NOW = datetime(2026, 9, 1, tzinfo=UTC)
quick = settings(
    max_examples=120, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
each = pytest.mark.parametrize("name", sorted(registry.PROVIDERS))

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3), max_leaves=6
)  # fmt: skip
headers = st.lists(
    st.tuples(
        st.sampled_from(
            ["asaas-access-token", "stripe-signature", "x-webhook-signature", "x-webhook-secret", "content-type", "content-encoding"]
        ),
        st.text(max_size=30) | st.sampled_from(["gzip", "deflate", "t=1,v1=00", "text/json; charset=utf-16", "charset=0"]),
    ),
    max_size=5,
)  # fmt: skip
queries = st.lists(st.tuples(st.sampled_from(["token", "webhookSecret"]), st.text(max_size=8)), max_size=3)


def read(name, call):
    readings = registry.get(name).read(call, Config(secrets=()))
    assert readings
    for reading in readings:
        assert reading.key
        for text in (reading.key, reading.type, *reading.references, reading.merchant_reference or ""):
            assert is_clean(text)
    return readings


@each
@quick
@given(body=st.binary(max_size=200), sent=headers, query=queries)
def test_any_bytes(name, body, sent, query):
    call = Call(body=body, headers=tuple(sent), query=tuple(query), received_at=NOW)
    read(name, call)
    config = Config(
        secrets=(Secret("a", "s"), Secret("b", "ç\ud800"), Secret("platform", "p"), Secret("connect", "c")),
        url_token="t",
    )
    with pytest.raises(Rejected):
        registry.authenticate(registry.get(name), call, config)


def _events(name):
    samples = SAMPLES[name]
    case = Case(payment_id="pay_1", amount=4990, occurred_at=NOW, seed="s", merchant_reference="o")
    built = [*samples.paid(case), samples.refunded(case, amount=4990, total=4990), samples.chargeback_opened(case)]
    return [json.loads(body) for body in built if body is not None]


def _spots(value, path=()):
    yield path
    for key, inner in value.items() if isinstance(value, dict) else ():
        yield from _spots(inner, (*path, key))


@each
@quick
@given(data=st.data())
def test_any_json_in_any_place_of_a_true_event(name, data):
    event = data.draw(st.sampled_from(_events(name)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([spot for spot in _spots(event) if spot]))
        *front, last = path
        inner = event
        for key in front:
            inner = inner[key]
        inner[last] = data.draw(values)
    body = json.dumps(event).encode()
    readings = read(name, Call(body=body, headers=(), query=(), received_at=NOW))
    assert readings == read(name, Call(body=body, headers=(), query=(), received_at=NOW))
