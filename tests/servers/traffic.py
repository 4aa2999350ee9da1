"""Traffic of a proxy."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Exchange:
    """One request with its response; of a plain proxy, one connection.

    Attributes
    ----------
    method, target, range : str
        As sent by the client; empty for plain connections.
    status : int
        Status of the response; 0 if there was none.
    sent, received : int
        Bytes of the bodies of the request and of the response.
    fault : str
        Kind of the injected fault.
    """

    method: str = ""
    target: str = ""
    range: str = ""
    status: int = 0
    sent: int = 0
    received: int = 0
    fault: str = ""


@dataclass(slots=True)
class Traffic:
    """Traffic since the start of the proxy or the last ``forget``.

    Attributes
    ----------
    concurrent, most_concurrent : int
        Number of concurrent requests: now, and the maximum.
    sent, received : int
        Bytes sent by clients and received by them: bodies of HTTP, all data of plain connections.
    rounds, delivered : int
        Number of rounds, and of the requests in them; see ``servers.rounds``.  For plain
        connections, a request is all data that a client sends before a response.
    exchanges : list of Exchange
        In order of arrival.
    """

    concurrent: int = 0
    most_concurrent: int = 0
    sent: int = 0
    received: int = 0
    rounds: int = 0
    delivered: int = 0
    exchanges: list[Exchange] = field(default_factory=list)

    def begin(self, exchange: Exchange) -> None:
        """Record the start of a request."""
        self.exchanges.append(exchange)
        self.concurrent += 1
        self.most_concurrent = max(self.most_concurrent, self.concurrent)

    def end(self) -> None:
        """Record the end of a request."""
        self.concurrent -= 1

    def forget(self) -> None:
        """Reset the traffic, except for requests in flight."""
        self.most_concurrent = self.concurrent
        self.sent = self.received = self.rounds = self.delivered = 0
        self.exchanges = []

    @property
    def requests(self) -> int:
        """Number of requests."""
        return len(self.exchanges)

    @property
    def faults(self) -> list[str]:
        """Kinds of the injected faults, in order."""
        return [exchange.fault for exchange in self.exchanges if exchange.fault]

    def to_json(self) -> dict[str, Any]:
        """Convert to JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Traffic:
        """Create from JSON."""
        exchanges = [Exchange(**exchange) for exchange in document["exchanges"]]
        return cls(**(document | {"exchanges": exchanges}))
