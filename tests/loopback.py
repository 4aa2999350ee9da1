"""An HTTP server in this process whose responses a test computes."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

_used_ports = set()


@contextmanager
def serving(handler, tls=None):
    """Start a server with a class of handlers; ``tls`` is a context of ``ssl``.

    No earlier server of this process had its port: stores keep what they learn about a server by its
    address, and the system gives freed ports again.
    """
    used = []  # kept until the end, so that another port is given
    while True:
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if server.server_port not in _used_ports:
            break
        used.append(server)
    for other in used:
        other.server_close()
    _used_ports.add(server.server_port)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    handler = getattr(handler, "func", handler)  # of functools.partial
    handler.log_message = lambda *_: None
    server.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    with server:
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def responding(respond):
    """Start a server; ``respond`` takes a request and returns status, header fields and body.

    A request has ``method``, ``path``, ``headers``, ``body``, ``time`` and ``connection``.  The
    server has ``url`` and ``requests``.
    """
    server = SimpleNamespace(requests=[])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_request(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = SimpleNamespace(
                method=self.command,
                path=self.path,
                headers=self.headers,
                body=body,
                time=time.monotonic(),
                connection=self.connection,
            )
            server.requests.append(request)
            status, fields, body = respond(request)
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_MKCOL = do_PROPFIND = handle_request

    with serving(Handler) as listening:
        server.url = listening.url
        yield server
