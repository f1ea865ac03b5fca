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
from app.safeguards.report import Finding, Report


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
    if as_json:
        click.echo(json.dumps(report.as_json()))
    else:
        for finding in report.findings:
            _print(finding)
        failed = sum(finding.fails for finding in report.findings)
        click.echo(f"{len(report.findings) - failed} hold, {failed} do not")
    with transaction() as conn:  # after it was shown: a report that cannot be kept was seen at least
        reports.save(conn, kind, report)
    if not report.holds:
        sys.exit(1)


def _print(finding: Finding) -> None:
    mark = "ok  " if finding.holds else "FAIL" if finding.fails else "note"
    rule = f" (rule {finding.rule})" if finding.rule else ""
    click.echo(f"{mark}  {finding.name}{rule}: {finding.sentence}")
    if not finding.holds:
        for line in finding.detail:
            click.echo(f"        {line}")
