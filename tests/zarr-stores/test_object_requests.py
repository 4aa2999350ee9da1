"""Number and concurrency of the requests to an object store."""

from functools import wraps

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from object_stores import same_place
from store_contract import get_into
from waits import LATENCIES
from zarr_core.extension import ByteRange
from zarr_core.interfaces.store import SetIfMissing
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
LATENCY = 0.03


@pytest.fixture
def store(s3_server, direct, proxy):
    """The same location with latency."""
    proxy.reset()
    proxy.set_latency(LATENCY)
    return same_place(direct, s3_server, proxy.url)


def with_longer_latencies(test):
    """Repeat a test of concurrency with longer latencies while it fails, for busy machines."""

    @wraps(test)
    def repeated(**fixtures):
        direct, proxy = fixtures["direct"], fixtures["proxy"]
        for latency in LATENCIES[1:]:
            direct.erase_prefix("")
            proxy.reset()
            proxy.set_latency(latency)
            try:
                test(**fixtures)
            except AssertionError:
                if latency == LATENCIES[-1]:
                    raise
            else:
                break

    return repeated


def asked(proxy):
    """Return methods and ranges of the requests, in order, and reset them."""
    found = [(exchange.method, exchange.range) for exchange in proxy.traffic.exchanges]
    proxy.forget()
    return found


def test_each_call_is_one_request(store, direct, proxy):
    value = bytes(range(200)) * 1000
    direct.set("k", value)
    direct.set("small", b"0123456789")
    for number in range(30):
        direct.set(f"a/{number}", b"")
    buffer = memoryview(bytearray(300_000))
    store.get("k")
    get_into(store, "k", buffer)
    get_into(store, "k", buffer[:1000])
    with store.open_value("k", ByteRange(-500)) as reader:
        reader.read(len(value) - 500, 500)
    with store.open_value("k", ByteRange(3000, 50)) as reader:
        reader.read(3010, 20)
    with store.open_value("small") as reader:
        assert (reader.size, bytes(reader.read(2, 3)), bytes(reader.read(9, 1))) == (
            10,
            b"234",
            b"9",
        )
    store.exists("k")
    store.getsize("k")
    store.generation("k")
    store.set("k", b"new")
    store.erase("k")
    store.list_dir("")
    store.erase_prefix("a/")
    assert asked(proxy) == [
        ("GET", ""),
        ("GET", "bytes=0-299999"),
        ("GET", "bytes=0-999"),
        ("GET", "bytes=-500"),
        ("GET", "bytes=3000-3049"),
        ("GET", "bytes=0-65535"),
        ("HEAD", ""),
        ("HEAD", ""),
        ("HEAD", ""),
        ("PUT", ""),
        ("POST", ""),
        ("GET", ""),
        ("GET", ""),  # the keys that are erased together
        ("POST", ""),
    ]
    assert list(direct.list()) == ["small"]


def test_a_missing_key_costs_one_request_once_the_bucket_is_known(store, proxy):
    assert not store.exists("k")
    assert len(asked(proxy)) == 2  # the response to HEAD does not tell whether the bucket exists
    assert not store.exists("k")
    assert store.getsize("l") is None
    assert len(asked(proxy)) == 2


def test_unread_bytes_are_not_sent(store, direct, proxy):
    direct.set("k", bytes(5_000_000))
    with store.open_value("k", ByteRange(0)) as reader:
        assert reader.size == 5_000_000
    with store.open_value("k") as reader:
        assert reader.size == 5_000_000
    assert get_into(store, "k", memoryview(bytearray(10))) == 5_000_000
    assert proxy.traffic.exchanges[1].received == 65_536
    assert proxy.traffic.exchanges[2].received == 10


def test_near_parts_are_joined(store, direct, proxy):
    value = np.random.default_rng(1).bytes(3_000_000)
    direct.set("k", value)
    parts = [(start, memoryview(bytearray(1000))) for start in range(500_000, 900_000, 4000)]
    far = (2_500_000, memoryview(bytearray(1000)))
    with store.open_value("k") as reader:
        proxy.forget()
        reader.read_into([far, *reversed(parts)])
        for start, buffer in [*parts, far]:
            assert bytes(buffer) == value[start : start + 1000]
    assert sorted(asked(proxy)) == [
        ("GET", "bytes=2500000-2500999"),
        ("GET", "bytes=500000-896999"),
    ]


@with_longer_latencies
def test_far_parts_are_read_at_once(store, direct, proxy):
    direct.set("k", bytes(20_000_000))
    with store.open_value("k") as reader:
        proxy.forget()
        reader.read_into(
            [(start, memoryview(bytearray(10))) for start in range(0, 20_000_000, 1_000_000)]
        )
    assert proxy.traffic.requests == 19  # the first one is already in memory
    assert proxy.traffic.most_concurrent == 19


@with_longer_latencies
def test_chunks_are_read_and_written_by_tens(store, direct, proxy):
    values = np.arange(100 * 64, dtype="int16").reshape(100, 64)
    array = zarr.create_array(store, path="a", shape=values.shape, dtype="int16", chunks=(1, 64))
    proxy.forget()
    array[...] = values
    assert proxy.traffic.requests == 100
    assert 32 <= proxy.traffic.most_concurrent <= store.max_concurrency
    proxy.forget()
    assert np.array_equal(array[...], values)
    assert proxy.traffic.requests == 100
    assert 32 <= proxy.traffic.most_concurrent <= store.max_concurrency
    proxy.forget()
    array[:, 3:9] = 0  # read, change, write under conditions
    assert proxy.traffic.requests == 200
    assert 32 <= proxy.traffic.most_concurrent <= store.max_concurrency


@with_longer_latencies
def test_the_user_sets_the_number_of_concurrent_requests(store, direct, s3_server, proxy):
    few = same_place(store, s3_server, proxy.url, max_concurrency=5)
    array = zarr.create_array(few, path="a", shape=(40,), chunks=(1,), dtype="int8", overwrite=True)
    proxy.forget()
    array[...] = 3
    assert array[...].sum() == 120
    assert proxy.traffic.most_concurrent == 5


def test_azure_finds_the_end_of_a_value(azure_server, proxy_before, monkeypatch):
    from object_stores import azure_environment

    proxy = proxy_before(azure_server)
    for name, value in azure_environment(azure_server).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", f"{proxy.url}/{azure_server.account}")
    store = ObjectStore.from_url(f"az://{azure_server.container}/tail")
    store.set("k", bytes(100_000) + b"end")
    proxy.forget()
    with store.open_value("k", ByteRange(-3)) as reader:
        assert bytes(reader.read(100_000, 3)) == b"end"
    assert len(asked(proxy)) == 2
    store.erase("k")


def test_a_server_without_parts_is_asked_for_them_once(plain_http_server, proxy_before):
    proxy = proxy_before(plain_http_server)
    (plain_http_server.root / "value").write_bytes(bytes(range(100)))
    store = ObjectStore.from_url(proxy.url)
    buffer = memoryview(bytearray(200))
    assert get_into(store, "value", buffer) == 100
    assert len(asked(proxy)) == 3
    assert get_into(store, "value", buffer) == 100
    with store.open_value("value", ByteRange(-3)) as reader:
        assert bytes(reader.read(95, 3)) == b"_`a"
    assert asked(proxy) == [("GET", ""), ("GET", "")]
    assert reader.generation == store.generation("value")


# --- new nodes ---


def test_a_value_that_appears_after_the_listing_is_kept(store, direct, proxy):
    direct.set("k", b"old")
    new = SetIfMissing(lambda: b"new", known_missing=True)
    store.update("k", new)
    assert not new.stored
    assert bytes(direct.get("k")) == b"old"
    assert [method for method, _ in asked(proxy)] == ["PUT", "GET"]


# --- indexes of shards ---


@pytest.fixture
def sharded(store, direct, proxy):
    """An array with one shard of 64 inner chunks, the last of which is missing."""
    data = np.random.default_rng(3).integers(1, 99, (64, 4000)).astype("u1")
    data[-1] = 0
    written = zarr.create_array(
        direct, data=data, chunks=(1, 4000), shards=(64, 4000), compressors=None
    )
    array = zarr.open_array(store, mode="r")
    proxy.forget()
    return array, written, data


def test_the_index_of_a_shard_is_read_once(sharded, proxy):
    array, _, data = sharded
    assert np.array_equal(array[2:5], data[2:5])
    assert len(asked(proxy)) == 2
    assert np.array_equal(array[7:9], data[7:9])
    assert len(asked(proxy)) == 1
    assert not array[63].any()
    assert asked(proxy) == [("HEAD", "")]  # the index is still that of the shard


@pytest.mark.parametrize("rows", [slice(2, 5), slice(63, 64)])
def test_a_shard_that_was_replaced_is_read_anew(sharded, proxy, rows):
    array, written, data = sharded
    assert np.array_equal(array[rows], data[rows])
    written[...] = changed = data[::-1].copy()
    assert np.array_equal(array[rows], changed[rows])
    proxy.forget()
    assert np.array_equal(array[rows], changed[rows])
    assert len(asked(proxy)) == 1
    written.store.erase("c/0/0")
    assert not array[rows].any()
    written[...] = data
    assert np.array_equal(array[rows], data[rows])


def test_an_index_is_forgotten_when_this_store_writes(sharded, store, proxy):
    array, _, data = sharded
    assert np.array_equal(array[2:5], data[2:5])
    zarr.open_array(store)[...] = changed = data[::-1].copy()
    proxy.forget()
    assert np.array_equal(array[2:5], changed[2:5])
    assert [method for method, _ in asked(proxy)] == ["GET", "GET"]


@pytest.mark.parametrize(("tag", "requests"), [('"1"', 1), ('W/"1"', 2)])
def test_an_index_of_a_value_with_a_weak_tag_is_read_again(tag, requests):
    value = bytes(200_000)

    def respond(request):
        length = int(request.headers["Range"].removeprefix("bytes=-"))
        fields = {"Content-Range": f"bytes {200_000 - length}-199999/200000", "ETag": tag}
        fields["Last-Modified"] = "Thu, 01 Jan 1970 00:00:01 GMT"
        return 206, fields, value[-length:]

    with responding(respond) as server:
        store = ObjectStore.from_url(server.url)
        for _ in range(2):
            with store.open_cached("k", ByteRange(-10)) as reader:
                assert bytes(reader.read(199_990, 10)) == bytes(10)
        assert len(server.requests) == requests
        store.discard_cached("k")
        store.open_cached("k", ByteRange(-10))
        assert len(server.requests) == requests + 1
