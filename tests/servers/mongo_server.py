"""SecantusDB, a server with the protocol of MongoDB, which no package registry provides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servers import health, places
from servers.process import Server

if TYPE_CHECKING:
    from pathlib import Path


class MongoServer(Server):
    """A server that is compatible with MongoDB."""

    name = "mongo"
    durable = True
    installation = ("MongoDB-compatible server", "pip install secantusdb")
    stop_within = 3.0  # it often waits for disconnected clients

    @staticmethod
    def program() -> Path | None:
        return places.from_pip("secantusd-py")

    @property
    def url(self) -> str:
        return f"mongodb://{self.host}:{self.port}/?directConnection=true"

    def command(self) -> list[Any]:
        address = ["--host", self.host, "--port", str(self.port)]
        # Without the last option, acknowledged writes remain in memory for some time.
        return [
            self.program(),
            *address,
            "--storage-path",
            self.data / "storage",
            "--sync-on-commit",
        ]

    def ready(self) -> bool:
        return health.accepts(self.port)
