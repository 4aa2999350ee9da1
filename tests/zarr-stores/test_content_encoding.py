"""Values that a server stores in compressed form, with the header field Content-Encoding."""

import gzip
import re
import zlib

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from zarr_core.errors import StoreReadError
from zarr_core.extension import ByteRange
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

CODINGS = {
    "gzip": lambda data: gzip.compress(data[:40]) + gzip.compress(data[40:]),
    "deflate": zlib.compress,
}


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


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("layout", [{}, {"shards": 90_000}, {"compressors": None}], ids=str)
def test_fsspec_decompresses(coding, layout):
    pytest.importorskip("aiohttp")
    store = zarr.MemoryStore()
    # Longer than the first request, and its compressed form is not shorter.
    data = np.random.default_rng(4).integers(0, 1 << 32, 90_000).astype("u4")
    chunks = 30_000 if "shards" in layout else 90_000
    zarr.create_array(store, data=data, chunks=chunks, **layout)
    values = {key: store.get(key) for key in store.list_prefix("")}
    with responding(serve(values, coding, CODINGS[coding])) as server:
        array = zarr.open_array(f"fsspec+{server.url}", mode="r")
        for _ in range(2):
            assert np.array_equal(array[7:30:2], data[7:30:2])
            assert np.array_equal(array[89_000:], data[89_000:])
            assert np.array_equal(array[...], data)
        part = array.store.get_partial_values([("c/0", ByteRange(-9))])[0]
        assert bytes(part) == bytes(values["c/0"][-9:])


def test_fsspec_limits_the_decompressed_size():
    values = {"a": bytes(10_000)}
    with responding(serve(values, "gzip", gzip.compress)) as server:
        store = FsspecStore.from_url(server.url)
        assert store.get_limited("a", 9_999) >= 10_000
        assert bytes(store.get_limited("a", 10_000)) == values["a"]


@pytest.mark.parametrize("service", ["http", "s3"])
def test_object_stores_refuse_compressed_values(service):
    with responding(serve({"a": b"abc" * 30}, "gzip", gzip.compress)) as server:
        options = {} if service == "http" else {"endpoint": server.url, "anon": True}
        store = ObjectStore.from_url(server.url if service == "http" else "s3://bucket", **options)
        for read in (store.get, store.open_value, lambda key: store.get_limited(key, 1000)):
            with pytest.raises(StoreReadError, match="'a': is stored in compressed form .*'gzip'"):
                read("a")


@pytest.mark.parametrize("coding", ["aws-chunked", "identity"])
def test_field_without_compression(coding):
    with responding(serve({"a": b"plain"}, coding, bytes)) as server:
        assert bytes(ObjectStore.from_url(server.url).get("a")) == b"plain"
