"""`razao doctor` and `razao verify`: exit 0 when all holds, 1 when not."""

import json
import sys
from typing import Literal

import click

from app.base.db import transaction
from app.doors.cli import context
from app.safeguards import doctor as doctor_module
from app.safeguards import reports
from app.safeguards import verify as verify_module
from app.safeguards.report import Report


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Machine output.")
def doctor(as_json: bool) -> None:
    """Try to violate every rule, in transactions that are rolled back, and see each one refused."""
    with context.running() as runtime:
        _show("doctor", doctor_module.examine(runtime), as_json=as_json)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Machine output.")
def verify(as_json: bool) -> None:
    """Recompute every balance and check every effect, in one snapshot of the database."""
    with context.running() as runtime:
        _show("verify", verify_module.verify(runtime), as_json=as_json)


def _show(kind: Literal["doctor", "verify"], report: Report, *, as_json: bool) -> None:
    with transaction() as conn:
        reports.save(conn, kind, report)
    if as_json:
        click.echo(json.dumps(report.as_json()))
    else:
        for finding in report.findings:
            click.echo(f"{'ok  ' if finding.holds else 'FAIL'}  {finding.name}: {finding.sentence}")
        failed = sum(not finding.holds for finding in report.findings)
        click.echo(f"{len(report.findings) - failed} hold, {failed} do not")
    if not report.holds:
        sys.exit(1)
