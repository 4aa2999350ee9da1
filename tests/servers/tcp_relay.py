"""TCP relay of a proxy: passes bytes on in both directions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from servers.connections import Connections, Lost, reset
from servers.rounds import Rounds
from servers.traffic import Exchange, Traffic

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from servers.faults import Fault, Rule

PIECE = 1 << 16


@dataclass(slots=True)
class TcpRelay:
    """Relay of connections; adds latency once to the data of clients.

    The parameters are those of ``HttpRelay``; rules apply to connections.
    """

    host: str
    port: int
    latency: float = 0.0
    rules: list[Rule] = field(default_factory=list)
    traffic: Traffic = field(default_factory=Traffic)
    connections: Connections = field(default_factory=Connections)
    rounds: Rounds = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = Rounds(self.traffic)

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve one connection."""
        exchange = Exchange()
        self.traffic.begin(exchange)
        rule = next((rule for rule in self.rules if rule.applies("", "", "")), None)
        try:
            with self.connections.using(writer):
                await self._relay(rule.fault if rule else None, exchange, reader, writer)
        finally:
            self.traffic.end()

    async def _relay(
        self, fault: Fault | None, exchange: Exchange, reader: StreamReader, writer: StreamWriter
    ) -> None:
        exchange.fault = fault.kind if fault else ""
        if fault and fault.kind == "drop":
            raise Lost
        if fault and fault.kind == "delay":
            await asyncio.sleep(fault.number)
        answers, server = await asyncio.open_connection(self.host, self.port)
        answered = asyncio.Event()
        asking = asyncio.create_task(self._ask(exchange, reader, server, answered))
        try:
            await self._answer(fault, exchange, answers, writer, answered)
            if fault and fault.kind == "stall":
                await asking
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
            reset(server)

    async def _ask(
        self,
        exchange: Exchange,
        reader: StreamReader,
        server: StreamWriter,
        answered: asyncio.Event,
    ) -> None:
        """Pass on the data of the client: each buffer with the latency, or in rounds."""
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def send() -> None:
            while True:
                due, piece = await pieces.get()
                if (pause := due - loop.time()) > 0:
                    await asyncio.sleep(pause)
                if not piece:
                    server.write_eof()
                    return
                if not self.rounds.silence:
                    server.write(piece)
                    continue
                answered.clear()
                async with self.rounds.joined():
                    server.write(piece)
                    while not pieces.empty():  # all data of the request
                        if not (piece := pieces.get_nowait()[1]):
                            server.write_eof()
                            return
                        server.write(piece)
                    await answered.wait()

        sending = asyncio.create_task(send())
        try:
            while piece := await reader.read(PIECE):
                exchange.sent += len(piece)
                self.traffic.sent += len(piece)
                self.rounds.touch()
                pieces.put_nowait((loop.time() + self.latency, piece))
            pieces.put_nowait((loop.time() + self.latency, b""))
            await sending
        finally:
            sending.cancel()

    async def _answer(
        self,
        fault: Fault | None,
        exchange: Exchange,
        answers: StreamReader,
        writer: StreamWriter,
        answered: asyncio.Event,
    ) -> None:
        limited = fault is not None and fault.kind in ("reset", "truncate", "stall")
        while piece := await answers.read(PIECE):
            if fault and limited:
                piece = piece[: int(fault.number) - exchange.received]
            exchange.received += len(piece)
            self.traffic.received += len(piece)
            answered.set()
            self.rounds.touch()
            writer.write(piece)
            await writer.drain()
            if fault and limited and exchange.received >= fault.number:
                if fault.kind == "reset":
                    await asyncio.sleep(0.02)  # lets the sent data arrive first
                    raise Lost
                return
