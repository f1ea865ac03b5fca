"""Named points at which a test may kill this process with -9, to prove that the end state is the same as without.

RAZAO_CRASH_AT names the point; unset, as in every real run, `point` does nothing.
"""

import os
import signal
from typing import Final

_AT: Final = os.environ.get("RAZAO_CRASH_AT")


def point(name: str) -> None:
    """Dies here, at once and without cleaning up, if the environment says so."""
    if name == _AT:
        os.kill(os.getpid(), signal.SIGKILL)
