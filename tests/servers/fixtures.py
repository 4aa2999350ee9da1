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


def _share(kind: type[S]) -> Iterator[S]:
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


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    yield from _share(RedisServer)


@pytest.fixture(scope="session")
def mongo_server() -> Iterator[MongoServer]:
    yield from _share(MongoServer)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    yield from _share(PostgresServer)


@pytest.fixture(scope="session")
def sftp_server() -> Iterator[SftpServer]:
    yield from _share(SftpServer)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[MotoServer]:
    yield from _share(MotoServer)


@pytest.fixture(scope="session")
def http_server() -> Iterator[NginxServer]:
    yield from _share(NginxServer)


@pytest.fixture(scope="session")
def webdav_server() -> Iterator[WebDavServer]:
    yield from _share(WebDavServer)


@pytest.fixture(scope="session")
def plain_http_server() -> Iterator[PlainHttpServer]:
    yield from _share(PlainHttpServer)


@pytest.fixture(scope="session")
def s3_durable() -> Iterator[SeaweedServer]:
    yield from _share(SeaweedServer)


@pytest.fixture(scope="session")
def azure_server() -> Iterator[AzureServer]:
    yield from _share(AzureServer)


@pytest.fixture(scope="session")
def gcs_server() -> Iterator[GcsServer]:
    yield from _share(GcsServer)


@pytest.fixture(scope="session")
def gcs_writable(gcs_server: GcsServer) -> Iterator[WritableGcs]:
    with writable(gcs_server) as place:
        yield place
