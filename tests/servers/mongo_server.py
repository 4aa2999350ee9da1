"""SecantusDB, a server with the protocol of MongoDB, which no package registry provides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servers import health, places
from servers.process import Server

if TYPE_CHECKING:
    from pathlib import Path


class MongoServer(Server):
    """A server that is compatible with MongoDB."""

    name = "mongo"
    durable = True
    stop_within = 3.0  # it often waits for disconnected clients

    @classmethod
    def missing(cls) -> str | None:
        if places.from_pip("secantusd-py"):
            return None
        return places.how_to_get("MongoDB-compatible server", "pip install secantusdb")

    @property
    def url(self) -> str:
        return f"mongodb://{self.host}:{self.port}/?directConnection=true"

    def command(self) -> list[str | Path]:
        program = places.from_pip("secantusd-py")
        assert program
        address = ["--host", self.host, "--port", str(self.port)]
        # Without the last option, acknowledged writes remain in memory for some time.
        return [program, *address, "--storage-path", self.data / "storage", "--sync-on-commit"]

    def ready(self) -> bool:
        return health.accepts(self.port)
