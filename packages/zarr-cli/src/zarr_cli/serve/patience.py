"""Reading a request without waiting, or remembering, for ever."""

from __future__ import annotations

import io
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

IDLE_SECONDS = 30.0  # that a connection may rest between two requests
HEAD_SECONDS = 10.0  # from the first byte of a request to the end of its head
HEAD_BYTES = 1 << 16  # of the request line with all fields


class HeadTooLargeError(Exception):
    """A request line and its fields are longer than any that is meant well."""


class RequestInput(io.RawIOBase):
    """What comes in on a connection, until patience runs out.

    A limit for each read alone would not do: who sends a byte every few seconds would
    keep a thread for ever.

    Parameters
    ----------
    connection : socket.socket
        Where requests come from.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self.expect()

    def expect(self) -> None:
        """Begin to wait for a request."""
        self._deadline = monotonic() + IDLE_SECONDS
        self._begun = False
        self._left = HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # that of a BufferedReader
        if self._left <= 0:
            raise HeadTooLargeError
        seconds = self._deadline - monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(buffer[: self._left])
        self._left -= count
        if not self._begun:
            self._begun = True
            self._deadline = monotonic() + HEAD_SECONDS
        return count
