"""One HTTP/1.1 connection.

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

from zarr_cli.serve.request_head import BadHeadError, check_request_line, read_fields
from zarr_cli.serve.responses import HttpError, Response
from zarr_cli.serve.store_errors import http_error, without_location
from zarr_cli.serve.timeouts import HeadTooLargeError, RequestInput

if TYPE_CHECKING:
    from zarr_cli.serve.server import StoreServer

_BLOCK = 1 << 18  # bytes that a client must receive ...
_BLOCK_SECONDS = 30.0  # ... in this time
_DRAINED = 1 << 20  # maximum bytes of an unwanted body to read, so that the response arrives
_DRAIN_SECONDS = 2.0

_WITHOUT_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class Connection(BaseHTTPRequestHandler):
    """Handler of the requests of one connection."""

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
        self.wfile = self._head = io.BytesIO()  # response heads are collected here
        self.headers: Any = {}
        self.command, self.requestline, self.request_version = "", "", "HTTP/1.1"

    def finish(self) -> None:
        self.rfile.close()

    def handle(self) -> None:
        # The client disconnected or is too slow: no response can be sent.
        with suppress(TimeoutError, ConnectionError):
            super().handle()

    def handle_one_request(self) -> None:
        self.close_connection = True
        self._input.expect()
        try:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self._parse_head():
                return
        except HeadTooLargeError:
            self.send_error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        except BadHeadError as error:
            self.send_error(HTTPStatus.BAD_REQUEST, str(error))
            return
        unwanted = self._has_body()
        if unwanted:  # nothing is read after the body, so its end does not matter
            self.close_connection = True
        self._send(self._respond(unwanted))
        if unwanted:
            self._drain()

    def _parse_head(self) -> bool:
        """Check and parse a request head; the parser of the standard library is lenient."""
        check_request_line(self.raw_requestline)
        version = self.raw_requestline.split()[-1]
        connection, self.rfile = self.rfile, io.BytesIO(read_fields(self.rfile, version))
        try:
            return self.parse_request()
        finally:
            self.rfile = connection

    def handle_expect_100(self) -> bool:
        return True  # no body is accepted; the response reports it

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Respond to a request that cannot be parsed, and close the connection."""
        self.close_connection = True
        status = HTTPStatus(code)
        self._send(HttpError(status, message or status.description or status.phrase).response())
        self._drain()

    def _has_body(self) -> bool:
        length = self.headers.get("Content-Length", "0").strip()
        return length != "0" or "Transfer-Encoding" in self.headers

    def _respond(self, unwanted: bool) -> Response:
        try:
            if unwanted and self.command in ("GET", "HEAD"):
                raise HttpError(HTTPStatus.BAD_REQUEST, "GET and HEAD must not have a body")
            return self.server.site.respond(self.command, self.path, self.headers)
        except HttpError as error:
            return error.response()
        except ZarrError as error:  # the store failed or contains invalid data
            response = http_error(error, self.server.site.store).response()
            if response.status == HTTPStatus.INTERNAL_SERVER_ERROR:
                self._log(str(error))
            return response
        except Exception as error:  # a bug must affect only this response
            for line in traceback.format_exc().splitlines():
                self._log(f"    {line}")  # a line of a message must not look like one of the log
            reason = f"{type(error).__name__}: {error}"
            return HttpError(
                HTTPStatus.INTERNAL_SERVER_ERROR, without_location(reason, self.server.site.store)
            ).response()

    def _send(self, response: Response) -> None:
        try:
            length = len(response.body) if isinstance(response.body, bytes) else response.length
            self._send_head(response, response.length if response.length is not None else length)
            if self.command == "HEAD" or response.status in _WITHOUT_BODY:
                return
            if isinstance(response.body, bytes):
                self._send_bytes(memoryview(response.body))
                return
            try:
                for buffer in response.body:
                    self._send_bytes(buffer)
            except ZarrError as error:
                # The status is already sent, so closing early signals the error to the client.
                self.close_connection = True
                self._log(f"{self.path}: {error}")
        finally:
            if response.close is not None:
                response.close()

    def _send_head(self, response: Response, length: int | None) -> None:
        self.send_response(response.status)
        for name, value in (*response.headers.items(), *self.server.site.headers(self.headers)):
            self.send_header(name, value)
        if length is not None and response.status not in _WITHOUT_BODY:
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
        for at in range(0, len(data), _BLOCK):
            # The timeout applies to the whole block.
            self.connection.settimeout(_BLOCK_SECONDS)
            self.connection.sendall(data[at : at + _BLOCK])

    def _drain(self) -> None:
        """Read the rest of the request; closing with unread bytes would drop the response."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            deadline, left = monotonic() + _DRAIN_SECONDS, _DRAINED
            while left > 0 and (seconds := deadline - monotonic()) > 0:
                self.connection.settimeout(seconds)
                data = self.connection.recv(min(left, _BLOCK))
                if not data:
                    break
                left -= len(data)

    def log_message(self, format: str, *args: Any) -> None:
        self._log(format % args)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        self._log(f"{int(code)} {self.requestline}")

    def _log(self, text: str) -> None:
        # Requests and names must not send control characters to a terminal, or forge lines.
        self.server.log("".join(char if char.isprintable() else "?" for char in text))
