"""Ties a process to its parent: when `razao serve` dies, even by kill -9, its web and worker do not live on.

Linux tells a child by signal (PR_SET_PDEATHSIG); elsewhere a dead parent leaves its children to the supervisor there.
"""

import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
TIED: Final = "RAZAO_TIED_TO_PARENT"  # set by a parent for its children


def tie_to_parent(on_death: signal.Signals) -> None:
    """From now on this process gets that signal when its parent dies; only if its parent asked for it."""
    if os.environ.get(TIED) and sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, int(on_death), 0, 0, 0)
