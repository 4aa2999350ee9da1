"""A proxy passes requests on, counts them and injects faults.

The tests of object stores (``test_object_faults.py``, ``test_object_updates.py``,
``test_object_requests.py``) check the effect of lost responses, of wrong ranges, of requests that
are held, and the concurrency with latency.
"""

import contextlib
import http.client
import time

import pytest
from servers import faults
from servers.faults import FOREVER
from waits import PATIENCE

pytest_plugins = ["servers.fixtures"]

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def proxy(http_server, proxy_before):
    (http_server.root / "a chunk").write_bytes(CONTENT)
    return proxy_before(http_server)


class Client:
    """A client that returns complete responses."""

    def __init__(self, proxy, timeout):
        self.connection = http.client.HTTPConnection(proxy.host, proxy.port, timeout=timeout)

    def ask(self, method="GET", path="/a%20chunk", body=None, **fields):
        headers = {name.replace("_", "-"): value for name, value in fields.items()}
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read(), answer


@pytest.fixture
def connect():
    """Return a function that creates clients."""
    with contextlib.ExitStack() as clients:

        def make(proxy, timeout=PATIENCE):
            client = Client(proxy, timeout)
            clients.callback(client.connection.close)
            return client

        yield make


@pytest.fixture
def client(proxy, connect):
    return connect(proxy)


def test_requests_go_through_as_they_are(proxy, client, http_server):
    assert client.ask()[:2] == (200, CONTENT)
    status, body, answer = client.ask(Range="bytes=5-9")
    assert (status, body) == (206, CONTENT[5:10])
    assert answer.getheader("Content-Range") == f"bytes 5-9/{len(CONTENT)}"
    assert client.ask("HEAD")[2].getheader("Content-Length") == str(len(CONTENT))
    assert client.ask("PUT", "/dav/new", CONTENT)[0] == 201
    assert client.ask("PUT", "/dav/chunked", iter([b"one", b"two"]))[0] == 201
    assert (http_server.root / "dav/new").read_bytes() == CONTENT
    assert (http_server.root / "dav/chunked").read_bytes() == b"onetwo"
    assert client.ask(path="/missing")[0] == 404
    traffic = proxy.traffic
    assert traffic.connections == 1
    assert traffic.requests == 6
    assert [exchange.status for exchange in traffic.exchanges] == [200, 206, 200, 201, 201, 404]
    assert traffic.exchanges[1].range == "bytes=5-9"
    assert traffic.exchanges[1].received == 5
    assert traffic.exchanges[3].sent == len(CONTENT)
    proxy.forget()
    assert proxy.traffic.requests == 0


def test_faults_apply_to_matching_requests(proxy, client):
    proxy.inject(faults.slow_down(503, "7"), method="GET", key="a chunk$", skip=1, times=2)
    assert [client.ask()[0] for _ in range(2)] == [200, 503]
    assert client.ask("HEAD")[0] == 200
    assert client.ask(path="/other")[0] == 404
    status, body, answer = client.ask()
    assert status == 503
    assert b"<Code>SlowDown</Code>" in body
    assert answer.getheader("Retry-After") == "7"
    assert client.ask()[0] == 200
    assert proxy.traffic.faults == ["answer", "answer"]


def test_errors_in_place_of_an_answer(proxy, client):
    for fault in (faults.slow_down(429, None), faults.denied(), faults.not_found()):
        proxy.inject(fault)
    assert [client.ask()[0] for _ in range(4)] == [429, 403, 404, 200]
    proxy.inject(faults.denied(), query="list-type=2", times=FOREVER)
    assert [client.ask(path=path)[0] for path in ("/?list-type=2", "/")] == [403, 200]
    proxy.clear()
    assert client.ask(path="/?list-type=2")[0] == 200


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (faults.drop(), ConnectionResetError),
        (faults.lose_answer(), ConnectionResetError),
        (faults.cut_request(2), ConnectionResetError),
        (faults.reset(100), ConnectionResetError),
        (faults.truncate(100), http.client.IncompleteRead),
        (faults.wrong_length(10), http.client.IncompleteRead),
        (faults.stall(100), TimeoutError),
        (faults.delay(0.6), TimeoutError),
    ],
    ids=lambda value: getattr(value, "kind", None),
)
def test_connections_that_fail(fault, error, proxy, connect):
    proxy.inject(fault)
    client = connect(proxy, timeout=0.3 if error is TimeoutError else PATIENCE)
    with pytest.raises(error) as caught:
        client.ask()
    client.connection.close()
    if error is http.client.IncompleteRead:
        assert caught.value.partial == CONTENT[: 100 if fault.kind == "truncate" else None]
    assert connect(proxy).ask()[:2] == (200, CONTENT)


def test_bodies_that_are_wrong(proxy, client):
    proxy.inject(faults.wrong_length(-10))
    assert client.ask()[:2] == (200, CONTENT[:-10])
    client.connection.close()
    proxy.inject(faults.corrupt(3))
    assert client.ask()[1] == CONTENT[:3] + b"\2" + CONTENT[4:]
    assert client.ask()[1] == CONTENT


def test_a_proxy_that_rejects(proxy, client):
    assert client.ask()[0] == 200
    with proxy.refusing():
        with pytest.raises(ConnectionResetError):
            client.ask()
        client.connection.close()
        with pytest.raises(ConnectionRefusedError):
            client.ask()
    client.connection.close()
    assert client.ask()[0] == 200
    proxy.break_connections()
    with pytest.raises(ConnectionResetError):
        client.ask()


def test_plain_connections_are_relayed_and_broken(redis_server, proxy_before):
    redis = pytest.importorskip("redis")
    proxy = proxy_before(redis_server, "tcp")

    def connect(timeout=PATIENCE):
        return redis.Redis(proxy.host, proxy.port, socket_timeout=timeout, retry=None)

    with connect() as client:
        client.set("plain", CONTENT)
        assert client.get("plain") == CONTENT
        proxy.set_latency(0.03)
        start = time.perf_counter()
        pipeline = client.pipeline(transaction=False)
        for _ in range(20):
            pipeline.get("plain")
        assert pipeline.execute() == [CONTENT] * 20
        assert time.perf_counter() - start >= 0.03
        proxy.set_latency(0)
        with proxy.refusing(), pytest.raises(redis.ConnectionError):
            client.get("plain")
    for fault in (faults.drop(), faults.reset(3000), faults.truncate(3000), faults.stall(3000)):
        proxy.inject(fault)
        timeout = 0.5 if fault.kind == "stall" else PATIENCE
        with pytest.raises((redis.ConnectionError, redis.TimeoutError)), connect(timeout) as client:
            client.get("plain")
    with connect() as client:
        assert client.get("plain") == CONTENT
    assert proxy.traffic.faults == ["drop", "reset", "truncate", "stall"]
