"""fsspec file systems with latency: concurrent requests, versions, processes."""

import asyncio
import contextlib
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr as zarr_python
import zarr_core as zarr
from waits import LATENCIES, eventually
from zarr_core.errors import StoreError, StoreKeyError, StoreReadError, ValueReplacedError
from zarr_core.extension import ByteRange

fsspec = pytest.importorskip("fsspec")

from fsspec.asyn import AsyncFileSystem  # noqa: E402
from servers import faults  # noqa: E402
from servers.proxy import Proxy  # noqa: E402
from servers.s3_server import SeaweedServer  # noqa: E402
from zarr_stores.fsspec import FsspecStore  # noqa: E402

pytest_plugins = ["servers.fixtures"]


class Slow(AsyncFileSystem):
    """A file system in memory with latency and versions."""

    protocol = "slow"
    cachable = False

    def __init__(self, **options):
        super().__init__(**options)
        self.files = {}
        self.calls = []
        self.flying = self.most = 0
        self.latency = 0.0

    @contextlib.asynccontextmanager
    async def _request(self, *call):
        self.calls.append(call)
        self.flying += 1
        self.most = max(self.most, self.flying)
        try:
            await asyncio.sleep(self.latency)
            yield
        finally:
            self.flying -= 1

    async def _cat_file(self, path, start=None, end=None, **options):
        async with self._request("cat", path, start, end):
            if path not in self.files:
                raise FileNotFoundError(path)
            return self.files[path][0][start:end]

    async def _pipe_file(self, path, value, mode="overwrite", **options):
        async with self._request("pipe", path):
            version = self.files.get(path, (b"", 0))[1] + 1
            self.files[path] = (bytes(value), version)

    async def _rm_file(self, path, **options):
        async with self._request("rm", path):
            self.files.pop(path, None)

    async def _info(self, path, **options):
        async with self._request("info", path):
            if path in self.files:
                value, version = self.files[path]
                return {"name": path, "type": "file", "size": len(value), "ETag": str(version)}
            if any(name.startswith(f"{path}/") for name in self.files):
                return {"name": path, "type": "directory", "size": 0}
            raise FileNotFoundError(path)

    async def _find(self, path, detail=False, **options):
        async with self._request("find", path):
            found = [name for name in self.files if name.startswith(f"{path}/")]
        if not detail:
            return found
        return {name: {"name": name, "size": len(self.files[name][0])} for name in found}

    async def _ls(self, path, detail=True, **options):
        async with self._request("ls", path):
            found = {}
            for name in self.files:
                if name.startswith(f"{path}/"):
                    rest = name[len(path) + 1 :]
                    child = f"{path}/{rest.partition('/')[0]}"
                    found[child] = "directory" if "/" in rest else "file"
            return [{"name": name, "type": kind} for name, kind in found.items()]


@pytest.fixture
def slow():
    return Slow()


VALUES = np.arange(1600, dtype="int32").reshape(40, 40)


def test_chunks_are_read_and_written_many_at_a_time(slow):
    store = FsspecStore(slow, "root")
    array = zarr.create_array(store, shape=(40, 40), chunks=(5, 5), dtype="int32")
    for slow.latency in LATENCIES:
        slow.most = slow.most_written = 0
        array[...] = VALUES
        slow.most_written, slow.most = slow.most, 0
        assert np.array_equal(array[...], VALUES)
        if min(slow.most, slow.most_written) >= 20:
            break
    assert 20 <= slow.most_written <= store.max_concurrency == 64
    assert 20 <= slow.most <= store.max_concurrency


def test_small_values_and_nodes_take_one_request(slow):
    """Reading a small value and opening a node take one request each."""
    store = FsspecStore(slow, "root")
    slow.files["root/k"] = (b"value", 1)
    store.update("k", lambda reader: bytes(reader.read(0, 5)) + b"!")
    assert [call[0] for call in slow.calls] == ["cat", "pipe"]
    zarr.create_group(store, attributes={"x": 1})
    slow.calls.clear()
    zarr.open_group(store, mode="r")
    assert [call[0] for call in slow.calls] == ["cat"]


def test_parts_of_a_large_value_are_of_one_version(slow):
    store = FsspecStore(slow, "root")
    slow.files["root/k"] = (bytes(10**6), 1)
    with store.open_value("k", ByteRange(-10)) as reader:
        assert reader.size == 10**6
        assert reader.generation == store.generation("k") == "1"
        assert bytes(reader.read(999_990, 10)) == bytes(10)
        store.set("k", b"\1" * 10**6)
        with pytest.raises(ValueReplacedError):
            reader.read(5, 5)
    array = zarr.create_array(
        FsspecStore(slow, "a"), shape=400_000, chunks=100, shards=400_000, dtype="int32",
        compressors=None,
    )  # fmt: skip
    array[...] = 5
    slow.calls.clear()
    assert array[123_456] == 5
    assert all(call[3] is not None for call in slow.calls if call[0] == "cat")


def test_an_asynchronous_instance_is_not_changed():
    s3fs = pytest.importorskip("s3fs")
    given = s3fs.S3FileSystem(anon=True, asynchronous=True)
    store = FsspecStore(given, "bucket/x")
    assert store._location.fs() is not given
    assert not store._location.fs().asynchronous
    assert given.asynchronous
    assert store.url == "fsspec+s3://bucket/x"


class Single(fsspec.AbstractFileSystem):
    """Fails if two threads use it at the same time, like a connection."""

    protocol = "single"
    cachable = False

    def __init__(self, **options):
        super().__init__(**options)
        self.inside = threading.Lock()
        self.files = {"root/k": bytes(1000)}

    def cat_file(self, path, start=None, end=None, **options):
        assert self.inside.acquire(blocking=False), "two at a time"
        try:
            time.sleep(0.001)
            return self.files[path][start:end]
        finally:
            self.inside.release()


def test_unsafe_file_systems_are_used_by_one_thread_at_a_time():
    store = FsspecStore(Single(), "root")
    assert store.max_concurrency is None
    with ThreadPoolExecutor(10) as pool:
        assert [*pool.map(store.get, "k" * 10)] == [bytes(1000)] * 10


# --- a real service ---


@pytest.fixture
def s3(s3_server, monkeypatch):
    """Options, and the bucket."""
    pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_server.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_server.secret_key)
    return {"endpoint_url": s3_server.url}, s3_server.bucket


def test_s3_round_trips_with_zarr_python(s3, tmp_path):
    options, bucket = s3
    url = f"s3://{bucket}{tmp_path}/ours"
    root = zarr.create_group(f"fsspec+{url}", storage_options=options)
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))
    theirs = zarr_python.storage.FsspecStore.from_url(url, storage_options=options)
    assert np.array_equal(zarr_python.open_group(theirs, mode="r")["sharded"][...], VALUES)

    url = f"s3://{bucket}{tmp_path}/theirs"
    store = zarr_python.storage.FsspecStore.from_url(url, storage_options=options)
    array = zarr_python.create_array(
        store, shape=(40, 40), dtype="int32", chunks=(14, 15), name="a"
    )
    array[...] = VALUES
    for place in (fsspec.get_mapper(url, **options), f"fsspec+{url}"):
        given = {"storage_options": options} if isinstance(place, str) else {}
        found = zarr.open(place, mode="r", path="a", **given)
        assert np.array_equal(found[...], VALUES)


def test_s3_is_never_stale(s3, tmp_path):
    options, bucket = s3
    theirs = fsspec.filesystem("s3", **options)
    root = f"{bucket}{tmp_path}"
    theirs.pipe_file(f"{root}/a/1", b"old")
    assert len(theirs.ls(f"{root}/a")) == 1  # remembered from now on
    store = FsspecStore(theirs, root)
    other = FsspecStore.from_url(f"fsspec+s3://{root}", **options)
    assert store == other
    for number in range(3):
        assert store.list_dir("a/") == other.list_dir("a/")
        other.set(f"a/new{number}", b"longer")
        assert store.exists(f"a/new{number}")
        assert f"a/new{number}" in store.list_dir("a/")[0]
        assert f"a/new{number}" in list(store.list())
    other.set("a/1", b"a new value")
    assert store.getsize("a/1") == 11
    assert theirs.dircache  # as configured by the user


def test_s3_errors_name_the_problem(s3):
    options, bucket = s3
    store = FsspecStore.from_url("fsspec+s3://no-such-bucket/x", **options)
    for call in (store.get, lambda key: list(store.list()), lambda key: store.set(key, b"v")):
        with pytest.raises(StoreError, match=r"fsspec\+s3://no-such-bucket/x.*bucket"):
            call("a/k")
    store = FsspecStore.from_url(f"fsspec+s3://{bucket}/x", **options)
    with pytest.raises(StoreKeyError, match="is not a file name"):
        store.get("k?versionId=5")


def test_s3_rejected_connections_are_not_missing_values():
    pytest.importorskip("s3fs")
    store = FsspecStore.from_url(
        "fsspec+s3://bucket/x", endpoint_url="http://127.0.0.1:9", key="access-1", secret="secret-1",
        config_kwargs={"retries": {"max_attempts": 0}},
    )  # fmt: skip
    assert str(store) == "fsspec+s3://bucket/x at http://127.0.0.1:9"
    with pytest.raises(StoreReadError, match=rf"{re.escape(str(store))} 'k'"):
        store.get("k")
    given = {"endpoint_url": "http://me:secret-2@h:9/?sig=secret-3"}
    other = FsspecStore.from_url("fsspec+s3://bucket/x", client_kwargs=given)
    assert str(other).startswith("fsspec+s3://bucket/x at http")
    assert "secret" not in f"{other} {other!r}"
    with pytest.raises(StoreError, match=r"contain credentials \(key, secret\)"):
        pickle.dumps(store)
    assert "secret-1" not in repr(store)


def test_a_hung_s3_server_is_reported(own_server):
    server = own_server(SeaweedServer)
    options = {
        "endpoint_url": server.url, "key": server.access_key, "secret": server.secret_key,
    }  # fmt: skip
    url = f"fsspec+s3://{server.bucket}/x"
    patient = FsspecStore.from_url(url, **options)
    patient.set("k", b"value")
    store = FsspecStore.from_url(url, timeout=1, **options)
    with server.frozen():
        for call in (
            lambda: store.getsize("k"),
            lambda: store.set("k", b"new"),
            lambda: store.get_partial_values([("k", ByteRange(1, 2))]),
            lambda: list(store.list_prefix("")),
        ):
            with pytest.raises(StoreError, match="no response within 1 s; the option timeout=1"):
                call()
    assert bytes(eventually(lambda: patient.get("k"), StoreError)) in (b"value", b"new")


def test_s3_faults_are_retried_or_reported(s3, s3_server, tmp_path):
    options, bucket = s3
    value = bytes(range(256)) * 2000
    with Proxy(s3_server.port) as proxy:
        options = {**options, "endpoint_url": proxy.url}
        store = FsspecStore.from_url(f"fsspec+s3://{bucket}{tmp_path}", **options)
        store.set("k", value)
        for fault in (
            faults.drop(),
            faults.reset(1000),
            faults.truncate(1000),
            faults.wrong_length(9),
        ):
            proxy.inject(fault, method="GET", key="/k$")
            assert store.get("k") == value, fault
            proxy.clear()
        proxy.inject(faults.ignore_range(), method="GET", key="/k$", times=faults.FOREVER)
        with store.open_value("k", ByteRange(-10)) as reader:
            assert bytes(reader.read(1000, 300)) == value[1000:1300]
        assert store.get_partial_values([("k", ByteRange(-9, 5))]) == [value[-9:-4]]
        proxy.clear()
        proxy.inject(faults.denied(), key="/k$", times=faults.FOREVER)
        for call in (store.get, store.exists, lambda key: store.set(key, b"new")):
            with pytest.raises(StoreError, match=r"fsspec\+s3://.*'k'"):
                call("k")
        proxy.clear()
        proxy.inject(faults.lose_answer(), method="PUT", key="/k$")
        store.set("k", b"again")
        assert store.get("k") == b"again"
        proxy.inject(faults.not_found(), method="GET", key="/k$")
        assert store.get("k") is None


CHILD = """
import pickle, sys
array = pickle.load(sys.stdin.buffer)
array[:5] = array[5:10]
print(int(array[...].sum()))
"""


def test_s3_in_other_processes(s3, tmp_path):
    options, bucket = s3
    url = f"fsspec+s3://{bucket}{tmp_path}"
    array = zarr.create_array(url, data=VALUES, chunks=(5, 20), storage_options=options)
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=pickle.dumps(array), capture_output=True, check=False
    )
    expected = VALUES.copy()
    expected[:5] = expected[5:10]
    assert done.stdout.decode().strip() == str(expected.sum()), done.stderr.decode()
    assert np.array_equal(array[...], expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_s3_after_a_fork(s3, tmp_path):
    options, bucket = s3
    array = zarr.create_array(
        f"fsspec+s3://{bucket}{tmp_path}", data=VALUES, chunks=(5, 20), storage_options=options
    )
    assert np.array_equal(array[...], VALUES)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            array[0, :5] = 9
            code = 0 if np.array_equal(array[1:], VALUES[1:]) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert array[0, :6].tolist() == [9, 9, 9, 9, 9, 5]
