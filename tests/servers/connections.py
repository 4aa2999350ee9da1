"""Open connections of the clients of a proxy."""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

NO_LINGERING = struct.pack("ii", 1, 0)


class Lost(Exception):
    """Raised if the connection of the client must be reset."""


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection: unsent data is lost, and the other side gets an error."""
    connection = writer.get_extra_info("socket")
    if connection is not None and not writer.is_closing():
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGERING)
    writer.transport.abort()


@dataclass(slots=True)
class Connections:
    """All open connections."""

    open: set[asyncio.StreamWriter] = field(default_factory=set)

    @contextlib.contextmanager
    def using(self, writer: asyncio.StreamWriter) -> Iterator[None]:
        """Close a connection at the end of the block; reset it after ``Lost``."""
        self.open.add(writer)
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            yield
        except (Lost, OSError, EOFError):
            reset(writer)
        finally:
            self.open.discard(writer)
            writer.close()

    def reset(self) -> None:
        """Reset all connections."""
        for writer in list(self.open):
            reset(writer)
