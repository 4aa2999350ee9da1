"""Values that are much larger than their chunk: refused without the memory for them.

Each case is read in a process of its own, whose peak memory is compared.  One process, which has
imported the libraries, forks them.
"""

import bz2
import gc
import gzip
import json
import lzma
import os
import sqlite3
import subprocess
import sys
import tracemalloc
import zipfile
import zlib
from contextlib import closing
from http.server import BaseHTTPRequestHandler

import numpy as np
import pytest
import zarr_core as zarr
from loopback import serving
from zarr_codecs.crc32c import Crc32cCodec
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

LARGE = 3 << 26
LIMIT = (
    96  # MiB: what the criterion permits for these chunks, and libraries that are loaded meanwhile
)
READ = """
import json, os, sys
import zarr_core as zarr
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name))
def read(place, options, variables):
    os.environ.update(variables)
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the peak
    before = status("VmRSS:")
    outcome = "was read"
    try:
        zarr.open(place, mode="r", storage_options=options)[...]
    except zarr.errors.ZarrError as error:
        outcome = f"{type(error).__name__}: {error}"
    print(json.dumps([(status("VmHWM:") - before) >> 10, outcome]), flush=True)
for line in sys.stdin:
    if not os.fork():
        read(*json.loads(line))
        os._exit(0)
    if os.wait()[1]:
        print("null", flush=True)  # it was killed
"""

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/clear_refs"), reason="measures memory as Linux reports it"
)


@pytest.fixture(scope="module")
def reader():
    with subprocess.Popen(
        [sys.executable, "-c", READ], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def refused(reader):
    """Returns a function that reads an array, which fails and takes little memory."""

    def read(place, match, variables=(), **options):
        reader.stdin.write(json.dumps([str(place), options, dict(variables)]) + "\n")
        reader.stdin.flush()
        mebibytes, outcome = json.loads(reader.stdout.readline())
        assert match in outcome
        assert mebibytes < LIMIT

    return read


def small(place, dtype="i2", **arguments):
    values = np.arange(6).astype("U1" if dtype == "string" else dtype)
    arguments = {"compressors": "zstd", **arguments}
    return zarr.create_array(place, data=values, dtype=dtype, chunks=6, **arguments)


def chunk_of(path):
    return next(file for file in path.rglob("*") if file.name in ("0", "0.0"))


# --- larger values ---


@pytest.mark.parametrize(
    "arguments",
    [
        {"compressors": None},
        {"compressors": ["gzip"]},
        {"compressors": ["zstd", "crc32c"]},
        {"zarr_format": 2},
        {"dtype": "string", "compressors": None},
    ],
    ids=str,
)
def test_sparse_files(refused, tmp_path, arguments):
    small(tmp_path / "a", **arguments)
    os.truncate(chunk_of(tmp_path / "a"), 4 * LARGE)
    refused(tmp_path / "a", f"{4 * LARGE} bytes")


def test_an_inner_chunk_as_large_as_its_shard(refused, tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=8, dtype="f4", chunks=4, shards=8)
    array[...] = np.arange(8)
    path = chunk_of(tmp_path / "a")
    index = np.array([[0, LARGE], [0, LARGE]], "<u8").tobytes()
    os.truncate(path, LARGE)
    with open(path, "ab") as file:
        file.write(bytes(Crc32cCodec().encode(index, len(index))))
    refused(tmp_path / "a", f"{LARGE} bytes, but at most")


@pytest.mark.parametrize(
    ("method", "shards"), [("STORED", 12), ("DEFLATED", None), ("DEFLATED", 12)]
)
def test_entries_of_zip_archives(refused, tmp_path, method, shards):
    memory = zarr.MemoryStore()
    zarr.create_array(memory, shape=12, dtype="u2", chunks=6, shards=shards)[...] = 3
    with zipfile.ZipFile(tmp_path / "a.zip", "w", getattr(zipfile, f"ZIP_{method}")) as archive:
        archive.writestr("zarr.json", bytes(memory.get("zarr.json")))
        with archive.open("c/0", "w") as file:
            for _ in range(LARGE >> 24):
                file.write(bytes(1 << 24))
    refused(tmp_path / "a.zip", "damaged")


@pytest.mark.parametrize("key", ["c/0", "zarr.json"])
def test_blobs_of_sqlite(refused, tmp_path, key):
    small(tmp_path / "a.sqlite")
    with closing(sqlite3.connect(tmp_path / "a.sqlite")) as connection, connection:
        size = LARGE if key == "c/0" else 2 * LARGE
        connection.execute("UPDATE zarr SET v = zeroblob(?) WHERE k = ?", (size, key))
    refused(tmp_path / "a.sqlite", f"{size} bytes" if key == "c/0" else "more than the limit")


# --- results of codecs ---


def repeated(compress):
    return compress(bytes(1 << 24)) * (LARGE >> 24)


def frames_without_size():
    zstandard = pytest.importorskip("zstandard")
    return repeated(zstandard.ZstdCompressor(write_content_size=False).compress)


BOMBS = {
    "gzip": lambda: repeated(gzip.compress),
    "numcodecs.bz2": lambda: repeated(bz2.compress),
    "numcodecs.lzma": lambda: repeated(lzma.compress),
    "numcodecs.zlib": lambda: zlib.compress(bytes(LARGE)),
    "numcodecs.lz4": lambda: pytest.importorskip("numcodecs").LZ4().encode(bytes(LARGE)),
    "blosc": lambda: pytest.importorskip("numcodecs").Blosc().encode(bytes(LARGE)),
    "zstd": frames_without_size,
}


@pytest.mark.parametrize("name", BOMBS)
def test_the_first_of_several_codecs(refused, tmp_path, name):
    before = ["zstd", "crc32c"] if name == "gzip" else ["gzip"]
    small(tmp_path / "a", dtype="f8", compressors=[*before, name])
    chunk_of(tmp_path / "a").write_bytes(BOMBS[name]())
    refused(tmp_path / "a", "bytes, but at most")


def test_codecs_in_a_codec(refused, tmp_path):
    inner = {
        "name": "conditional",
        "configuration": {"codecs": [{"name": "gzip", "configuration": {"level": 5}}]},
    }
    small(tmp_path / "a", compressors=["zstd", inner])
    chunk_of(tmp_path / "a").write_bytes(b"\1" + BOMBS["gzip"]())
    refused(tmp_path / "a", "bytes, but at most")


def test_what_is_accepted(tmp_path):
    """Valid chunks may be larger than their elements, or of any size for text."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 256, 5_000_000, dtype="u1")
    array = zarr.create_array(
        tmp_path / "n", data=values, chunks=values.size, compressors=["gzip", "zstd"]
    )
    # Each byte as a member of its own takes 20 times as much.
    few = zarr.create_array(tmp_path / "f", data=values[:9], chunks=9, compressors=["gzip"])
    chunk_of(tmp_path / "f").write_bytes(b"".join(gzip.compress(bytes([it])) for it in values[:9]))
    text = zarr.create_array(tmp_path / "t", shape=2, dtype="string", chunks=2, compressors="zstd")
    text[...] = ["x" * 50_000_000, ""]
    for one, expected in ((array, values), (few, values[:9])):
        assert np.array_equal(zarr.open(one.store, mode="r")[...], expected)
    assert len(text[0]) == 50_000_000


def test_the_setting(tmp_path):
    small(tmp_path / "a", compressors="gzip")
    chunk_of(tmp_path / "a").write_bytes(
        gzip.compress(np.arange(6, dtype="i2").tobytes()) + gzip.compress(b"") * 100
    )
    with zarr.config.set(encoded_slack_nbytes=100):
        array = zarr.open(tmp_path / "a", mode="r")
    with pytest.raises(zarr.errors.ChunkDecodeError, match="encoded_slack_nbytes"):
        array[...]
    for slack in (1 << 24, None):
        with zarr.config.set(encoded_slack_nbytes=slack):
            assert zarr.open(tmp_path / "a", mode="r")[5] == 5
    with pytest.raises(ValueError, match="encoded_slack_nbytes must be None or an integer"):
        zarr.config.set(encoded_slack_nbytes=0)


# --- servers ---


@pytest.fixture
def server():
    memory = zarr.MemoryStore()
    small(memory)
    document = bytes(memory.get("zarr.json"))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        hostile = "c/0"
        length = 0  # None: without end

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            if not self.path.endswith(self.hostile):
                if not self.path.endswith("zarr.json"):
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(document)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(document)
                return
            self.send_response(200)
            if self.length is None:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(self.length))
            self.end_headers()
            self.close_connection = True
            if self.command == "HEAD":
                return
            block, sent = bytes(1 << 20), 0
            try:
                while sent < min(self.length or LARGE, LARGE):
                    self.wfile.write(
                        block if self.length is not None else b"100000\r\n" + block + b"\r\n"
                    )
                    sent += len(block)
            except OSError:  # the client does not want more
                pass

    with serving(Handler) as running:
        yield running.url, Handler


@pytest.mark.parametrize("length", [200 * 10**9, None])
@pytest.mark.parametrize(
    ("through", "key"),
    [("", "c/0"), ("", "zarr.json"), ("dav", "c/0"), ("fsspec+", "c/0"), ("fsspec+", "zarr.json")],
)
def test_responses(refused, server, through, key, length):
    url, handler = server
    handler.hostile, handler.length = key, length
    options = {"retry_config": {"max_retries": 0}}
    if through == "dav":
        options["webdav"] = True
    elif through:
        options, url = {"timeout": 10, "retry_timeout": 1}, through + url
    limit = {"ZARR_CORE_MAX_METADATA_NBYTES": str(1 << 24)}
    refused(url, "Error: ", limit, **options)


def test_a_reader_of_a_claimed_length(server):
    """Without a limit, only what arrives takes memory, and the process goes on."""
    url, handler = server
    handler.length = 1 << 45
    store = ObjectStore.from_url(url, retry_config={"max_retries": 0})
    with pytest.raises(zarr.errors.StoreReadError, match="not enough memory"):
        store.get("c/0")


def test_a_body_without_end_is_not_kept(server):
    """fsspec keeps exceptions, with all local variables, until the next garbage collection."""
    url, handler = server
    handler.length = None
    store = FsspecStore.from_url(f"fsspec+{url}")
    limit = 1 << 22
    gc.disable()
    tracemalloc.start()
    try:
        assert store.get_limited("c/0", limit) == limit + 1
        assert tracemalloc.get_traced_memory()[0] < limit
    finally:
        tracemalloc.stop()
        gc.enable()
