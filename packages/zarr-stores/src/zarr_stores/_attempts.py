"""Repeated requests, and time limits for servers that have never answered.

The address of a server that has never answered is probably wrong.
"""

from __future__ import annotations

import re
from math import inf
from random import uniform
from time import monotonic, sleep
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Hashable

CONNECT_SECONDS: Final = 3.5
"""Time limit for a connection, unless an option sets another."""
RETRY_SECONDS: Final = 2.5
"""Time after which no further attempt begins, unless an option sets another."""

FINAL: Final = re.compile(
    r"Name or service not known|nodename nor servname|No address associated|No such host|"
    r"certificate verify failed|InvalidCertificate|WRONG_VERSION_NUMBER|InvalidMessage\("
)
"""Matches the texts of errors that every further attempt would raise again."""

reached: set[Hashable] = set()
"""Servers that have answered a request of this process."""


class Attempts:
    """The attempts of a request, with random pauses in seconds, from ``first`` up to ``longest``.

    ``seconds`` is the limit for the end of the last attempt, which is assumed to take as long as
    the one before; ``count`` is that of attempts.
    """

    def __init__(
        self, seconds: float = inf, count: float = inf, first: float = 0.1, longest: float = 5.0
    ) -> None:
        self._began = self._last = monotonic()
        self._seconds = seconds
        self._count = count
        self._pause = first
        self._longest = longest
        self.retries = 0
        """Number of attempts after the first one."""

    @property
    def passed(self) -> float:
        """Seconds since the first attempt began."""
        return monotonic() - self._began

    def again(self, limit: float = inf) -> bool:
        """Wait until the next attempt; return False if there is none.

        ``limit`` in seconds replaces the limit of the object if it is shorter.
        """
        now = monotonic()
        pause = uniform(self._pause / 2, self._pause)
        end = now + pause + (now - self._last)
        if self.retries + 1 >= self._count or end - self._began > min(limit, self._seconds):
            return False
        sleep(pause)
        self.retries += 1
        self._last = monotonic()
        self._pause = min(2 * self._pause, self._longest)
        return True
