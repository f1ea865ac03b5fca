"""The demonstration: one endpoint for each bundled provider, sample payments, and traffic that shows every decision."""

import random
import secrets
import signal
import threading
from typing import Final

import httpx

from app.base.db import statements, transaction
from app.base.runtime import Runtime
from app.doors.cli import context
from app.intake import endpoints
from app.intake.endpoints import Endpoint
from app.payments.registering import Registration, register
from app.payments.state import Commission
from app.providers import registry
from app.providers.contract import Secret
from app.providers.samples import SAMPLES
from app.simulator.psp import Payment, burst, case_of, invent

PREFIX: Final = "demo-"
_PRICES: Final = (4990, 9900, 19900, 2500, 14990, 100_00)
_PEOPLE: Final = ("ana", "bruno", "carla", "davi", "elisa")
_PAUSE_SECONDS: Final = 2.0
_CHAPTERS: Final = 200  # then it has shown enough, and stays quiet


def demo_login() -> str:
    """The demonstration's password for admin: new for each data directory, easy to type."""
    return f"demo-{secrets.token_hex(4)}"


def prepare_demo(runtime: Runtime) -> None:
    """Adds the endpoint of each bundled provider, if it is missing; in an app context."""
    with transaction() as conn:
        known = endpoints.load(conn, runtime.vault)
        for provider in sorted(registry.PROVIDERS):
            slug = PREFIX + provider
            if slug not in known:
                adapter = registry.PROVIDERS[provider]
                given = [Secret("default", secrets.token_urlsafe(24))] if adapter.NEEDS_SECRET else []
                token = secrets.token_urlsafe(24) if adapter.NEEDS_URL_TOKEN else None
                endpoints.add(
                    conn, runtime.vault, slug=slug, provider=provider, secrets=given, url_token=token,
                    unmatched="hold", options={},
                )  # fmt: skip


def run_demo(url: str | None) -> None:
    """Tells a story every few seconds at each demo endpoint: pairs, repeats, forgeries, strangers, late refunds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the supervisor, which then ends this politely
    with context.running() as runtime:
        base = (url or f"http://{runtime.settings.host}:{runtime.settings.port}").rstrip("/")
        with statements() as conn:
            found = [one for slug, one in endpoints.load(conn, runtime.vault).items() if slug.startswith(PREFIX)]
        _wait_for(base)
        chooser = random.Random()  # noqa: S311  a story, not a secret
        pause = threading.Event()
        for chapter in range(_CHAPTERS):
            for endpoint in found:
                _tell(endpoint, base, chapter, chooser)
            pause.wait(_PAUSE_SECONDS if chapter else 0)
        pause.wait()


def _tell(endpoint: Endpoint, base: str, chapter: int, chooser: random.Random) -> None:
    psp = context.psp_for(endpoint, base)
    seed = f"pedido-{secrets.token_hex(3)}"
    payments = invent(endpoint.provider, 3, seed=seed, amount=chooser.choice(_PRICES))
    for payment in payments:
        _expect(endpoint, payment, chooser)
    burst(psp, payments, repeat=2, parallel=4, forgeries=1, refunds=1 if chapter % 3 == 1 else 0, chooser=chooser)
    samples = SAMPLES[endpoint.provider]
    oddities: list[bytes | None] = [
        samples.informational(case_of(endpoint.provider, payments[0])),
        samples.paid(case_of(endpoint.provider, invent(endpoint.provider, 1, seed=f"{seed}-x", amount=3000)[0]))[0]
        if chapter % 4 == 0
        else None,  # nobody registered this one
        b"<html>not what was promised</html>" if chapter % 5 == 2 else None,
    ]
    with httpx.Client(timeout=30) as client:
        for body in filter(None, oddities):
            psp.deliver(client, body)


def _expect(endpoint: Endpoint, payment: Payment, chooser: random.Random) -> None:
    person = chooser.choice(_PEOPLE)
    kind = chooser.random()
    with transaction() as conn:
        register(
            conn,
            Registration(
                payment.reference, endpoint.id, payment.amount, "BRL", provider_ref=payment.provider_ref,
                wallet=person if kind < 0.3 else None,
                grant=(person, "curso-de-python") if kind >= 0.7 else None,
                commissions=(Commission(chooser.choice(_PEOPLE), None, 1000),) if kind >= 0.5 else (),
                source="api",
            ),
        )  # fmt: skip


def _wait_for(base: str) -> None:
    """Until the web half answers; it was started a moment ago."""
    pause = threading.Event()
    for _ in range(100):
        try:
            if httpx.get(f"{base}/webhooks/", timeout=2).status_code:
                return
        except httpx.HTTPError:
            pause.wait(0.1)
