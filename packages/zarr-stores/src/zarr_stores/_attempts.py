"""Repeated requests, and limits for servers that have never answered.

The addresses of these are probably wrong.
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
"""Finds errors of connections that the next attempt would repeat, in their texts."""

reached: set[Hashable] = set()
"""Servers that have answered a request of this process."""


class Attempts:
    """The attempts of a request, with random pauses that become longer.

    Parameters
    ----------
    seconds : float
        Time in which the last attempt ends, if it takes as long as the one before.
    count : int, optional
        Maximum number of attempts.
    first, longest : float
        First and longest pause in seconds.
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

        ``limit`` in seconds is used if it is less than that of the object.
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
