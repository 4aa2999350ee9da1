"""One connection: requests in, answers out, by the rules of HTTP/1.1.

Specification: RFC 9112.
"""

from __future__ import annotations

import io
import socket
import traceback
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ZarrError

from zarr_cli.serve.answers import Answer, RefusedError
from zarr_cli.serve.patience import HeadTooLargeError, RequestInput

if TYPE_CHECKING:
    from zarr_cli.serve.server import StoreServer

_PIECE = 1 << 18  # bytes that a client must take ...
_PIECE_SECONDS = 30.0  # ... in this time
_DRAINED = 1 << 20  # bytes of an unwanted body that are read, that the answer arrives
_DRAIN_SECONDS = 2.0

_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class Connection(BaseHTTPRequestHandler):
    """Serves the requests of one connection, one after the other."""

    server: StoreServer
    connection: socket.socket
    protocol_version = "HTTP/1.1"
    default_request_version = "HTTP/1.0"

    def version_string(self) -> str:
        return "zarr-core"

    def setup(self) -> None:
        self.connection = self.request
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = RequestInput(self.connection)
        self.rfile = io.BufferedReader(self._input)
        self.wfile = self._head = io.BytesIO()  # heads gather here
        self.headers: Any = {}
        self.command, self.requestline, self.request_version = "", "", "HTTP/1.1"

    def finish(self) -> None:
        self.rfile.close()

    def handle(self) -> None:
        # The other side has gone, or is too slow: nobody is left to be told.
        with suppress(TimeoutError, ConnectionError):
            super().handle()

    def handle_one_request(self) -> None:
        self.close_connection = True
        self._input.expect()
        try:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self.parse_request():
                return
        except HeadTooLargeError:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        unwanted = self._has_body()
        if unwanted:  # where it ends does not matter, as nothing is read after it
            self.close_connection = True
        self._send(self._answer(unwanted))
        if unwanted:
            self._drain()

    def handle_expect_100(self) -> bool:
        return True  # no body is wanted; the answer says so

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what could not even be parsed, and hang up."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._send(RefusedError(status, message or status.description or status.phrase).answer())
        self._drain()

    def _has_body(self) -> bool:
        length = self.headers.get("Content-Length", "0").strip()
        return length != "0" or "Transfer-Encoding" in self.headers

    def _answer(self, unwanted: bool) -> Answer:
        try:
            if unwanted and self.command in ("GET", "HEAD"):
                raise RefusedError(HTTPStatus.BAD_REQUEST, "send no body with GET or HEAD")
            if self.request_version >= "HTTP/1.1" and len(self.headers.get_all("Host", ())) != 1:
                raise RefusedError(HTTPStatus.BAD_REQUEST, "a request names one Host")
            return self.server.site.answer(self.command, self.path, self.headers)
        except RefusedError as refusal:
            return refusal.answer()
        except ZarrError as error:  # the store failed, or holds what cannot be used
            return RefusedError(HTTPStatus.INTERNAL_SERVER_ERROR, str(error)).answer()
        except Exception as error:  # a mistake of ours shall cost this answer alone
            self.server.log(traceback.format_exc().rstrip())
            return RefusedError(
                HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}"
            ).answer()

    def _send(self, answer: Answer) -> None:
        try:
            length = len(answer.body) if isinstance(answer.body, bytes) else answer.length
            self._send_head(answer, answer.length if answer.length is not None else length)
            if self.command == "HEAD" or answer.status in _WITHOUT_BODY:
                return
            if isinstance(answer.body, bytes):
                self._send_bytes(memoryview(answer.body))
                return
            try:
                for piece in answer.body:
                    self._send_bytes(piece)
            except ZarrError as error:
                # Too late to say so: hanging up before the end tells the client.
                self.close_connection = True
                self.server.log(f"{self.path}: {error}")
        finally:
            if answer.close is not None:
                answer.close()

    def _send_head(self, answer: Answer, length: int | None) -> None:
        self.send_response(answer.status)
        for name, value in (*answer.headers.items(), *self.server.site.headers(self.headers)):
            self.send_header(name, value)
        if length is not None and answer.status not in _WITHOUT_BODY:
            self.send_header("Content-Length", str(length))
        if self.close_connection:
            self.send_header("Connection", "close")
        elif self.request_version == "HTTP/1.0":
            self.send_header("Connection", "keep-alive")
        self.end_headers()
        self._send_bytes(memoryview(self._head.getvalue()))
        self._head.seek(0)
        self._head.truncate()

    def _send_bytes(self, data: memoryview) -> None:
        for at in range(0, len(data), _PIECE):
            # The time is for the whole piece, however many bytes go at once.
            self.connection.settimeout(_PIECE_SECONDS)
            self.connection.sendall(data[at : at + _PIECE])

    def _drain(self) -> None:
        """Let the answer arrive: a connection closed on unread bytes would take it back."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            deadline, left = monotonic() + _DRAIN_SECONDS, _DRAINED
            while left > 0 and (seconds := deadline - monotonic()) > 0:
                self.connection.settimeout(seconds)
                data = self.connection.recv(min(left, _PIECE))
                if not data:
                    break
                left -= len(data)

    def log_message(self, format: str, *args: Any) -> None:
        self.server.log(format % args)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        # Nothing that a client sends shall do anything to a terminal.
        line = "".join(word if word.isprintable() else "?" for word in self.requestline)
        self.server.log(f"{int(code)} {line}")
