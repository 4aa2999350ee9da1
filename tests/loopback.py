"""An HTTP server in this process whose responses a test computes."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


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

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.url = f"http://127.0.0.1:{listening.server_port}"
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()
