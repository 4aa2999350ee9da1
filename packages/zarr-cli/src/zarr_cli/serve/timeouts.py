"""Time and size limits for reading requests."""

from __future__ import annotations

import io
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

IDLE_SECONDS = 30.0  # maximum between two requests
HEAD_SECONDS = 10.0  # maximum from the first byte of a request to the end of its head
HEAD_BYTES = 1 << 16  # maximum of the request line and all fields


class HeadTooLargeError(Exception):
    """The request line and the fields exceed the size limit."""


class RequestInput(io.RawIOBase):
    """The input of a connection, with a deadline per request.

    A timeout per read is not sufficient, because a client that sends one byte every few
    seconds would occupy a thread forever.

    Parameters
    ----------
    connection : socket.socket
        The connection.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__()
        self._connection = connection
        self.expect()

    def expect(self) -> None:
        """Start to wait for a request."""
        self._deadline = monotonic() + IDLE_SECONDS
        self._started = False
        self._left = HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override] # the signature of BufferedReader
        if self._left <= 0:
            raise HeadTooLargeError
        seconds = self._deadline - monotonic()
        if seconds <= 0:
            raise TimeoutError
        self._connection.settimeout(seconds)
        count = self._connection.recv_into(buffer[: self._left])
        self._left -= count
        if not self._started:
            self._started = True
            self._deadline = monotonic() + HEAD_SECONDS
        return count
