"""The server: connections are accepted, each gets a thread, all end when it is closed."""

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

    Listens once it is made; :meth:`serve_forever` answers until :meth:`close` is called
    from another thread.  As a context manager it answers in a thread of its own.

    Parameters
    ----------
    store : Store
        What is served; it is not closed with the server.
    path : str
        Normalised path in the store, which becomes the root of what is served.
    host, port : str, int
        Where to listen; port 0 means any free one.
    cors : iterable of str
        Origins whose pages may read, such as ``https://viewer.example``, or ``*``.
    hosts : iterable of str
        Names by which clients may call the server.  What listens on the loopback
        interface also has the names of that; otherwise any name will do if none is given.
    most_connections : int
        Further ones are told to come again.
    log : callable, optional
        Gets a line for each request.

    Raises
    ------
    OSError
        If it cannot listen there.

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
        """Whether it listens on more than the loopback interface."""
        return not ip_address(str(self.server_address[0])).is_loopback

    @property
    def url(self) -> str:
        """The address, ending in a slash."""
        host, port = str(self.server_address[0]), self.server_address[1]
        if host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own."""
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
        except Exception as error:  # of one connection; the others go on
            self.log(f"{client_address[0]}: {type(error).__name__}: {error}")
        finally:
            with self._guard:
                self._open.pop(request, None)
            self.shutdown_request(request)

    def close(self) -> None:
        """Stop: accept nothing more, hang up, wait for the threads."""
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
