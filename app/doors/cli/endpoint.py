"""`razao endpoint`: add, list, rotate, disable."""

import json
import re
from typing import Final

import click

from app.access.audit import record
from app.base.db import statements, transaction
from app.base.errors import ConfigurationError
from app.doors.cli import context
from app.intake import endpoints
from app.providers import registry
from app.providers.contract import Secret

DEFAULT_LABEL: Final = "default"
_LABELLED: Final = re.compile(r"(?P<label>[A-Za-z][A-Za-z0-9_.-]{0,62})=(?P<value>.*[^=].*)", re.DOTALL)


@click.group()
def endpoint() -> None:
    """The addresses that providers call."""


@endpoint.command("add")
@click.argument("slug")
@click.option("--provider", required=True, help=f"One of: {', '.join(sorted(registry.PROVIDERS))}.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="[LABEL=]VALUE",
    help="What proves a call; several may be active. - reads it from standard input.",
)
@click.option("--url-token", help="A second factor in the URL that you give the provider. - reads standard input.")
@click.option(
    "--unmatched", type=click.Choice(["hold", "register"]), default="hold", show_default=True,
    help="What to do with paid payments that nobody registered.",
)  # fmt: skip
@click.option("--option", "options", multiple=True, metavar="K=V", help="For example mode=test for a sandbox.")
def add(
    slug: str, provider: str, secrets: tuple[str, ...], url_token: str | None, unmatched: str, options: tuple[str, ...]
) -> None:
    """Add the endpoint /webhooks/SLUG."""
    given = dict(_option(text) for text in options)
    parsed = [parse_secret(text) for text in secrets]
    with context.running() as runtime, transaction() as conn:
        endpoints.add(
            conn, runtime.vault, slug=slug, provider=provider, secrets=parsed,
            url_token=_from_stdin(url_token) if url_token else None, unmatched=unmatched, options=given,
        )  # fmt: skip
        record(conn, context.act(), "endpoint.add", f"endpoint:{slug}", {"provider": provider})
    click.echo(f"endpoint {slug} added: give {provider} the URL https://<your host>/webhooks/{slug}")


@endpoint.command("list")
@click.option("--json", "as_json", is_flag=True, help="Machine output.")
def list_(as_json: bool) -> None:
    """List the endpoints; secrets are never shown, only their labels."""
    with context.running() as runtime, statements() as conn:
        found = endpoints.load(conn, runtime.vault)
    rows = [
        {
            "slug": one.slug,
            "provider": one.provider,
            "status": "disabled" if one.disabled else "active",
            "unmatched": one.unmatched,
            "secrets": [secret.label for secret in one.config.secrets],
            "url_token": one.config.url_token is not None,
            "options": dict(one.config.options),
        }
        for one in found.values()
    ]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        labels = ", ".join(row["secrets"]) or "no secret"  # type: ignore[arg-type]
        click.echo(f"{row['slug']}\t{row['provider']}\t{row['status']}\t{row['unmatched']}\t{labels}")


@endpoint.command("rotate")
@click.argument("slug")
@click.option(
    "--secret", "secrets", multiple=True, metavar="[LABEL=]VALUE", help="The new secret. - reads standard input."
)
@click.option("--retire", is_flag=True, help="End the old secrets: of each label only the newest stays.")
def rotate(slug: str, secrets: tuple[str, ...], retire: bool) -> None:
    """Add a new secret beside the old one; both are valid until --retire."""
    if not secrets and not retire:
        raise click.UsageError("give the new secret with --secret, or end the old ones with --retire")
    parsed = [parse_secret(text) for text in secrets]
    with context.running() as runtime, transaction() as conn:
        if parsed:
            endpoints.rotate(conn, runtime.vault, slug=slug, secrets=parsed)
        ended = endpoints.retire_old(conn, slug=slug) if retire else []
        detail = {"added": [secret.label for secret in parsed], "retired": ended}
        record(conn, context.act(), "endpoint.rotate", f"endpoint:{slug}", detail)
    if parsed:
        click.echo(f"endpoint {slug}: {len(parsed)} secret(s) added")
    if retire:
        click.echo(f"endpoint {slug}: {len(ended)} old secret(s) ended")


@endpoint.command("disable")
@click.argument("slug")
def disable(slug: str) -> None:
    """Answer 404 at this endpoint from now on."""
    with context.running(), transaction() as conn:
        endpoints.disable(conn, slug=slug)
        record(conn, context.act(), "endpoint.disable", f"endpoint:{slug}")
    click.echo(f"endpoint {slug} is disabled")


def parse_secret(text: str) -> Secret:
    """`LABEL=VALUE` or a bare value; `-` as the value is read from standard input."""
    match = _LABELLED.fullmatch(text)
    label, value = (match["label"], match["value"]) if match else (DEFAULT_LABEL, text)
    return Secret(label, _from_stdin(value))


def _from_stdin(value: str) -> str:
    if value != "-":
        return value
    line = context.first_line_of_stdin()
    if line is None:
        raise ConfigurationError("nothing came on standard input; pipe the secret in")
    return line


def _option(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise click.UsageError(f"--option takes K=V, not {text!r}")
    return key, value
