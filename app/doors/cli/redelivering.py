"""`razao redeliver`: has stored events decided again, by id or by filter. Safe: what exists is not repeated."""

import json
from datetime import datetime

import click

from app.base.db import statements, transaction
from app.base.ids import Kind, parse, show
from app.confirmation.acting import redeliver as redeliver_event
from app.doors.cli import context
from app.intake import events as intake

STATUSES = ("unmatched", "waiting", "review", "unreadable", "failed", "duplicate", "ignored", "test", "applied")


@click.command()
@click.argument("event_ids", nargs=-1, metavar="EVENT_ID...")
@click.option("--status", type=click.Choice(STATUSES), help="Every event that stands so.")
@click.option("--endpoint", "slug", help="Of this endpoint only.")
@click.option("--since", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S%z"]), help="Received since then.")
@click.option("--reason", help="Kept in the audit record.")
@click.option("--json", "as_json", is_flag=True, help="Machine output, one object a line.")
def redeliver(
    event_ids: tuple[str, ...],
    status: str | None,
    slug: str | None,
    since: datetime | None,
    reason: str | None,
    as_json: bool,
) -> None:
    """Have events decided again, as if they had just arrived."""
    if bool(event_ids) == bool(status or slug or since):
        raise click.UsageError("give event ids, or a filter: --status, --endpoint, --since")
    numbers = [_number(text) for text in event_ids]
    with context.running() as runtime:
        zone = runtime.settings.timezone
        if not numbers:
            since = since.replace(tzinfo=zone) if since and since.tzinfo is None else since
            with statements() as conn:
                numbers = intake.find_ids(conn, status=status, slug=slug, since=since)
        with click.progressbar(numbers, label="re-delivering", hidden=as_json or len(numbers) < 20) as progress:
            for number in progress:
                with transaction() as conn:
                    decision, _ = redeliver_event(conn, number, act=context.act(reason), zone=zone)
                if as_json or len(numbers) < 20:
                    said = {"event_id": show(Kind.EVENT, number), "status": decision.status, "reason": decision.reason}
                    click.echo(json.dumps(said) if as_json else "  ".join(said.values()))
    if not as_json:
        click.echo(f"{len(numbers)} event(s) re-delivered")


def _number(text: str) -> int:
    number = parse(Kind.EVENT, text)
    if number is None:
        raise click.UsageError(f"{text!r} is no event id; they look like evn_12")
    return number
