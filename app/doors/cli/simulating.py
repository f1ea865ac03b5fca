"""`razao simulate`: a PSP on your desk, aimed at one of your endpoints or at any address."""

import json
import secrets
import time

import click

from app.base.db import statements, transaction
from app.base.errors import Refusal
from app.doors.cli import context
from app.doors.cli.demo import run_demo
from app.intake import endpoints
from app.intake.endpoints import Endpoint
from app.payments.registering import Registration, register
from app.providers import registry
from app.simulator.psp import Payment, Psp, Summary, burst, invent


@click.command()
@click.option(
    "--endpoint", "slug", help="One of your endpoints: its secret signs, and its payments are registered first."
)
@click.option("--provider", type=click.Choice(sorted(registry.PROVIDERS)), help="Without --endpoint: whose protocol.")
@click.option("--secret", help="Without --endpoint: what signs.")
@click.option("--url-token", help="Without --endpoint: the token in the URL.")
@click.option("--url", help="Where to call; default: the running service, or with --provider the whole address.")
@click.option("--payments", type=click.IntRange(1, 100_000), default=40, show_default=True)
@click.option(
    "--amount", type=click.IntRange(1), default=4990, show_default=True, help="Of each payment, in minor units."
)
@click.option(
    "--repeat", type=click.IntRange(1, 50), default=2, show_default=True, help="Deliveries of each event, at once."
)
@click.option("--parallel", type=click.IntRange(1, 256), default=8, show_default=True, help="Connections.")
@click.option("--shuffle/--in-order", default=True, show_default=True)
@click.option("--forge", type=click.IntRange(0), default=0, help="Calls with a false signature.")
@click.option("--refund", type=click.IntRange(0), default=0, help="How many payments are refunded afterwards.")
@click.option(
    "--register/--no-register", "registers", default=True, help="Register the payments first, or let them be unknown."
)
@click.option("--seed", help="The same seed tells of the same payments again; default: new ones.")
@click.option("--demo", is_flag=True, help="Gentle traffic to every demo endpoint, until stopped.")
@click.option("--json", "as_json", is_flag=True, help="Machine output.")
def simulate(
    slug: str | None, provider: str | None, secret: str | None, url_token: str | None, url: str | None, payments: int,
    amount: int, repeat: int, parallel: int, shuffle: bool, forge: int, refund: int, registers: bool, seed: str | None,
    demo: bool, as_json: bool,
) -> None:  # fmt: skip
    """Send signed events as a provider does: pairs, twice at once, out of order, again until a 2xx."""
    if demo:
        run_demo(url)
        return
    if bool(slug) == bool(provider):
        raise click.UsageError("give --endpoint SLUG, or --provider NAME with --url")
    seed = seed or f"sim-{secrets.token_hex(4)}"
    if slug:
        psp, invented = _at_own_endpoint(slug, url, payments, amount, seed, registers=registers)
    else:
        if not url:
            raise click.UsageError("--provider needs the whole address in --url")
        assert provider is not None
        psp, invented = Psp(provider, url, secret, url_token), invent(provider, payments, seed=seed, amount=amount)
    started = time.monotonic()
    summary = burst(psp, invented, repeat=repeat, parallel=parallel, shuffle=shuffle, forgeries=forge, refunds=refund)
    _show(summary, seed, time.monotonic() - started, as_json=as_json)


def _at_own_endpoint(
    slug: str, url: str | None, count: int, amount: int, seed: str, *, registers: bool
) -> tuple[Psp, list[Payment]]:
    with context.running() as runtime:
        with statements() as conn:
            endpoint = endpoints.load(conn, runtime.vault).get(slug)
        if endpoint is None:
            raise Refusal("endpoint_not_found", f"There is no endpoint {slug!r}; see razao endpoint list.")
        invented = invent(endpoint.provider, count, seed=seed, amount=amount)
        if registers:
            _expect_payments(endpoint, invented)
        base = url or f"http://{runtime.settings.host}:{runtime.settings.port}"
    return context.psp_for(endpoint, base), invented


def _expect_payments(endpoint: Endpoint, invented: list[Payment]) -> None:
    """Registers those payments; run in an app context."""
    for payment in invented:
        with transaction() as conn:
            register(
                conn,
                Registration(
                    payment.reference,
                    endpoint.id,
                    payment.amount,
                    "BRL",
                    provider_ref=payment.provider_ref,
                    source="api",
                ),
            )


def _show(summary: Summary, seed: str, seconds: float, *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"seed": seed, **summary.as_json()}))
        return
    click.echo(f"seed {seed}: {summary.deliveries} deliveries in {seconds:.1f} s")
    click.echo(f"  acknowledged {summary.acknowledged}, retries {summary.retries}, gave up {summary.gave_up}")
    click.echo(f"  forgeries refused {summary.forgeries_refused}, accepted {summary.forgeries_accepted}")
    click.echo("  answers: " + ", ".join(f"{count} x {status}" for status, count in sorted(summary.statuses.items())))
