"""Writes to the emulator of Google Cloud Storage with the XML API, which it does not have.

obstore writes with ``PUT /bucket/object``.  Each request is converted to an upload of the JSON
API, with its conditions and metadata, which the emulator evaluates.
"""

from __future__ import annotations

import http.client
import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from servers.gcs_server import GcsServer

_PART = "part-of-an-upload"
_META = "x-goog-meta-"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    target: GcsServer

    def log_message(self, *words: Any) -> None:
        """Log nothing."""

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # the client has disconnected
            self.close_connection = True
            return
        method, target = self.command, self.path
        headers = {name.title(): value for name, value in self.headers.items()}
        if writes := method == "PUT" and "?" not in target:
            method, target, headers, body = self._upload(body)
        headers["Host"] = f"{self.target.host}:{self.target.port}"
        connection = http.client.HTTPConnection(self.target.host, self.target.port)
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):  # the emulator is not running
            self.close_connection = True
            return
        finally:
            connection.close()
        fields = dict(answer.getheaders())
        if writes and answer.status == 200:
            made = json.loads(content)
            fields, content = {}, b""
            fields["ETag"], fields["x-goog-generation"] = f'"{made["etag"]}"', made["generation"]
        fields.setdefault("Content-Length", str(len(content)))
        self.send_response(answer.status)
        for name, value in fields.items():
            if name.lower() != "transfer-encoding":
                self.send_header(name, value)
        self.end_headers()
        if method != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _answer

    def _upload(self, body: bytes) -> tuple[str, str, dict[str, str], bytes]:
        """Return the same write as a request of the JSON API."""
        bucket, _, name = urlsplit(self.path).path[1:].partition("/")
        query = {"uploadType": "multipart", "name": unquote(name)}
        if generation := self.headers.get("x-goog-if-generation-match"):
            query["ifGenerationMatch"] = generation
        marks = {
            field[len(_META) :]: value
            for field, value in self.headers.items()
            if field.lower().startswith(_META)
        }
        parts = (("application/json", json.dumps({"metadata": marks}).encode()), ("a/b", body))
        joined = b"".join(
            b"--%s\r\nContent-Type: %s\r\n\r\n%s\r\n" % (_PART.encode(), kind.encode(), content)
            for kind, content in parts
        )
        headers = {"Content-Type": f'multipart/related; boundary="{_PART}"'}
        path = f"/upload/storage/v1/b/{bucket}/o?{urlencode(query)}"
        return "POST", path, headers, joined + f"--{_PART}--".encode()


class _Relay(ThreadingHTTPServer):
    request_queue_size = 512  # by default 5, which stores with more concurrent requests exceed


@dataclass(frozen=True, slots=True)
class WritableGcs:
    """A writable endpoint of the emulator."""

    host: str
    port: int
    bucket: str

    @property
    def url(self) -> str:
        """URL of the endpoint."""
        return f"http://{self.host}:{self.port}"


@contextmanager
def writable(server: GcsServer) -> Iterator[WritableGcs]:
    """Start a proxy before the emulator that accepts writes."""
    handler = type("Handler", (_Handler,), {"target": server})
    with _Relay((server.host, 0), handler) as relay:
        thread = threading.Thread(target=relay.serve_forever, daemon=True)
        thread.start()
        yield WritableGcs(server.host, relay.server_port, server.bucket)
        relay.shutdown()
        thread.join()
