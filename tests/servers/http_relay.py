"""HTTP relay of a proxy: passes requests on and injects faults."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote

from servers.connections import Connections, Lost
from servers.http_message import LIMIT, Head, read_body, read_head
from servers.rounds import Rounds
from servers.traffic import Exchange, Traffic

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter

    from servers.faults import Fault, Rule

RANGE = re.compile(rb"bytes=(\d*)-(\d*)")


@dataclass(slots=True)
class HttpRelay:
    """Relays the requests of all clients.

    Parameters
    ----------
    host, port : str, int
        The server.
    latency : float
        Delay of each request in seconds.
    rules : list of Rule
        Faults; the first that applies is used.
    renames : bool
        Whether the ``Host`` field is replaced with the address of the server.
    """

    host: str
    port: int
    renames: bool = False
    latency: float = 0.0
    rules: list[Rule] = field(default_factory=list)
    traffic: Traffic = field(default_factory=Traffic)
    connections: Connections = field(default_factory=Connections)
    rounds: Rounds = field(init=False)
    _idle: list[tuple[StreamReader, StreamWriter]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rounds = Rounds(self.traffic)

    @property
    def _own_name(self) -> bytes:
        return f"{self.host}:{self.port}".encode()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """Serve one connection of a client until either side closes it."""
        with self.connections.using(writer):
            while (request := await read_head(reader)) is not None:
                exchange = Exchange(
                    request.method, request.target, request.get(b"range").decode("latin-1")
                )
                self.traffic.begin(exchange)
                try:
                    await self._relay(request, exchange, reader, writer)
                finally:
                    self.traffic.end()
                if not request.persistent or writer.is_closing():
                    break

    async def _relay(
        self, request: Head, exchange: Exchange, reader: StreamReader, writer: StreamWriter
    ) -> None:
        if request.get(b"expect").lower() == b"100-continue":
            request.set(b"expect", None)
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        named = request.get(b"host")
        if self.renames:
            request.set(b"host", self._own_name)
        body = await read_body(reader, request, of_answer=False)
        if request.get(b"transfer-encoding"):
            request.set(b"transfer-encoding", None)
            request.set(b"content-length", b"%d" % len(body))
        exchange.sent = len(body)
        self.traffic.sent += len(body)
        path, _, query = exchange.target.partition("?")
        applying = (
            rule for rule in self.rules if rule.applies(request.method, unquote(path), query)
        )
        rule = next(applying, None)
        fault = rule.fault if rule else None
        exchange.fault = fault.kind if fault else ""
        if self.latency:
            await asyncio.sleep(self.latency)
        if fault is None:
            async with self.rounds.joined():
                head, content = await self._ask(request, body)
        elif fault.kind == "answer":
            head, content = _own_answer(fault)
        else:
            await self._before(fault, request, body)
            head, content = await self._ask(request, body)
            if fault.kind == "lose_answer":
                if not fault.number:
                    raise Lost
                writer.close()
                return
            if fault.kind == "deny_having_done":
                head, content = _own_answer(fault)
        if self.renames and (location := head.get(b"location")):
            head.set(b"location", location.replace(self._own_name, named))
        exchange.status, exchange.received = head.status, len(content)
        self.traffic.received += len(content)
        if fault and exchange.method != "HEAD":
            exchange.received = await self._spoil(fault, head, content, writer, reader)
        else:
            writer.write(head.encode() + content)
            await writer.drain()
        if not head.persistent:
            writer.close()

    async def _before(self, fault: Fault, request: Head, body: bytes) -> None:
        """Inject a fault before the server receives the request."""
        if fault.kind == "drop":
            raise Lost
        if fault.kind == "delay":
            await asyncio.sleep(fault.number)
        elif fault.kind == "hold":
            while any(rule.fault is fault for rule in self.rules):
                await asyncio.sleep(0.005)
        elif fault.kind == "cut_request":
            _, server = await asyncio.open_connection(self.host, self.port)
            server.write(request.encode() + body[: int(fault.number)])
            await server.drain()
            await asyncio.sleep(0.05)  # lets the server read it
            server.transport.abort()
            raise Lost
        elif fault.kind == "ignore_range":
            request.set(b"range", None)
        elif fault.kind == "wrong_range" and (asked := RANGE.fullmatch(request.get(b"range"))):
            first, last = asked.groups()
            if first:
                first = b"%d" % max(int(first) + int(fault.number), 0)
                last = last and b"%d" % (int(last) + int(fault.further))
            else:
                last = b"%d" % max(int(last) + int(fault.further), 1)
            request.set(b"range", b"bytes=%s-%s" % (first, last))

    async def _ask(self, request: Head, body: bytes) -> tuple[Head, bytes]:
        """Send a request to the server; return the response with its length."""
        while True:
            known = bool(self._idle)
            reader, writer = (
                self._idle.pop()
                if known
                else await asyncio.open_connection(self.host, self.port, limit=LIMIT)
            )
            try:
                writer.write(request.encode() + body)
                head = await read_head(reader)
            except ConnectionError:
                head = None
            if head is None:
                writer.transport.abort()
                if known:  # the server had closed the connection
                    continue
                raise Lost
            break
        content = b""
        if request.method != "HEAD" and head.status not in (204, 304):
            content = await read_body(reader, head, of_answer=True)
            unmarked = not (head.get(b"content-length") or head.get(b"transfer-encoding"))
            if unmarked or head.get(b"transfer-encoding"):
                head.set(b"transfer-encoding", None)
                head.set(b"content-length", b"%d" % len(content))
            reusable = head.persistent and not unmarked
        else:
            reusable = head.persistent
        if reusable:
            self._idle.append((reader, writer))
        else:
            writer.close()
        return head, content

    async def _spoil(
        self, fault: Fault, head: Head, content: bytes, writer: StreamWriter, reader: StreamReader
    ) -> int:
        """Send a faulty response; return the number of bytes of the body that were sent."""
        number = int(fault.number)
        if fault.kind == "wrong_length":
            head.set(b"content-length", b"%d" % max(len(content) + number, 0))
        elif fault.kind in ("reset", "truncate", "stall"):
            content = content[:number]
        writer.write(head.encode() + content)
        await writer.drain()
        if fault.kind == "reset":
            await asyncio.sleep(0.02)  # lets the sent data arrive first
            raise Lost
        if fault.kind == "stall":
            await reader.read()
        if fault.kind in ("truncate", "wrong_length", "stall"):
            writer.close()
        return len(content)


def _own_answer(fault: Fault) -> tuple[Head, bytes]:
    try:
        phrase = HTTPStatus(fault.status).phrase
    except ValueError:
        phrase = "Unknown"
    content = fault.body.encode()
    fields = [(name.encode(), value.encode()) for name, value in fault.headers.items()]
    fields.append((b"Content-Length", b"%d" % len(content)))
    return Head(f"HTTP/1.1 {fault.status} {phrase}".encode(), fields), content
