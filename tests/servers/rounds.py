"""Rounds of requests: count the sequential round trips of a client."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from servers.traffic import Traffic


@dataclass(slots=True)
class Rounds:
    """Delivers requests in rounds, so that the number of round trips does not depend on speed.

    A request waits until none is being served and no other has arrived for some time.  Then all
    waiting requests are delivered together.  A request that the client sends only after a
    response is therefore in a later round.

    Attributes
    ----------
    traffic : Traffic
        Its ``rounds`` and ``delivered`` are counted.
    silence : float
        Seconds without a request after which the waiting ones are delivered; 0 to deliver each
        at once, without counting.
    """

    traffic: Traffic
    silence: float = 0.0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list)
    _serving: int = 0
    _timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def joined(self) -> AsyncIterator[None]:
        """Wait for the next round; the request is being served within the block."""
        if not self.silence:
            yield
            return
        delivered = asyncio.get_running_loop().create_future()
        self._waiting.append(delivered)
        self.touch()
        await delivered
        try:
            yield
        finally:
            self._serving -= 1
            self.touch()

    def touch(self) -> None:
        """Restart the wait for the end of the round."""
        if self._timer is not None:
            self._timer.cancel()
        if self.silence:
            self._timer = asyncio.get_running_loop().call_later(self.silence, self._deliver)

    def _deliver(self) -> None:
        self._timer = None
        if self._serving or not self._waiting:
            return
        delivered, self._waiting = self._waiting, []
        self._serving = len(delivered)
        self.traffic.rounds += 1
        self.traffic.delivered += len(delivered)
        for request in delivered:
            request.set_result(None)
