"""Fixtures of real servers: each is started at its first use and stopped at the end.

A test module must contain ``pytest_plugins = ["servers.fixtures"]``, unless
``tests/conftest.py`` contains it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from servers import watchdog
from servers.azure_server import AzureServer
from servers.gcs_server import GcsServer
from servers.gcs_writes import WritableGcs, writable
from servers.http_server import NginxServer, PlainHttpServer, WebDavServer
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.proxy import Proxy
from servers.redis_server import RedisServer
from servers.requirement import need
from servers.s3_server import MotoServer, SeaweedServer
from servers.sftp_server import SftpServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from servers.process import Server

S = TypeVar("S", bound="Server")
_shared: list[Server] = []


def shared_fixture(kind: type[Server]) -> Any:
    """Return a fixture of a server that the tests of a worker share."""

    @pytest.fixture(scope="session")
    def share() -> Iterator[Server]:
        need(kind)
        server = kind()
        try:
            server.start()
            _shared.append(server)
            yield server
        finally:
            if server in _shared:
                _shared.remove(server)
            server.close()

    return share


def pytest_runtest_setup(item: Any) -> None:
    """Restart servers that a previous test has killed."""
    for server in _shared:
        if not server.running:
            server.start()


def pytest_unconfigure(config: Any) -> None:
    """Stop the watchdog."""
    watchdog.close()


@pytest.fixture
def own_server() -> Iterator[Callable[[type[S]], S]]:
    """Return a function that starts a server for one test, which may kill it."""
    servers: list[Server] = []

    def start(kind: type[S]) -> S:
        need(kind)
        server = kind()
        servers.append(server)
        return server.start()

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def proxy_before() -> Iterator[Callable[..., Proxy]]:
    """Return a function that starts a proxy before a server, for one test."""
    proxies: list[Proxy] = []

    def start(server: Server, kind: Literal["http", "tcp"] = "http") -> Proxy:
        proxies.append(Proxy(server.port, kind, renames=server.minds_its_name))
        return proxies[-1]

    yield start
    for proxy in proxies:
        proxy.close()


redis_server = shared_fixture(RedisServer)
mongo_server = shared_fixture(MongoServer)
postgres_server = shared_fixture(PostgresServer)
sftp_server = shared_fixture(SftpServer)
s3_server = shared_fixture(MotoServer)
http_server = shared_fixture(NginxServer)
webdav_server = shared_fixture(WebDavServer)
plain_http_server = shared_fixture(PlainHttpServer)
s3_durable = shared_fixture(SeaweedServer)
azure_server = shared_fixture(AzureServer)
gcs_server = shared_fixture(GcsServer)


@pytest.fixture(scope="module")
def proxy(s3_server: MotoServer) -> Iterator[Proxy]:
    """A proxy before the S3 server."""
    with Proxy(s3_server.port) as proxy:
        yield proxy


@pytest.fixture
def direct(s3_server: MotoServer) -> Any:
    """A store in a new prefix of the S3 server, not through the proxy."""
    from object_stores import s3_store

    return s3_store(s3_server)


@pytest.fixture(scope="session")
def gcs_writable(gcs_server: GcsServer) -> Iterator[WritableGcs]:
    with writable(gcs_server) as place:
        yield place
