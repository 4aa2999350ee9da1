"""Updates by several writers on WebDAV servers: with conditional writes, or refused."""

import itertools
import socket
import struct
import subprocess
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from object_stores import NO_RETRIES
from zarr_core.errors import NodeExistsError, StoreError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
DATE = "Thu, 01 Jan 1970 00:00:01 GMT"


class Files:
    """Files with entity tags; a request is processed as a whole."""

    def __init__(self, supports="If-Match If-None-Match", tag='"v{}"'):
        self.supports = supports
        self.tag = tag
        self.files = {}
        self.versions = itertools.count(2)
        self.guard = threading.Lock()
        self.lost = []
        """For the next writes, ``before`` or ``after`` if the response is lost."""

    def set(self, path, body):
        self.files[path] = body, self.tag.format(next(self.versions))

    def is_met(self, headers, old):
        wanted = headers.get("If-Match") if "If-Match" in self.supports else None
        if wanted is not None and (old is None or wanted != old[1]):
            return False
        return not ("If-None-Match" in headers and "If-None-Match" in self.supports and old)

    def respond(self, request):
        with self.guard:
            path, old = request.path, self.files.get(request.path)
            if request.method in ("PUT", "DELETE"):
                lost = self.lost.pop(0) if self.lost and "probe" not in path else ""
                if lost == "before":
                    raise ConnectionError
                if not self.is_met(request.headers, old):
                    return 412, {}, b""
                if request.method == "PUT":
                    self.set(path, request.body)
                else:
                    self.files.pop(path, None)
                if lost == "after":
                    raise ConnectionError
                return 204, {}, b""
            if old is None:
                return 404, {}, b""
            return 200, {"ETag": old[1], "Last-Modified": DATE}, old[0]


@contextmanager
def serving(files):
    with responding(files.respond) as server:
        server.files = files
        yield server


def store_at(server, **further):
    options = {"webdav": True, "retry_config": NO_RETRIES} | further
    return ObjectStore.from_url(f"{server.url}/d", **options)


def test_an_update_sees_what_others_have_written():
    with serving(Files()) as server:
        store = store_at(server)
        store.set("k", b"0")
        seen = []

        def change(reader):
            seen.append(None if reader is None else bytes(reader.read(0, reader.size)))
            if len(seen) == 1:
                server.files.set("/d/k", b"10")
            if len(seen) == 2:
                server.files.files.pop("/d/k")
            if len(seen) == 3:
                server.files.set("/d/k", b"20")
            return b"mine after %s" % seen[-1] if seen[-1] else b"created"

        store.update("k", change)
        assert seen == [b"0", b"10", None, b"20"]
        assert bytes(store.get("k")) == b"mine after 20"
        assert [*server.files.files] == ["/d/k"]  # nothing of the probe


def test_a_changed_file_is_not_removed():
    with serving(Files()) as server:
        store = store_at(server)
        store.set("k", b"old")

        def remove(reader):
            if bytes(reader.read(0, 3)) == b"new":
                return reader
            server.files.set("/d/k", b"new")
            return None

        store.update("k", remove)
        assert bytes(store.get("k")) == b"new"
        store.update("k", lambda reader: None)
        assert store.get("k") is None


def test_parts_of_shards_are_written():
    with serving(Files()) as server:
        array = zarr.create_array(
            store_at(server), shape=(40, 30), chunks=(4, 5), shards=(20, 30), dtype="f4"
        )
        array[3, 7] = 1.5  # a new shard
        array[5:15, 2] = 2.5  # a changed one
        expected = np.zeros((40, 30), "f4")
        expected[3, 7], expected[5:15, 2] = 1.5, 2.5
        assert np.array_equal(array[...], expected)


def test_a_part_of_a_new_shard_on_wsgidav(webdav_server):
    store = ObjectStore.from_url(f"{webdav_server.url}/parts", webdav=True)
    array = zarr.create_array(store, shape=96, dtype="i8", chunks=8, shards=48)
    array[50] = 5
    assert [*np.flatnonzero(array[...])] == [50]
    with pytest.raises(StoreError, match="entity tags of the server do not change within a second"):
        array[51] = 6


def test_parts_of_shards_on_nginx(http_server):
    store = ObjectStore.from_url(f"{http_server.dav_url}parts", webdav=True, conditional=False)
    array = zarr.create_array(store, shape=96, dtype="i8", chunks=8, shards=48)
    array[50] = 5
    array[51:70:2] = 6
    assert [*np.flatnonzero(array[...])] == [50, *range(51, 70, 2)]


COUNT = """
import sys
from zarr_stores.object import ObjectStore
store = ObjectStore.from_url(sys.argv[1], webdav=True)
for _ in range(20):
    store.update("k", lambda old: b"%d" % (int(bytes(old.read(0, old.size))) + 1))
"""


def test_processes_lose_nothing():
    with serving(Files()) as server:
        store_at(server).set("k", b"100")
        command = [sys.executable, "-W", "error", "-c", COUNT, f"{server.url}/d"]
        running = [subprocess.Popen(command) for _ in range(2)]
        assert [one.wait() for one in running] == [0, 0]
        assert server.files.files["/d/k"][0] == b"140"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (Files(""), "the server ignores If-Match"),
        (Files(tag='W/"v{}"'), "the server has no strong entity tags"),
        (Files(tag='"same"'), "the entity tags of the server do not change with each write"),
        (Files(tag='"ab-1-3"'), "the entity tags of the server do not change within a second"),
    ],
    ids=["ignored", "weak", "same", "seconds"],
)
def test_other_servers_are_refused(files, said):
    with serving(files) as server:
        store = store_at(server)
        store.set("k", b"old")
        for _ in range(2):
            with pytest.raises(StoreError, match=said) as caught:
                store.update("k", lambda reader: b"new")
        assert f"{server.url}/d 'k': cannot be updated" in str(caught.value)
        assert "storage_options={'conditional': False}" in str(caught.value)
        probes = [it.path for it in server.requests if "probe" in it.path]
        assert len(set(probes)) == 1  # the result is kept
        assert {path: body for path, (body, _) in files.files.items()} == {"/d/k": b"old"}
        alone = store_at(server, conditional=False)
        alone.update("k", lambda reader: bytes(reader.read(0, 3)) + b"er")
        assert bytes(alone.get("k")) == b"older"


def test_creating_requires_only_if_none_match():
    with serving(Files("If-None-Match")) as server:
        store = store_at(server)
        store.update("new", lambda reader: b"0")
        with pytest.raises(StoreError, match=r"ignores If-Match.*several writers could be lost"):
            store.update("new", lambda reader: b"1")
        with pytest.raises(StoreError, match=r"ignores If-Match.*several writers could be lost"):
            store.update("new", lambda reader: None)
        assert bytes(store.get("new")) == b"0"


def test_changing_requires_only_if_match():
    with serving(Files("If-Match")) as server:
        store = store_at(server)
        store.set("k", b"0")
        store.update("k", lambda reader: b"1")
        with pytest.raises(StoreError, match=r"'new': cannot be created exclusively.*None-Match"):
            store.update("new", lambda reader: b"0")
        assert {path: body for path, (body, _) in server.files.files.items()} == {"/d/k": b"1"}


def place_on(server, name):
    url = f"{getattr(server, 'dav_url', server.url + '/').rstrip('/')}/{name}"
    return url, {"webdav": True}


def test_nginx_cannot_create_nodes_exclusively(http_server):
    url, options = place_on(http_server, "exclusive")
    message = (
        "zarr.json': cannot be created exclusively: the server ignores If-None-Match .*only writer, "
        "pass storage_options={'conditional': False}"
    )
    with pytest.raises(StoreError, match=message):
        zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=options)
    alone = options | {"conditional": False}
    array = zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=alone)
    array[3] = -3
    again = zarr.open_array(url, storage_options=options)
    assert again[2:5].tolist() == [2, -3, 4]
    again[4:8] = 5  # whole chunks
    with pytest.raises(StoreError, match=r"cannot be updated.*conditional"):
        again[3] = 1
    assert again[2:6].tolist() == [2, -3, 5, 5]


def test_wsgidav_creates_nodes_exclusively_and_cannot_change_parts(webdav_server):
    """Its entity tags have a time in seconds."""
    url, options = place_on(webdav_server, "exclusive")
    array = zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=options)
    with pytest.raises(NodeExistsError):
        zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=options)
    with pytest.raises(StoreError, match="within a second.*only writer, pass storage_options"):
        array[3] = -3
    alone = zarr.open_array(url, storage_options=options | {"conditional": False})
    alone[3] = -3
    assert array[2:5].tolist() == [2, -3, 4]


@pytest.mark.parametrize("name", ["http_server", "webdav_server"])
def test_concurrent_writers_create_each_directory_once(request, name, proxy_before):
    server = request.getfixturevalue(name)
    url, options = place_on(server, f"directories-{name}")
    proxy = proxy_before(server)
    url = url.replace(server.url, proxy.url)
    values = np.arange(256).reshape(16, 16)
    options["conditional"] = False
    array = zarr.create_array(url, data=values, chunks=(1, 1), storage_options=options)
    assert np.array_equal(array[...], values)
    made = [it.target.rstrip("/") for it in proxy.traffic.exchanges if it.method == "MKCOL"]
    created = [
        it.target.rstrip("/")
        for it in proxy.traffic.exchanges
        if (it.method, it.status) == ("MKCOL", 201)
    ]
    if name == "http_server":  # PUT creates them
        assert not made
    else:
        assert len(created) == len(set(created)) == 18  # the array, "c", and one for each row
        assert len(made) - len(created) <= 2  # from the innermost to one that can be created


def test_a_response_that_is_lost():
    with serving(Files()) as server:
        store = store_at(server, retry_config={"max_retries": 5})
        store.set("k", b"0")

        def add(reader):
            return b"%d" % (int(bytes(reader.read(0, reader.size))) + 1)

        store.update("k", add)
        server.files.lost = ["before", "before"]
        store.update("k", add)
        assert bytes(store.get("k")) == b"2"
        server.files.lost = ["after"]
        with pytest.raises(StoreError, match="'k'.*it is unknown whether the new value was stored"):
            store.update("k", add)
        assert bytes(store.get("k")) == b"3"


def test_arrays_and_attributes_are_written():
    with serving(Files()) as server:
        options = {"webdav": True}
        array = zarr.create_array(
            f"{server.url}/d/a",
            shape=6,
            chunks=3,
            dtype="i4",
            fill_value=0,
            storage_options=options,
        )
        array[1:5] = 7
        array.attrs["unit"] = "K"
        again = zarr.open_array(f"{server.url}/d/a", storage_options=options)
        assert (again[...].tolist(), dict(again.attrs)) == ([0, 7, 7, 7, 7, 0], {"unit": "K"})


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_directory_whose_response_is_lost(lost):
    """obstore repeats a PUT without a response, but not the MKCOL that a PUT needs."""
    directories, files, requests = {"/"}, {}, []

    def reset(request):
        # Closing a socket that does not linger sends RST instead of FIN.
        request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.connection.close()
        raise ConnectionResetError

    def respond(request):
        requests.append(request.method)
        parent = request.path.rpartition("/")[0] + "/"
        if request.method == "MKCOL":
            path = request.path.rstrip("/") + "/"
            first = requests.count("MKCOL") == 1
            if first and lost == "before":
                reset(request)
            status = 405 if path in directories else 201
            directories.add(path)
            if first:
                reset(request)
            return status, {}, b""
        if request.method == "HEAD":  # whether the server answers
            return 404, {}, b""
        if parent not in directories:
            return 409, {}, b""
        files[request.path] = request.body
        return 201, {}, b""

    with responding(respond) as server:
        store = ObjectStore.from_url(server.url, webdav=True)
        store.set("directory/key", b"value")
    assert files == {"/directory/key": b"value"}
