"""SecantusDB, which speaks MongoDB's protocol; MongoDB itself is in no package registry."""

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
    stop_within = 3.0  # it often waits for clients that have gone

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
        # Without the last, what it acknowledges lies in its memory for a while.
        return [program, *address, "--storage-path", self.data / "storage", "--sync-on-commit"]

    def ready(self) -> bool:
        return health.accepts(self.port)
