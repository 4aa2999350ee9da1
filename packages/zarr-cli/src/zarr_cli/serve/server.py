"""A read-only HTTP server for a store."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from threading import Thread
from typing import TYPE_CHECKING

import uvicorn

from zarr_cli.serve.app import store_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Self

    from zarr_core.extension import Store

_MOST_CONNECTIONS = 128  # others receive status 503
_CLOSING_SECONDS = 5
_IDLE_SECONDS = 30
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


class StoreServer:
    """A read-only HTTP server for one store, as a context manager that serves in a thread.

    The server listens from its creation.

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

    def __init__(
        self,
        store: Store,
        path: str = "",
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        cors: Iterable[str] = (),
        hosts: Iterable[str] = (),
        log: Callable[[str], None] | None = None,
    ) -> None:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        self._socket = socket.create_server(address[:2], family=family)
        self.address: tuple[str, int] = self._socket.getsockname()[:2]
        self.store = store
        names = (*hosts,) if self.is_reachable_from_elsewhere else (*_LOOPBACK, host, *hosts)
        self._server = uvicorn.Server(
            uvicorn.Config(
                store_app(store, path, (*cors,), names, log or (lambda line: None)),
                http="h11",
                ws="none",
                lifespan="off",
                server_header=False,
                access_log=False,
                log_config=None,
                log_level="critical",  # the application logs requests and errors
                limit_concurrency=_MOST_CONNECTIONS,
                timeout_keep_alive=_IDLE_SECONDS,
                timeout_graceful_shutdown=_CLOSING_SECONDS,
            )
        )
        self._thread = Thread(
            target=self._server.run, args=([self._socket],), name="zarr-core serve", daemon=True
        )

    @property
    def is_reachable_from_elsewhere(self) -> bool:
        """Whether the server listens on an interface other than loopback."""
        return not ip_address(self.address[0]).is_loopback

    @property
    def url(self) -> str:
        """The URL, which ends with a slash."""
        host, port = self.address
        if host in ("0.0.0.0", "::"):
            host = socket.gethostname()
        return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server: close its socket and its connections."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
