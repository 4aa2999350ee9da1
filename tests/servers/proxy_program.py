"""The process of a proxy: reads commands from standard input, as lines of JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from servers.faults import Fault, Rule
from servers.http_message import LIMIT
from servers.http_relay import HttpRelay
from servers.tcp_relay import TcpRelay

BACKLOG = 1024


class Program:
    """A relay and its port."""

    def __init__(self, relay: HttpRelay | TcpRelay) -> None:
        self.relay = relay
        self.port = 0
        self.listening: asyncio.Server | None = None

    async def listen(self) -> None:
        """Accept connections on the same port."""
        self.listening = await asyncio.start_server(
            self.relay.serve, self.relay.host, self.port, limit=LIMIT, backlog=BACKLOG
        )
        self.port = self.listening.sockets[0].getsockname()[1]

    async def obey(self, order: str, value: Any) -> Any:
        """Execute a command and return its result."""
        relay = self.relay
        if order == "latency":
            relay.latency = value
        elif order == "rounds":
            relay.rounds.silence = value
        elif order == "inject":
            relay.rules.append(Rule(**(value | {"fault": Fault(**value["fault"])})))
        elif order == "clear":
            relay.rules.clear()
        elif order == "forget":
            relay.traffic.forget()
        elif order == "traffic":
            return relay.traffic.to_json()
        elif order == "break":
            relay.connections.reset()
        elif order == "refuse" and self.listening:
            self.listening.close()
            relay.connections.reset()
        elif order == "accept":
            await self.listen()
        return None


async def main(kind: str, host: str, target: int, port: int, renames: bool) -> None:
    """Serve until the end of standard input."""
    http = HttpRelay(host, target, renames)
    program = Program(http if kind == "http" else TcpRelay(host, target))
    program.port = port
    await program.listen()
    loop = asyncio.get_running_loop()
    orders = asyncio.StreamReader(limit=LIMIT)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    print(json.dumps(program.port), flush=True)
    while line := await orders.readline():
        print(json.dumps(await program.obey(*json.loads(line))), flush=True)


if __name__ == "__main__":
    kind, host, target, port, renames = sys.argv[1:]
    asyncio.run(main(kind, host, int(target), int(port), bool(int(renames))))
