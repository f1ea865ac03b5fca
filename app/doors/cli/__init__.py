"""The door of the shell: `razao`. Errors are one clear line on standard error; exit 2 for bad usage, 1 for failure."""

import sys

import click

from app import __version__
from app.base.db import DatabaseUnavailable
from app.base.errors import ConfigurationError, Refusal
from app.doors.cli.access import api_key, user
from app.doors.cli.endpoint import endpoint
from app.doors.cli.proving import doctor, verify
from app.doors.cli.redelivering import redeliver
from app.doors.cli.serving import migrate, serve, web, worker
from app.doors.cli.simulating import simulate

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="razao")
def razao() -> None:
    """Stands between payment providers and your shop: each payment confirmed exactly once."""


for command in (serve, web, worker, migrate, endpoint, api_key, user, doctor, verify, redeliver, simulate):
    razao.add_command(command)


def main() -> None:
    """Runs the command line and exits."""
    try:
        code = razao.main(prog_name="razao", standalone_mode=False)
    except click.UsageError as error:
        where = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        _fail(error.format_message() + where, 2)
    except (Refusal, ConfigurationError, DatabaseUnavailable, click.ClickException) as error:
        _fail(error.format_message() if isinstance(error, click.ClickException) else str(error), 1)
    except (click.Abort, KeyboardInterrupt):
        _fail("interrupted", 1)
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> None:
    click.echo(f"error: {' '.join(message.split())}", err=True)
    sys.exit(code)
