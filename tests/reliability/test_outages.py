"""Servers that are killed and restarted while an array is written, and servers that hang."""

import json
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE, Popen
from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import gcs_environment, s3_options
from servers.azure_server import AzureServer
from servers.gcs_server import DurableGcsServer, GcsServer
from servers.gcs_writes import writable
from servers.http_server import NginxDavServer, NginxServer, WebDavServer
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.proxy import Proxy
from servers.redis_server import RedisServer
from servers.s3_server import SeaweedServer
from waits import PATIENCE, wait_until
from zarr_core.errors import StoreError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


def url_and_options(server):
    """A new location on a server."""
    name = f"t{uuid4().hex}"
    address = f"{server.host}:{server.port}"
    match server:
        case RedisServer():
            return f"redis://{address}/0?prefix={name}", {}
        case PostgresServer():
            return f"{server.url}?table={name}", {}
        case MongoServer():
            return f"mongodb://{address}/zarr?collection={name}&directConnection=true", {}
        case SeaweedServer():
            options = s3_options(server)
            del options["retry_config"]
            return f"s3://{server.bucket}/{name}", options
        case AzureServer():
            options = {
                "endpoint": getattr(server, "proxied_url", server.url),
                "account_name": server.account,
                "account_key": server.key,
            }
            return f"az://{server.container}/{name}", options
        case GcsServer():
            place = getattr(server, "proxied", server).url
            account = gcs_environment(place)["GOOGLE_SERVICE_ACCOUNT_KEY"]
            options = {"base_url": place, "service_account_key": account}
            return f"gs://{server.bucket}/{name}", options
        case NginxDavServer():
            return f"{server.dav_url}{name}", {"webdav": True, "conditional": False}
        case NginxServer():
            return server.url, {}
        case WebDavServer():
            return f"{server.url}/{name}", {"webdav": True, "conditional": False}


class WritableGcsServer(DurableGcsServer):
    """The emulator of Google Cloud with a proxy, which obstore needs to write."""

    name = "gcs-writable"

    def __init__(self):
        super().__init__()
        self.proxy = ExitStack()
        self.proxied = None

    def started(self):
        super().started()
        if self.proxied is None:
            self.proxied = self.proxy.enter_context(writable(self))

    def close(self):
        self.proxy.close()
        super().close()


class UnreachableAzureServer(AzureServer):
    """Azurite behind a proxy that refuses connections; Azurite loses its data if it is killed."""

    name = "azure-unreachable"

    def __init__(self):
        super().__init__()
        self.proxy = None
        self.outage = ExitStack()

    @property
    def proxied_url(self):
        return f"{self.proxy.url}/{self.account}"

    def start(self):
        if self.proxy is None:
            super().start()
            self.proxy = Proxy(self.port)
        self.outage.close()
        return self

    def kill(self):
        if self.proxy is None:
            super().kill()
        else:
            self.outage.enter_context(self.proxy.refusing())

    def close(self):
        if self.proxy is not None:
            self.proxy.close()
            self.proxy = None
        super().close()


ATOMIC = [
    SeaweedServer,
    UnreachableAzureServer,
    WritableGcsServer,
    NginxDavServer,
    RedisServer,
    PostgresServer,
    MongoServer,
]
# WsgiDAV overwrites files in place, so a killed one leaves half values until they are repeated.
DURABLE = [*ATOMIC, WebDavServer]
ROWS = 500


def servers(kinds, slow=()):
    """Parametrize a test by servers, some of them only in the slow tests."""
    marks = {True: [pytest.mark.slow], False: []}
    params = [pytest.param(kind, id=kind.name, marks=marks[kind in slow]) for kind in kinds]
    return pytest.mark.parametrize("server", params, indirect=True)


@pytest.fixture
def server(request, own_server):
    return own_server(request.param)


def rows(number):
    """The values of a round; no value is that of another round."""
    return np.arange(ROWS)[:, None] + np.arange(40) * ROWS + 20_000 * number


class Rounds:
    """Calls of a function in a thread, one after the other, until one fails."""

    def __init__(self, call):
        self._call = call
        self.number = 0  # of the current or last call
        self.error = None
        self.stopping = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self.stopping:
            self.number += 1
            try:
                self._call(self.number)
            except BaseException as error:
                self.error = error
                return

    def end(self):
        self.stopping = True
        self._thread.join()


def array_at(url, options):
    """An array of 500 chunks, in one directory, since some servers are slow to create hundreds."""
    return zarr.create_array(
        url, data=rows(0), chunks=(1, 40), compressors=None, storage_options=options,
        chunk_key_encoding={"name": "default", "separator": "."},
    )  # fmt: skip


def rounds_of_writes(url, options, **limits):
    """Start calls that write 500 chunks; wait until the first of them has begun."""
    array = array_at(url, options)
    hasty = zarr.open_array(url, storage_options=options | limits)

    def write(number):
        hasty[...] = rows(number)

    rounds = Rounds(write)
    wait_until(lambda: rounds.error or not np.array_equal(array[:1], rows(0)[:1]))
    return rounds


def write_and_read_through_an_outage(server, seconds):
    url, options = url_and_options(server)
    other = array_at(*url_and_options(server))

    def read(number):
        assert np.array_equal(other[:100], rows(0)[:100])

    writes, reads = rounds_of_writes(url, options), Rounds(read)
    wait_until(lambda: reads.error or reads.number > 1)
    server.kill()
    time.sleep(seconds)
    writes.stopping = reads.stopping = True  # the last calls began before the restart
    server.start()
    for rounds in (writes, reads):
        rounds.end()
        assert rounds.error is None, rounds.error
    again = zarr.open_array(url, mode="r", storage_options=options)
    assert np.array_equal(again[...], rows(writes.number))


@pytest.mark.parametrize("seconds", [1, pytest.param(20, marks=pytest.mark.slow)])
@servers(DURABLE, slow=[UnreachableAzureServer, WebDavServer, WritableGcsServer])
def test_calls_survive_an_outage(server, seconds):
    write_and_read_through_an_outage(server, seconds)


# They apply a change of a part once, although a response may be lost.
@servers(
    [kind for kind in ATOMIC if kind is not NginxDavServer],
    slow=[UnreachableAzureServer, WritableGcsServer],
)
def test_parts_of_chunks_are_changed_once_in_an_outage(server):
    url, options = url_and_options(server)
    array = zarr.create_array(
        url, data=np.zeros((200, 2), "int64"), chunks=(1, 2), compressors=None, fill_value=-1,
        storage_options=options,
    )  # fmt: skip

    def change(number):
        array[:, 0] = number

    rounds = Rounds(change)
    wait_until(lambda: rounds.error or rounds.number > 1)
    server.kill()
    time.sleep(1)
    server.start()
    rounds.end()
    last, error = rounds.number, rounds.error
    unconfirmed = set()
    if error is not None:
        assert isinstance(error, StoreError)
        assert "it is unknown whether" in str(error)
        unconfirmed = {int(key.split("/")[-2]) for key in error.unconfirmed}
    found = zarr.open_array(url, mode="r", storage_options=options)[...]
    assert not found[:, 1].any()
    for row, value in enumerate(found[:, 0]):
        assert value == last or (row in unconfirmed and value == last - 1)
    array[:, 0] = last + 1
    assert (array[:, 0] == last + 1).all()


@servers(DURABLE)
def test_the_error_after_the_limit_names_the_limits_and_the_remedy(server):
    url, options = url_and_options(server)
    limits = {"retry_timeout": 1, "connect_timeout": 0.3}
    store, _ = zarr.resolve_store_path(url, storage_options=limits | options)
    store.set("a/k", b"v")
    server.kill()
    with pytest.raises(StoreError, match=r"a/k.*after .*retry_timeout"):
        store.set("a/k", b"w")
    server.start()
    assert bytes(store.get("a/k")) == b"v"


def row_of(key):
    """The row of a chunk key."""
    return int(key.split(".")[-2])


def fail_in_an_outage(server, seconds, **limits):
    """A call fails, and names all chunks that are not stored; no value is half."""
    url, options = url_and_options(server)
    rounds = rounds_of_writes(url, options, **limits)
    server.kill()
    time.sleep(seconds)
    rounds.end()
    error, number = rounds.error, rounds.number
    assert isinstance(error, StoreError)
    assert "retry_timeout" in str(error)
    unconfirmed = [row_of(key) for key in error.unconfirmed]
    assert f"{len(unconfirmed):,} values of the same write" in str(error) or len(unconfirmed) == 1
    server.start()
    array = zarr.open_array(url, storage_options=options)
    old, new = rows(number - 1), rows(number)
    for row, found in enumerate(array[...]):
        stored = np.array_equal(found, new[row])
        assert stored or (row in unconfirmed and np.array_equal(found, old[row]))
    for row in unconfirmed:
        array[row] = new[row]
    assert np.array_equal(array[...], new)
    array[...] = rows(0)
    assert np.array_equal(array[...], rows(0))


@servers(ATOMIC, slow=[UnreachableAzureServer, WritableGcsServer])
def test_a_failed_call_names_the_chunks_that_are_missing_and_can_be_repeated(server):
    fail_in_an_outage(server, 0, retry_timeout=0.2, connect_timeout=0.3)


@servers(ATOMIC, slow=ATOMIC)
def test_a_call_fails_after_an_outage_that_exceeds_the_limit(server):
    fail_in_an_outage(server, 20, retry_timeout=10)


def test_a_failed_copy_names_the_keys_that_are_missing_and_can_be_repeated(own_server):
    server = own_server(SeaweedServer)
    url, options = url_and_options(server)
    limits = {"retry_timeout": 0.2, "connect_timeout": 0.3}
    source = zarr.create_array(data=rows(1), chunks=(1, 40), compressors=None)
    store, _ = zarr.resolve_store_path(url, storage_options=options | limits)
    failed = []

    def copy():
        while not failed:  # a fast server stores all values before it is killed
            try:
                zarr.copy(source, store, "a", overwrite=True)
            except StoreError as error:
                failed.append(error)

    thread = threading.Thread(target=copy)
    thread.start()
    wait_until(lambda: failed or store.get("a/c/0/0") is not None)
    server.kill()
    thread.join()
    server.start()
    stored = {key for key in store.list() if key.startswith("a/c/")}
    missing = {f"a/c/{row}/0" for row in range(ROWS)} - stored
    assert missing <= set(failed[0].unconfirmed)
    zarr.copy(source, store, "a", overwrite=True)
    assert np.array_equal(zarr.open_array(store, path="a")[...], rows(1))


HUNG = [SeaweedServer, WebDavServer, NginxServer, AzureServer, GcsServer]


@pytest.mark.parametrize("kind", HUNG, ids=lambda kind: kind.name)
def test_a_hung_server_is_reported(own_server, kind):
    """Databases have this test in their contract, s3fs in the tests of fsspec."""
    server = own_server(kind)
    url, options = url_and_options(server)
    limits = {"timeout": 0.5, "connect_timeout": 0.5, "retry_timeout": 0.2}
    store, _ = zarr.resolve_store_path(url, storage_options=limits | options)
    assert isinstance(store, ObjectStore)
    calls = [lambda: store.get("k"), lambda: store.exists("k"), lambda: store.open_value("k")]
    if not store.read_only:
        calls += [
            lambda: store.set("k", b"w"),
            lambda: store.erase("k"),
            lambda: store.update("k", lambda reader: b"w"),
        ]
    if store.supports_listing:
        calls += [lambda: list(store.list()), lambda: store.list_dir("")]
    if kind is not GcsServer:  # obstore cannot write to the emulator
        assert store.get("k") is None
    with server.frozen(), ThreadPoolExecutor(len(calls)) as pool:
        for call in [pool.submit(call) for call in calls]:
            with pytest.raises(StoreError, match="timeout"):
                call.result()


def test_a_hung_server_is_reported_by_fsspec(own_server):
    pytest.importorskip("aiohttp")
    server = own_server(NginxServer)
    store, _ = zarr.resolve_store_path(f"fsspec+{server.url}", storage_options={"timeout": 0.2})
    assert store.get("k") is None
    with server.frozen():
        for call in (lambda: store.exists("k"), lambda: store.get("k")):
            with pytest.raises(StoreError, match=r"timeout=0\.2"):
                call()


def over_fsspec(url, options):
    """The same location through fsspec."""
    if url.startswith("s3:"):
        names = {"endpoint_url": "endpoint", "key": "access_key_id", "secret": "secret_access_key"}
        options = {name: options[other] for name, other in names.items()}
    return f"fsspec+{url}", options


CALLS_ON = {
    **{kind.name: (kind, lambda *place: place) for kind in DURABLE},
    "fsspec-s3": (SeaweedServer, over_fsspec),
}


# One store class each: the other servers have the class of SeaweedFS.
ONE_OF_A_KIND = {"seaweed", "wsgidav", "redis", "postgres", "mongo", "fsspec-s3"}


def calls_on(names):
    """Parametrize a test by names of CALLS_ON, some of them only in the slow tests."""
    slow = pytest.mark.slow
    params = [pytest.param(name, marks=[slow] * (name not in ONE_OF_A_KIND)) for name in names]
    return pytest.mark.parametrize("name", params)


@calls_on(CALLS_ON)
def test_an_interrupt_ends_each_call_on_a_server_that_hangs(own_server, name):
    """The limits are 60 s."""
    kind, change = CALLS_ON[name]
    if name.startswith("fsspec"):
        pytest.importorskip("s3fs")
    server = own_server(kind)
    url, options = url_and_options(server)
    array = zarr.create_array(
        url, path="a", data=np.full((8, 6), 5, "uint16"), chunks=(2, 3), compressors=None,
        storage_options=options,
    )  # fmt: skip
    program = Path(__file__).with_name("interrupted_calls.py")
    url, options = change(url, options)
    command = [sys.executable, str(program), url, json.dumps(options)]
    lines = []
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready 5\n"
            with server.frozen():
                process.stdin.write("\n")
                process.stdin.flush()
                for line in process.stdout:
                    lines.append(line.split())
                    if lines[-1][0] == "begin":
                        time.sleep(0.5)
                        process.send_signal(signal.SIGINT)
                    if lines[-1][0] == "end":
                        break
                process.wait(PATIENCE)
        finally:
            process.kill()
    ended = {" ".join(words[1:-2]): words[-2:] for words in lines if words[0] == "interrupted"}
    assert len(ended) == 8, lines
    assert max(float(seconds) for seconds, _ in ended.values()) < 20, ended
    assert int(ended["write"][1]) == 8, ended
    assert np.isin(array[...], (5, 7)).all()  # not what the caller stored in the memory later


LIMIT = 5  # seconds


# pymongo connects again after a response is late, within the same request.
@calls_on(name for name in CALLS_ON if name != "mongo")
def test_a_server_that_hangs_costs_one_limit(own_server, name):
    kind, change = CALLS_ON[name]
    if name.startswith("fsspec"):
        pytest.importorskip("s3fs")
    server = own_server(kind)
    url, options = change(*url_and_options(server))
    options |= {"timeout": LIMIT, "retry_timeout": LIMIT}
    data = np.full((6, 4), 2.5)
    array = zarr.create_array(url, path="a", data=data, chunks=3, storage_options=options)
    calls = [
        lambda: zarr.open(url, path="a", storage_options=options),
        lambda: array[...],
        lambda: array.__setitem__(..., data),
        lambda: zarr.create_array(url, path="b", data=data, storage_options=options),
        lambda: zarr.create_group(url, path="a", overwrite=True, storage_options=options),
    ]

    def seconds(call):
        began = time.monotonic()
        with pytest.raises(StoreError, match=r"timeout"):
            call()
        return time.monotonic() - began

    with server.frozen(), ThreadPoolExecutor(len(calls)) as pool:
        assert max([*pool.map(seconds, calls)]) < 2 * LIMIT
