"""HTTP servers that are overloaded and say when a request may be repeated."""

import itertools
import logging
import pickle
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import responding
from zarr_core.extension import ByteRange, StoreError
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

VALUE = bytes(range(100))
FIELDS = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 1970 00:00:01 GMT"}
BUSY = b"<Error><Code>SlowDown</Code></Error>"


def overloaded(times, retry_after, status=503):
    """A server that rejects the first requests; ``retry_after`` computes the header field."""
    rejected = []

    def respond(request):
        if len(rejected) < times:
            rejected.append(request)
            return status, {"Retry-After": retry_after()}, BUSY
        part = request.headers.get("Range")
        if request.method == "PUT":
            return 200, FIELDS, b""
        if part is None:
            return 200, FIELDS, VALUE
        first, last = part.removeprefix("bytes=").split("-")
        body = VALUE[int(first) : int(last) + 1]
        return 206, FIELDS | {"Content-Range": f"bytes {first}-{last}/{len(VALUE)}"}, body

    return responding(respond)


def pauses(server):
    times = [request.time for request in server.requests]
    return [later - earlier for earlier, later in itertools.pairwise(times)]


def fsspec_store(server, **options):
    pytest.importorskip("aiohttp")
    return FsspecStore.from_url(f"fsspec+{server.url}/d", **options)


READS = {
    "get": lambda store: bytes(store.get("k")) == VALUE,
    "part": lambda store: (
        [bytes(store.get_partial_values([("k", ByteRange(3, 4))])[0])] == [VALUE[3:7]]
    ),
}


@pytest.mark.parametrize(("read", "status"), [("get", 429), ("part", 503)])
def test_fsspec_waits_for_seconds(read, status, caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")
    # For the length of a value, the file system sends a HEAD and then a GET request.
    with overloaded(1 if read == "get" else 2, lambda: "1", status) as server:
        assert READS[read](fsspec_store(server))
        assert max(pauses(server)) >= 1
        assert f"fsspec+{server.url}/d: the server is overloaded ({status})" in caplog.text


def test_fsspec_waits_for_a_date():
    allowed = []

    def later():
        now = datetime.now(UTC)
        date = now.replace(microsecond=0) + timedelta(seconds=2)
        allowed.append(time.monotonic() + (date - now).total_seconds())
        return format_datetime(date, usegmt=True)

    with overloaded(1, later) as server:
        assert bytes(fsspec_store(server).get("k")) == VALUE
        assert server.requests[1].time > allowed[0] - 0.05


@pytest.mark.parametrize("value", ["soon", "-1", "", "Thu, 01 Jan 1970 00:00:01 GMT"])
def test_fsspec_repeats_with_other_fields(value):
    with overloaded(2, lambda: value) as server:
        assert bytes(fsspec_store(server).get("k")) == VALUE
        assert len(server.requests) == 3


@pytest.mark.parametrize("read", READS)
def test_fsspec_does_not_wait_beyond_its_limit(read):
    with overloaded(1_000, lambda: "100") as server:
        store = pickle.loads(pickle.dumps(fsspec_store(server, retry_timeout=50)))
        with pytest.raises(StoreError, match=r"'k': cannot be read: .*503"):
            READS[read](store)
        # A part is read after the length of the value.
        assert len(server.requests) <= 2


def test_other_errors_of_fsspec_are_not_repeated():
    with overloaded(1_000, lambda: "0", 500) as server:
        store = fsspec_store(server)
        with pytest.raises(StoreError, match="500"):
            store.get("k")
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
    with overloaded(1_000, lambda: "0", 403) as server:
        store = fsspec_store(server)
        for call in calls:
            with pytest.raises(StoreError, match="'k': cannot be read: .*403"):
                call()
    for call in calls:  # nothing listens
        with pytest.raises(StoreError, match="'k': cannot be read"):
            call()
    with responding(lambda request: (404, {}, b"")) as server:
        store = fsspec_store(server)
        assert [call() for call in calls] == [None, False, None, [None], None]


# obstore 0.12 repeats requests after its own pauses, and does not show the header field.
PLACES = {
    "s3": lambda url: ("s3://b/d", {"endpoint": url, "key": "k", "secret": "s"}),
    "gs": lambda url: ("gs://b/d", {"base_url": url, "skip_signature": True}),
    "az": lambda url: (
        "az://b/d", {"endpoint": f"{url}/a", "account_name": "a", "skip_signature": True}
    ),
    "https": lambda url: (f"{url}/d", {}),
    "webdav": lambda url: (f"{url}/d", {"webdav": True}),
}  # fmt: skip


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("place", PLACES)
def test_obstore_repeats_requests(place, status):
    with overloaded(2, lambda: "1", status) as server:
        url, options = PLACES[place](server.url)
        store = ObjectStore.from_url(url, **options)
        assert bytes(store.get("k")) == VALUE
        assert len(server.requests) == 3
        assert not store.read_only or place == "https"


@pytest.mark.parametrize("place", ["s3", "webdav"])
def test_obstore_stops_at_its_limit(place):
    with overloaded(1_000_000, lambda: "0") as server:
        url, options = PLACES[place](server.url)
        store = ObjectStore.from_url(url, retry_timeout=2, **options)
        with pytest.raises(StoreError, match=r"'k': cannot be read: 503.*retr.*retry_timeout"):
            store.get("k")
        assert len(server.requests) >= 2
