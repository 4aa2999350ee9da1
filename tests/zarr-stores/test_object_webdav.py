"""WebDAV servers: a single writer, and directories."""

import socket
import struct

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from zarr_core.errors import StoreError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
ALONE = {"webdav": True, "conditional": False}


@pytest.fixture(params=["http_server", "webdav_server"])
def server(request):
    return request.getfixturevalue(request.param)


def url_on(server, name):
    return f"{getattr(server, 'dav_url', server.url + '/').rstrip('/')}/{name}"


def test_one_writer_changes_parts_of_shards_and_attributes(server):
    url = url_on(server, "parts")
    array = zarr.create_array(
        url, shape=96, dtype="i8", chunks=8, shards=48, fill_value=0, storage_options=ALONE
    )
    array[50] = 5
    array[51:70:2] = 6
    array.attrs["unit"] = "K"
    again = zarr.open_array(url, storage_options=ALONE)
    assert [*np.flatnonzero(again[...])] == [50, *range(51, 70, 2)]
    assert dict(again.attrs) == {"unit": "K"}


def test_changes_that_could_be_lost_are_refused(server):
    url, options = url_on(server, "exclusive"), {"webdav": True}
    message = r"exclusive.* '.*': cannot be created or updated.*only writer.*'conditional': False"
    with pytest.raises(StoreError, match=message):
        zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=options)
    zarr.create_array(url, data=np.arange(9), chunks=2, storage_options=ALONE)
    array = zarr.open_array(url, storage_options=options)
    array[4:8] = 5  # whole chunks
    with pytest.raises(StoreError, match=message):
        array[3] = 1
    assert array[2:6].tolist() == [2, 3, 5, 5]
    store = ObjectStore.from_url(url, webdav=True)
    with pytest.raises(StoreError, match=message):
        store.update("zarr.json", lambda reader: None)
    assert store.exists("zarr.json")


def test_concurrent_writers_create_each_directory_once(server, proxy_before):
    proxy = proxy_before(server)
    url = url_on(server, "directories").replace(server.url, proxy.url)
    values = np.arange(256).reshape(16, 16)
    array = zarr.create_array(url, data=values, chunks=(1, 1), storage_options=ALONE)
    assert np.array_equal(array[...], values)
    made = [it.target.rstrip("/") for it in proxy.traffic.exchanges if it.method == "MKCOL"]
    created = [
        it.target.rstrip("/")
        for it in proxy.traffic.exchanges
        if (it.method, it.status) == ("MKCOL", 201)
    ]
    if hasattr(server, "dav_url"):  # nginx: PUT creates them
        assert not made
    else:
        assert len(created) == len(set(created)) == 18  # the array, "c", and one for each row
        assert len(made) - len(created) <= 2  # from the innermost to one that can be created


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
        if parent not in directories:
            return 409, {}, b""
        files[request.path] = request.body
        return 201, {}, b""

    with responding(respond) as server:
        store = ObjectStore.from_url(server.url, webdav=True)
        store.set("directory/key", b"value")
    assert files == {"/directory/key": b"value"}


@pytest.mark.parametrize(
    ("call", "arguments", "webdav", "s3"),
    [
        ("set", ("k", b"v"), "PUT", "PUT"),
        ("update", ("k", lambda _: b"v"), "PUT", "PUT"),
        ("exists", ("k",), "HEAD", "HEAD"),
        ("erase", ("k",), "DELETE", "POST"),
        ("list_dir", ("",), "PROPFIND", "GET"),
    ],
)
@pytest.mark.parametrize("known", [False, True], ids=["first", "known"])
@pytest.mark.parametrize("kind", ["webdav", "s3"])
def test_a_method_that_is_not_implemented_is_not_requested_again(
    kind, call, arguments, webdav, s3, known
):
    """obstore repeats a request with the status 501 for the limit, which is 60 s."""

    def respond(request):
        of_value = request.method == "GET" and "list-type" not in request.path
        return (404 if of_value else 501), {}, b""

    with responding(respond) as server:
        of_s3 = {"endpoint": server.url, "key": "k", "secret": "s"}
        url, options = ("s3://b", of_s3) if kind == "s3" else (server.url, ALONE)
        store = ObjectStore.from_url(url, **options)
        if known:
            assert store.get("a") is None
        for _ in range(2):
            server.requests.clear()
            with pytest.raises(StoreError, match="501 Not Implemented"):
                getattr(store, call)(*arguments)
            sent = [request.method for request in server.requests]
            assert sent.count(s3 if kind == "s3" else webdav) == 1
