"""Values that a server stores in compressed form, with the header field Content-Encoding."""

import gzip
import re
import zlib

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from store_contract import get_into
from zarr_core.errors import StoreReadError
from zarr_core.extension import ByteRange
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

CODINGS = {
    "gzip": lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
    "deflate": zlib.compress,
}
SERVICES = ["http", "fsspec+http", "s3"]


def serve(values, coding, encode):
    """Return a function that answers with ranges of the stored form, as services do."""

    def respond(request):
        key = request.path.partition("?")[0].removeprefix("/bucket").lstrip("/")
        if key not in values:
            return 404, {}, b""
        stored = encode(bytes(values[key]))
        fields = {"Content-Encoding": coding, "ETag": '"1"', "Accept-Ranges": "bytes"}
        fields["Last-Modified"] = "Wed, 21 Oct 2015 07:28:00 GMT"
        part = re.fullmatch(r"bytes=(\d*)-(\d*)", request.headers.get("Range", ""))
        if not part:
            return 200, fields, stored
        size = len(stored)
        start = int(part[1]) if part[1] else max(0, size - int(part[2]))
        stop = min(size, int(part[2]) + 1) if part[1] and part[2] else size
        if start >= stop:
            return 416, {"Content-Range": f"bytes */{size}"}, b""
        fields["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        return 206, fields, stored[start:stop]

    return respond


def place_of(server, service):
    if service != "s3":
        return f"{service}{server.url.removeprefix('http')}", {}
    options = {
        "endpoint": server.url, "allow_http": "true", "region": "x", "skip_signature": "true",
        "virtual_hosted_style_request": "false",
    }  # fmt: skip
    return "s3://bucket", options


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("layout", [{}, {"shards": 90_000}, {"compressors": None}], ids=str)
def test_elements_are_those_that_were_encoded(service, coding, layout):
    store = zarr.MemoryStore()
    # Longer than the first request, and its compressed form is not shorter.
    data = np.random.default_rng(4).integers(0, 1 << 32, 90_000).astype("u4")
    chunks = 30_000 if "shards" in layout else 90_000
    zarr.create_array(store, data=data, chunks=chunks, **layout)
    values = {key: store.get(key) for key in store.list_prefix("")}
    with responding(serve(values, coding, CODINGS[coding])) as server:
        url, options = place_of(server, service)
        array = zarr.open_array(url, mode="r", storage_options=options)
        for _ in range(2):
            assert np.array_equal(array[7:30:2], data[7:30:2])
            assert np.array_equal(array[89_000:], data[89_000:])
            assert np.array_equal(array[...], data)
        key = "c/0"
        assert bytes(array.store.get(key)) == bytes(values[key])
        assert bytes(array.store.get_partial_values([(key, ByteRange(-9))])[0]) == bytes(
            values[key][-9:]
        )


@pytest.mark.parametrize("kind", [ObjectStore, FsspecStore])
def test_size_is_limited(kind):
    values = {"a": bytes(10_000)}
    with responding(serve(values, "gzip", gzip.compress)) as server:
        store = kind.from_url(server.url)
        assert store.get_limited("a", 9_999) >= 10_000
        assert bytes(store.get_limited("a", 10_000)) == values["a"]


def test_value_without_a_limit_is_not_unlimited(monkeypatch):
    monkeypatch.setattr("zarr_stores.object.client.MOST_DECODED", 5000)
    with responding(serve({"a": bytes(5001), "b": bytes(5000)}, "x-gzip", gzip.compress)) as server:
        store = ObjectStore.from_url(server.url)
        assert bytes(store.get("b")) == bytes(LRUCacheStore(store, None).get("b")) == bytes(5000)
        for read in (store.get, LRUCacheStore(store, None).get, store.open_value):
            with pytest.raises(StoreReadError, match="'x-gzip' and more than 5000 bytes"):
                read("a")
        buffer = memoryview(bytearray(10))
        assert get_into(store, "a", buffer) > 10


@pytest.mark.parametrize(
    ("coding", "encode", "message"),
    [
        ("br", bytes, "only gzip and deflate"),
        ("gzip", lambda data: gzip.compress(data)[:-9], "truncated"),
        ("deflate", lambda data: b"\x78\x9c" + data, "invalid"),
    ],
)
def test_data_that_cannot_be_decoded(coding, encode, message):
    with responding(serve({"d/zarr.json": b"abc" * 30}, coding, encode)) as server:
        store = ObjectStore.from_url(server.url)
        with pytest.raises(StoreReadError, match=f"{coding}.*{message}") as caught:
            store.get("d/zarr.json")
        assert caught.value.key == "d/zarr.json"


@pytest.mark.parametrize("coding", ["gzip", "aws-chunked", "identity"])
def test_field_without_compression(coding):
    with responding(serve({"a": b"plain"}, coding, bytes)) as server:
        assert bytes(ObjectStore.from_url(server.url).get("a")) == b"plain"
