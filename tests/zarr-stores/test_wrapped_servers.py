"""Wrappers of stores on real servers: number of requests, and visibility of changes."""

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import same_place
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.recheck import recheck
from zarr_stores.zip import ZipStore

pytest_plugins = ["servers.fixtures"]
DATA = np.arange(64 * 6000, dtype="i4").reshape(64, 6000)


@pytest.fixture
def store(s3_server, direct, proxy):
    """The same location, with a count of requests."""
    proxy.reset()
    return same_place(direct, s3_server, proxy.url)


def methods(proxy):
    """Return the methods of the requests, in order, and reset them."""
    found = [exchange.method for exchange in proxy.traffic.exchanges]
    proxy.forget()
    return found


@pytest.fixture
def sharded(direct):
    return zarr.create_array(
        direct, data=DATA, chunks=(1, 6000), shards=(32, 6000), compressors=None
    )


def test_a_shard_that_is_held_in_memory_is_not_asked_for(store, sharded, proxy):
    array = zarr.open_array(ChunkCacheStore(store, 10**8), mode="r")
    for selection in (np.s_[5:9], np.s_[20:50:8, 7], np.s_[40]):
        methods(proxy)
        assert np.array_equal(array[selection], DATA[selection])
        assert methods(proxy)
        assert np.array_equal(array[selection], DATA[selection])
        assert methods(proxy) == []
    sharded[...] = DATA + 1
    array[...]  # cached parts of replaced shards are not mixed with new ones
    array.store.invalidate()
    assert np.array_equal(array[...], DATA + 1)


def test_a_checked_cache_in_memory_requests_only_versions(store, sharded, proxy):
    array = zarr.open_array(ChunkCacheStore(store, 10**8, check="generation"), mode="r")
    assert np.array_equal(array[3:40:5, 7], DATA[3:40:5, 7])
    methods(proxy)
    assert np.array_equal(array[3:40:5, 7], DATA[3:40:5, 7])
    assert set(methods(proxy)) == {"HEAD"}
    sharded[...] = DATA + 1
    assert np.array_equal(array[3:40:5, 7], DATA[3:40:5, 7] + 1)


def test_metadata_is_rechecked_with_one_request(store, sharded, proxy):
    array = recheck(zarr.open_array(store, mode="r"))
    assert array.shape == DATA.shape
    methods(proxy)
    assert array.shape == DATA.shape
    assert methods(proxy) == ["HEAD"]
    sharded.resize(70, 6000)
    methods(proxy)
    assert array.shape == (70, 6000)
    assert sorted(methods(proxy)) == ["GET", "HEAD"]


def test_an_archive_on_a_web_server_is_opened_by_a_url_pipeline(http_server, tmp_path):
    archived(http_server.root / "without-suffix")
    for pipeline in ("zip:plain", "zip:|zarr3:plain", "auto:plain"):
        array = zarr.open(f"{http_server.url}/without-suffix|{pipeline}", "r")
        assert np.array_equal(array[5], DATA[5])
    archived(http_server.root / "with space")
    assert zarr.open(f"{http_server.url}/with%20space|auto:plain", "r").shape == DATA.shape
    zarr.create_array(http_server.root / "a", data=DATA[:2])
    for name in ("a|auto:", "a/|auto:"):
        assert zarr.open(f"{http_server.url}/{name}", "r").shape == (2, 6000)


def archived(path):
    with ZipStore(path, "w") as store:
        root = zarr.create_group(store)
        root.create_array("plain", data=DATA, chunks=(4, 6000), compressors=None)
        root.create_array(
            "sharded", data=DATA, chunks=(1, 6000), shards=(32, 6000), compressors=None
        )
    return path.read_bytes()


def test_an_archive_in_a_bucket(store, direct, proxy, tmp_path):
    direct.set("a/b.zip", archived(tmp_path / "a.zip"))
    root = zarr.open_group(ZipStore((store, "a/b.zip")), mode="r")
    assert methods(proxy) == ["GET", "GET"]  # the end with the directory; the document
    assert [name for name, _ in root.members()] == ["plain", "sharded"]
    methods(proxy)
    assert np.array_equal(root["plain"][8:12], DATA[8:12])
    assert len(methods(proxy)) <= 2  # possibly the metadata document
    assert np.array_equal(root["sharded"][33, 5], DATA[33, 5])
    assert len(methods(proxy)) <= 4  # document, header, index, inner chunk
    assert np.array_equal(root["plain"][...], DATA)
    assert len(methods(proxy)) == 17  # document, sixteen chunks
    direct.set("a/b.zip", archived(tmp_path / "b.zip"))
    assert np.array_equal(root["plain"][...], DATA)
