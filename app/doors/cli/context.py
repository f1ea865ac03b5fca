"""What commands share: the runtime from the environment, an app context, who acts, the provider of an endpoint."""

import getpass
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from app.access.audit import Act
from app.base import settings
from app.base.migrating import check_current
from app.base.runtime import Runtime, prepare
from app.factory import create_app
from app.intake.endpoints import Endpoint
from app.simulator.psp import Psp

_STDIN_PATIENCE_SECONDS: Final = 0.5


def prepared() -> Runtime:
    """The runtime as the environment configures it; starts or joins the embedded server."""
    return prepare(settings.read(os.environ))


@contextmanager
def running() -> Iterator[Runtime]:
    """A runtime on a database that is current, in an app context."""
    runtime = prepared()
    check_current(runtime.app_url)
    with create_app(runtime).app_context():
        yield runtime


def act(reason: str | None = None) -> Act:
    """Who acts from the shell."""
    return Act(f"cli:{getpass.getuser()}", reason)


def first_line_of_stdin() -> str | None:
    """What was piped in, or None: a terminal or an idle pipe is not waited for."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return None
    if not select.select([sys.stdin], [], [], _STDIN_PATIENCE_SECONDS)[0]:
        return None
    return sys.stdin.readline().rstrip("\r\n") or None


def psp_for(endpoint: Endpoint, base: str) -> Psp:
    """The provider as it would call that endpoint at that address."""
    signing = endpoint.config.secrets[0].value if endpoint.config.secrets else None
    return Psp(endpoint.provider, f"{base.rstrip('/')}/webhooks/{endpoint.slug}", signing, endpoint.config.url_token)
