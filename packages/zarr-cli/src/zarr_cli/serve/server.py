"""A threaded read-only HTTP server for a store."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from ipaddress import ip_address
from socketserver import TCPServer
from time import monotonic
from typing import TYPE_CHECKING, Any

from zarr_cli.serve.connection import Connection
from zarr_cli.serve.site import Site

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from zarr_core.extension import Store

MOST_CONNECTIONS = 128
_CLOSING_SECONDS = 5.0

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class StoreServer(TCPServer):
    """A read-only HTTP server for one store.

    The server listens from its creation; :meth:`serve_forever` serves until :meth:`close` is
    called from another thread.  As a context manager, it serves in its own thread.

    Parameters
    ----------
    store : Store
        The store to serve; it is not closed with the server.
    path : str
        The normalized path in the store that is the root of the URLs.
    host, port : str, int
        The address to listen on; port 0 means any free port.
    cors : iterable of str
        Origins whose pages may read the store, such as ``https://viewer.example``, or ``*``.
    hosts : iterable of str
        Host names that clients may use.  On the loopback interface, its names are also
        accepted.  On other interfaces, any name is accepted if none is given.
    most_connections : int
        The maximum number of connections; others receive status 503.
    log : callable, optional
        Called with a line for each request.

    Raises
    ------
    OSError
        If it cannot listen on the address.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> from urllib.request import urlopen
    >>> array = zarr.create_array(shape=4, dtype="int32")
    >>> with StoreServer(array.store) as server:
    ...     urlopen(server.url + "zarr.json").status
    200
    """

    allow_reuse_address = True
    request_queue_size = 64

    def __init__(
        self,
        store: Store,
        path: str = "",
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        cors: Iterable[str] = (),
        hosts: Iterable[str] = (),
        most_connections: int = MOST_CONNECTIONS,
        log: Callable[[str], None] | None = None,
    ) -> None:
        self.log = log or (lambda line: None)
        self._guard = threading.Lock()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._most = most_connections
        self._thread: threading.Thread | None = None
        self._closed = False
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        self.address_family = family
        super().__init__(address[:2], Connection)  # type: ignore[arg-type] # host and port
        names = (*hosts,) if self.is_reachable_from_elsewhere else (*_LOOPBACK, host, *hosts)
        self.site = Site(store, path, tuple(cors), names)

    @property
    def is_reachable_from_elsewhere(self) -> bool:
        """Whether the server listens on an interface other than loopback."""
        return not ip_address(str(self.server_address[0])).is_loopback

    @property
    def url(self) -> str:
        """The URL, which ends with a slash."""
        host, port = str(self.server_address[0]), self.server_address[1]
        if host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in its own thread."""
        with self._guard:
            if not self._closed and len(self._open) < self._most:
                thread = threading.Thread(
                    target=self._serve,
                    args=(request, client_address),
                    name="zarr-core serve",
                    daemon=True,
                )
                self._open[request] = thread
                thread.start()
                return
        with suppress(OSError):
            request.settimeout(1)
            request.sendall(_FULL)
        self.shutdown_request(request)

    def _serve(self, request: socket.socket, client_address: Any) -> None:
        try:
            self.finish_request(request, client_address)
        except Exception as error:  # affects one connection only
            self.log(f"{client_address[0]}: {type(error).__name__}: {error}")
        finally:
            with self._guard:
                self._open.pop(request, None)
            self.shutdown_request(request)

    def close(self) -> None:
        """Stop the server: close the socket and all connections, and wait for the threads."""
        if self._closed:
            return
        self.shutdown()
        self.server_close()
        with self._guard:
            self._closed = True
            connections = dict(self._open)
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        deadline = monotonic() + _CLOSING_SECONDS
        for thread in connections.values():
            thread.join(max(0.0, deadline - monotonic()))
        if self._thread is not None:
            self._thread.join()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.close()
