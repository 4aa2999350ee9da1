"""What went through a proxy."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Exchange:
    """One request with its answer; of a plain proxy, one connection.

    Attributes
    ----------
    method, target, range : str
        As the client sent them; empty for plain connections.
    status : int
        What the client was answered; 0 if nothing was.
    sent, received : int
        Bytes of the bodies: of the request, of the answer.
    fault : str
        The kind of fault that befell it.
    start, end : float
        Seconds of a clock of the proxy.
    """

    method: str = ""
    target: str = ""
    range: str = ""
    status: int = 0
    sent: int = 0
    received: int = 0
    fault: str = ""
    start: float = field(default_factory=time.monotonic)
    end: float = 0.0


@dataclass(slots=True)
class Traffic:
    """All of it since the proxy was started or its traffic was forgotten.

    Attributes
    ----------
    connections : int
        How many a client has opened.
    in_flight, most_in_flight : int
        Requests that wait for the end of their answers: now, at most at one time.
    exchanges : list of Exchange
        In the order of their arrival.
    """

    connections: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    exchanges: list[Exchange] = field(default_factory=list)

    def begin(self, exchange: Exchange) -> None:
        """Note that a request has come."""
        self.exchanges.append(exchange)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)

    def end(self, exchange: Exchange) -> None:
        """Note that a request has got what it will get."""
        exchange.end = time.monotonic()
        self.in_flight -= 1

    def forget(self) -> None:
        """Begin anew, with the requests that are in flight."""
        self.connections, self.most_in_flight = 0, self.in_flight
        self.exchanges = []

    @property
    def requests(self) -> int:
        """How many requests there were."""
        return len(self.exchanges)

    @property
    def faults(self) -> list[str]:
        """The kinds of the faults that befell requests, in order."""
        return [exchange.fault for exchange in self.exchanges if exchange.fault]

    def to_json(self) -> dict[str, Any]:
        """Express as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Traffic:
        """Take from JSON."""
        exchanges = [Exchange(**exchange) for exchange in document["exchanges"]]
        return cls(**(document | {"exchanges": exchanges}))
