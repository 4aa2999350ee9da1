"""Messages of HTTP/1.1, read from a stream."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

LIMIT = 1 << 20  # bytes; maximum of a head or a line


@dataclass(slots=True)
class Head:
    """The first line of a message with its header fields, in order."""

    first: bytes
    fields: list[tuple[bytes, bytes]]

    def get(self, name: bytes) -> bytes:
        """Return the value of a field, by its name in lower case; empty if it is missing."""
        for field, value in self.fields:
            if field.lower() == name:
                return value
        return b""

    def set(self, name: bytes, value: bytes | None) -> None:
        """Set the value of a field, by its name in lower case; None removes the field."""
        self.fields = [item for item in self.fields if item[0].lower() != name]
        if value is not None:
            self.fields.append((name, value))

    def encode(self) -> bytes:
        """Return the encoded head."""
        lines = [self.first, *(b"%s: %s" % item for item in self.fields)]
        return b"\r\n".join(lines) + b"\r\n\r\n"

    @property
    def method(self) -> str:
        """The method of a request."""
        return self.first.split(b" ", 1)[0].decode("latin-1")

    @property
    def target(self) -> str:
        """The target of a request."""
        return self.first.split(b" ")[1].decode("latin-1")

    @property
    def status(self) -> int:
        """The status of a response."""
        return int(self.first.split(b" ", 2)[1])

    @property
    def persistent(self) -> bool:
        """Whether the connection may be used for another message."""
        connection = self.get(b"connection").lower()
        if b"HTTP/1.0" in self.first:
            return b"keep-alive" in connection
        return b"close" not in connection


async def read_head(reader: asyncio.StreamReader) -> Head | None:
    """Read a head; return None at the end of the stream."""
    try:
        text = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise
        return None
    first, *lines = text[:-4].split(b"\r\n")
    fields = []
    for line in lines:
        name, _, value = line.partition(b":")
        fields.append((name, value.strip()))
    return Head(first, fields)


async def read_body(reader: asyncio.StreamReader, head: Head, *, of_answer: bool) -> bytes:
    """Read the body of a message with any transfer encoding."""
    if b"chunked" in head.get(b"transfer-encoding").lower():
        return await _read_chunks(reader)
    if length := head.get(b"content-length"):
        return await reader.readexactly(int(length))
    return await reader.read() if of_answer else b""


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readuntil(b"\n")).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readuntil(b"\n")
    while (await reader.readuntil(b"\n")).strip():
        pass  # trailers
    return b"".join(parts)
