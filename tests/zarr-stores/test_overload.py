"""HTTP servers that are overloaded."""

import logging
import pickle

import pytest
from loopback import responding
from zarr_core.extension import ByteRange, StoreError
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

VALUE = bytes(range(100))
FIELDS = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 1970 00:00:01 GMT"}
BUSY = b"<Error><Code>SlowDown</Code></Error>"


def overloaded(times, status=503, only_parts=False, value=VALUE):
    """A server that rejects the first requests, or the first ones for parts."""
    rejected = []

    def respond(request):
        part = request.headers.get("Range")
        if len(rejected) < times and (part or not only_parts):
            rejected.append(request)
            return status, {"Retry-After": "0"}, BUSY
        if part is None:
            return 200, FIELDS, value
        first, last = part.removeprefix("bytes=").split("-")
        body = value[int(first) : int(last) + 1]
        return 206, FIELDS | {"Content-Range": f"bytes {first}-{last}/{len(value)}"}, body

    return responding(respond)


PLACES = {
    "s3": lambda url: ("s3://b/d", {"endpoint": url, "key": "k", "secret": "s"}),
    "gs": lambda url: ("gs://b/d", {"base_url": url, "skip_signature": True}),
    "az": lambda url: (
        "az://b/d", {"endpoint": f"{url}/a", "account_name": "a", "skip_signature": True}
    ),
    "https": lambda url: (f"{url}/d", {}),
    "webdav": lambda url: (f"{url}/d", {"webdav": True}),
    "fsspec": lambda url: (f"fsspec+{url}/d", {}),
}  # fmt: skip


def store_at(place, server, **more):
    if place == "fsspec":
        pytest.importorskip("aiohttp")
    url, options = PLACES[place](server.url)
    kind = FsspecStore if place == "fsspec" else ObjectStore
    return kind.from_url(url, **options, **more)


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("place", PLACES)
def test_requests_are_repeated(place, status):
    with overloaded(2, status) as server:
        store = store_at(place, server)
        assert bytes(store.get("k")) == VALUE
        assert len(server.requests) == 3
        assert store.read_only == (place in ("https", "fsspec"))


@pytest.mark.parametrize("place", ["s3", "webdav", "fsspec"])
def test_requests_are_repeated_for_a_time(place):
    with overloaded(1_000_000) as server:
        store = store_at(place, server, retry_timeout=1)
        if place == "fsspec":
            store = pickle.loads(pickle.dumps(store))
        with pytest.raises(StoreError, match=r"'k': cannot be read: .*503"):
            store.get("k")
        assert len(server.requests) >= 2


def test_requests_of_fsspec_for_parts_are_repeated(caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")
    with overloaded(2, only_parts=True, value=VALUE * 5000) as server:
        store = store_at("fsspec", server)
        assert [*store.get_partial_values([("k", ByteRange(3, 4))])] == [VALUE[3:7]]
        assert f"fsspec+{server.url}/d: the server is overloaded (503)" in caplog.text


def test_other_errors_of_fsspec_are_not_repeated():
    with overloaded(1_000, 500) as server:
        with pytest.raises(StoreError, match="500"):
            store_at("fsspec", server).get("k")
        assert len(server.requests) == 1


def test_failures_of_fsspec_are_not_missing_values():
    """The file system reports them as missing files."""
    calls = (
        lambda: store.get("k"),
        lambda: store.exists("k"),
        lambda: store.getsize("k"),
        lambda: store.get_partial_values([("k", ByteRange(3, 4))]),
        lambda: store.open_value("k", ByteRange(-3)),
    )
    with overloaded(1_000, 403) as server:
        store = store_at("fsspec", server)
        for call in calls:
            with pytest.raises(StoreError, match="'k': cannot be read: .*403"):
                call()
    for call in calls:  # nothing listens
        with pytest.raises(StoreError, match="'k': cannot be read"):
            call()
    with responding(lambda request: (404, {}, b"")) as server:
        store = store_at("fsspec", server)
        assert [call() for call in calls] == [None, False, None, [None], None]
