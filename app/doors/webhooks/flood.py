"""Bounds what unauthenticated callers can cost: how many rejections are written down, and when an address gets 429.

Only calls that have already failed to prove themselves are counted: a provider is never slowed down.
"""

import threading
import time
from collections import OrderedDict
from typing import Final

WINDOW_SECONDS: Final = 60.0
WRITTEN_PER_WINDOW: Final = 60  # rejections written for one endpoint
ANSWERED_PER_WINDOW: Final = 300  # 401s for one address; then 429
_MOST_KEYS: Final = 10_000


class Counter:
    """Counts by key in fixed windows; the oldest keys are forgotten, so that memory is bounded."""

    def __init__(self) -> None:
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()
        self._guard = threading.Lock()

    def count(self, key: str) -> int:
        """How often this key was counted in its window, this time included."""
        now = time.monotonic()
        with self._guard:
            start, seen = self._counts.pop(key, (now, 0))
            if now - start > WINDOW_SECONDS:
                start, seen = now, 0
            self._counts[key] = (start, seen + 1)
            if len(self._counts) > _MOST_KEYS:
                self._counts.popitem(last=False)
            return seen + 1
