"""A process that a test may kill: delivers the bodies it is given, as a provider would, then works until all is decided.

Run as `python -m tests.faults.shift APP_URL OWNER_URL BODY...`; RAZAO_CRASH_AT names the point of its death.
"""

import sys

from app.base import settings
from app.base.runtime import Runtime
from app.base.vault import Vault
from app.doors.worker.loop import work_once
from app.factory import create_app
from tests.conftest import MASTER_KEY
from tests.support import deliver


def main(app_url: str, owner_url: str, *bodies: str) -> None:
    runtime = Runtime(settings.read({}), app_url, owner_url, Vault(MASTER_KEY))
    app = create_app(runtime)
    with app.app_context():
        for body in bodies:
            assert deliver(app.test_client(), body.encode()).status_code == 200
        while work_once(runtime):
            pass


if __name__ == "__main__":
    main(*sys.argv[1:])
