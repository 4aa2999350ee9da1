import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore, VersionedStore
from hypothesis import given, settings
from hypothesis import strategies as st
from store_contract import LocalWrapperContract, StoreContract, WrapperContract, get_into
from waits import wait_until
from zarr_core.extension import BufferByteReader, ByteRange, StoreError
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.disk_cache import DiskCacheStore


@pytest.fixture
def inner():
    return VersionedStore(MemoryStore())


def cached(inner, tmp_path, max_bytes=None, **options):
    return DiskCacheStore(inner, tmp_path / "cache", max_bytes, **options)


def files(tmp_path):
    return sorted(path for path in (tmp_path / "cache").rglob("*") if path.is_file())


def blocks(tmp_path):
    return [path for path in files(tmp_path) if path.name != "head"]


def disk_usage(tmp_path):
    return sum(path.stat().st_blocks * 512 for path in files(tmp_path))


class TestDiskCacheOfLocalStore(LocalWrapperContract):
    examples = 15
    options = {"check": "generation", "block_bytes": 7}
    test_deep_keys = StoreContract.test_deep_keys

    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.path = tmp_path / "cache"

    def wrap(self, store):
        return DiskCacheStore(store, self.path, 100_000, **self.options)


class TestCheckedAfterSeconds(TestDiskCacheOfLocalStore):
    options = {"check": 60, "block_bytes": 1000}
    test_deep_keys = None  # slow, and the same as above


class TestOverMemory(WrapperContract):
    @pytest.fixture(autouse=True)
    def _path(self, tmp_path):
        self.path = tmp_path / "cache"

    def wrap(self, store):
        return DiskCacheStore(store, self.path, 2000, block_bytes=100)


# --- reads ---


def test_a_second_read_requests_only_the_generation(inner, tmp_path):
    inner.set("a/k", bytes(range(200)))
    store = cached(inner, tmp_path, block_bytes=64)
    assert bytes(store.get("a/k")) == bytes(range(200))
    for again in (store, cached(inner, tmp_path, block_bytes=64)):
        inner.calls.clear()
        assert bytes(again.get("a/k")) == bytes(range(200))
        assert get_into(again, "a/k", memoryview(bytearray(200))) == 200
        assert bytes(again.get_partial_values([("a/k", ByteRange(-2))])[0]) == b"\xc6\xc7"
        with again.open_value("a/k") as reader:
            assert bytes(reader.read(60, 10)) == bytes(range(60, 70))
        assert inner.keys("generation") == ["a/k"] * 4
        assert inner.reads() == 0
    assert store.cache_info()[:2] == (4, 1)


def test_each_block_is_read_once(inner, tmp_path):
    value = bytes(range(256)) * 40
    inner.set("k", value)
    store = cached(inner, tmp_path, block_bytes=1000)
    with store.open_value("k") as reader:
        assert bytes(reader.read(1500, 10)) == value[1500:1510]
        assert inner.calls[-1] == ("reader.read_into", "k", 1000)
        assert bytes(reader.read(1001, 990)) == value[1001:1991]
        assert bytes(reader.read(999, 2)) == value[999:1001]
        assert inner.nbytes("reader.read_into") == 2000
        buffers = [memoryview(bytearray(n)) for n in (5000, 240, 1)]
        reader.read_into(list(zip([500, 10000, 10239], buffers, strict=True)))
        assert [bytes(b) for b in buffers] == [value[500:5500], value[10000:], value[-1:]]
        assert inner.nbytes("reader.read_into") == 6000 + 2 * 240
        assert inner.count("open_value") == 1


@settings(max_examples=40)
@given(data=st.data())
def test_any_parts_of_any_value(tmp_path_factory, data):
    tmp_path = tmp_path_factory.mktemp("cache")
    inner = VersionedStore(MemoryStore())
    value = data.draw(st.binary(max_size=60))
    inner.set("k", value)
    store = cached(inner, tmp_path, block_bytes=data.draw(st.integers(1, 70)))
    for _ in range(3):
        with store.open_value("k") as reader:
            parts, expected = [], []
            for _ in range(data.draw(st.integers(1, 3))):
                start = data.draw(st.integers(0, len(value)))
                length = data.draw(st.integers(0, len(value) - start))
                parts.append((start, memoryview(bytearray(length))))
                expected.append(value[start : start + length])
            reader.read_into(parts)
            assert [bytes(buffer) for _, buffer in parts] == expected


def test_an_array_survives_the_process_that_read_it(inner, tmp_path):
    data = np.arange(4000, dtype="i4").reshape(40, 100)
    zarr.create_array(inner, data=data, chunks=(5, 10), shards=(20, 50))
    for _ in range(2):
        array = zarr.open_array(cached(inner, tmp_path), mode="r")
        assert np.array_equal(array[...], data)
        assert np.array_equal(array[3:9, ::7], data[3:9, ::7])
        inner.calls.clear()
    assert np.array_equal(zarr.open_array(cached(inner, tmp_path), mode="r")[...], data)
    assert inner.reads() == 0


def test_several_threads_fill_one_value(inner, tmp_path):
    value = os.urandom(100_000)
    inner.set("k", value)
    store = cached(inner, tmp_path, block_bytes=1000)

    def work(number):
        with store.open_value("k") as reader:
            return bytes(reader.read(number * 1000, 1000))

    with ThreadPoolExecutor(16) as pool:
        assert b"".join(pool.map(work, range(100))) == value
    assert len(blocks(tmp_path)) == 100
    inner.calls.clear()
    assert bytes(store.get("k")) == value
    assert inner.reads() == 0


# --- generations ---


def test_a_new_version_is_seen(inner, tmp_path):
    store = cached(inner, tmp_path)
    for value in (b"old", b"new", b"longer"):
        inner.set("k", value)
        assert bytes(store.get("k")) == value
        assert bytes(store.get("k")) == value
    assert len(blocks(tmp_path)) == 1
    inner.erase("k")
    assert store.get("k") is None
    assert files(tmp_path) == []


def test_an_old_value_is_used_until_the_check_interval_ends(inner, tmp_path, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    inner.set("k", b"old")
    asks, never = cached(inner, tmp_path, check=1000), cached(inner, tmp_path, check="never")
    assert bytes(asks.get("k")) == b"old"
    inner.set("k", b"new")
    inner.calls.clear()
    now += 999
    assert bytes(asks.get("k")) == bytes(never.get("k")) == b"old"
    assert inner.count() == 0
    for passed in (2, -50_000):  # a comparison in the future is not recent
        now += passed
        old, new = bytes(inner.get("k")), b"newer than %r" % now
        inner.set("k", new)
        assert bytes(never.get("k")) != new
        assert bytes(asks.get("k")) == new
        inner.calls.clear()
        assert bytes(asks.get("k")) == bytes(never.get("k")) == new != old
        assert inner.count() == 0
    now += 1001
    for _ in range(2):  # the time of a comparison without a change counts
        assert bytes(asks.get("k")) == new
    assert inner.keys("generation") == ["k"]
    inner.set("k", b"0")
    assert bytes(cached(inner, tmp_path).get("k")) == b"0"


def test_writes_are_visible_immediately(inner, tmp_path):
    store = cached(inner, tmp_path, check="never")
    changes = (
        lambda: store.set("a/k", b"1"),
        lambda: store.update("a/k", lambda reader: b"2"),
        lambda: store.set_partial_values([("a/k", 0, b"3"), ("a/k", 1, b"!")]),
        lambda: store.erase("a/k"),
        lambda: store.set("a/k", b"4"),
        lambda: store.erase_values(["a/k"]),
        lambda: store.set("a/k", b"5"),
        lambda: store.erase_prefix("a/"),
    )
    seen = []
    for change in changes:
        store.get("a/k")
        change()
        value = store.get("a/k")
        seen.append(None if value is None else bytes(value))
    assert seen == [b"1", b"2", b"3!", None, b"4", None, b"5", None]


@pytest.mark.parametrize("listing", [True, False])
def test_erased_prefixes_are_visible_immediately(tmp_path, listing):
    inner = LocalStore(tmp_path / "store")
    inner.supports_listing = listing
    store = cached(inner, tmp_path, check="never")
    store.set("a/k", b"1")
    assert bytes(store.get("a/k")) == b"1"
    inner.supports_listing = True
    store.erase_prefix("a/")
    assert store.get("a/k") is None


@pytest.mark.parametrize("check", ["generation", 1000, "never"])
def test_the_writer_sees_its_value_despite_concurrent_readers(tmp_path, check):
    inner = LocalStore(tmp_path / "store")
    store = cached(inner, tmp_path, check=check, block_bytes=64)
    done = threading.Event()
    seen = []

    def read():
        while not done.is_set():
            value = store.get("k")
            if value is not None and len(set(bytes(value))) != 1:
                seen.append(bytes(value))

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for number in range(60):
                store.set("k", bytes([number]) * 200)
                assert bytes(store.get("k")) == bytes([number]) * 200
                if number % 7 == 0:
                    store.erase("k")
                    assert store.get("k") is None
        finally:
            done.set()
        for reader in readers:
            reader.result()
    assert seen == []


@pytest.mark.parametrize("check", ["generation", 1000, "never"])
def test_all_reads_of_a_reader_are_of_one_generation(inner, tmp_path, check):
    inner.set("k", b"old " * 100)
    first = cached(inner, tmp_path, block_bytes=10, check=check)
    with first.open_value("k") as reader:
        assert bytes(reader.read(0, 4)) == b"old "
    with cached(inner, tmp_path, block_bytes=10, check=check).open_value("k") as reader:
        inner.set("k", b"new " * 100)
        assert bytes(reader.read(0, 4)) == b"old "
        with pytest.raises(StoreError, match="replaced"):
            reader.read(200, 4)
    assert bytes(first.get("k")) == b"new " * 100


def test_a_reader_notices_a_change_by_its_store(inner, tmp_path):
    inner.set("k", b"old " * 100)
    store = cached(inner, tmp_path, block_bytes=10, check="never")
    for change in (False, True):
        with store.open_value("k") as reader:
            assert bytes(reader.read(0, 4)) == b"old "
            if change:
                store.set("k", b"new " * 100)
                with pytest.raises(StoreError, match="replaced"):
                    reader.read(200, 4)
    assert bytes(store.get("k")) == b"new " * 100


@pytest.mark.parametrize("generation", [True, False], ids=["known", "unknown"])
def test_blocks_of_an_old_reader_are_not_those_of_the_new_value(tmp_path, generation):
    inner = VersionedStore(MemoryStore()) if generation else MemoryStore()
    inner.set("k", b"old " * 100)
    store = cached(inner, tmp_path, block_bytes=10, check="never")
    with store.open_value("k") as old:
        assert bytes(old.read(0, 4)) == b"old "
        store.set("k", b"new " * 100)
        with store.open_value("k") as new:
            assert bytes(new.read(0, 4)) == b"new "
        assert bytes(old.read(200, 4)) == b"old "
    assert bytes(store.get("k")) == b"new " * 100


def test_readers_without_a_generation(tmp_path):
    class Plain(CountingStore):
        def generation(self, key):
            self.note("generation", key)
            return super().generation(key)

        def open_value(self, key, first=None):
            if self.count("open_value") == self.changes_at:
                self.inner.set(key, b"another")
            reader = super().open_value(key, first)
            return None if reader is None else WrapperReader(BufferByteReader(self.inner.get(key)))

    for changes_at in range(4):
        inner = Plain(MemoryStore())
        inner.changes_at = changes_at
        inner.set("k", b"old one")
        store = cached(inner, tmp_path / str(changes_at))
        for _ in range(3):
            assert bytes(store.get("k")) == bytes(inner.inner.get("k"))
            inner.inner.set("k", b"old one")  # the generation, a digest, is the old one again
        assert inner.count("open_value") <= 4


def test_missing_keys_are_not_cached(inner, tmp_path):
    store = cached(inner, tmp_path, check="never")
    assert store.get("k") is None
    assert files(tmp_path) == []
    inner.set("k", b"v")
    assert bytes(store.get("k")) == b"v"


# --- files ---


def test_file_names_reveal_nothing_and_stay_in_the_directory(inner, tmp_path):
    keys = ["secret-key", "%2e%2e/x", "...", "é", "a/.b", "x" * 200]
    store = cached(inner, tmp_path)
    (tmp_path / "cache" / "values").mkdir(parents=True)  # as of a backup: others can read it
    for key in keys:
        inner.set(key, key.encode())
        store.get(key)
    assert len(blocks(tmp_path)) == len(keys)
    [private] = (tmp_path / "cache").iterdir()
    assert private.stat().st_mode & 0o77 == 0
    for path in files(tmp_path):
        assert set("".join(path.relative_to(private).parts)) <= set("0123456789abcdef-head")
        assert b"memory://" not in path.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_stores_that_share_a_cache_do_not_share_values(tmp_path):
    stores = []
    for value in (b"1", b"2"):
        inner = VersionedStore(MemoryStore())
        inner.generations["k"] = "the same"
        inner.inner.set("k", value)
        stores.append(inner)
    one, two = (cached(inner, tmp_path) for inner in stores)
    assert (bytes(one.get("k")), bytes(two.get("k"))) == (b"1", b"2")


def test_every_flipped_byte_and_every_cut_is_noticed(inner, tmp_path):
    value = os.urandom(100)
    inner.set("k", value)
    store = cached(inner, tmp_path, block_bytes=50)
    store.get("k")
    first, *_ = paths = files(tmp_path)
    assert len(paths) == 3
    for path in paths:
        whole = path.read_bytes()
        flipped = [
            whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :]
            for place in range(len(whole))
        ]
        cut = [whole[:place] for place in range(len(whole))]
        for damaged in [*flipped, *cut, whole + b"more", first.read_bytes() * (path != first)]:
            path.write_bytes(damaged)
            assert bytes(store.get("k")) == value
    store.get("k")
    inner.calls.clear()
    assert bytes(store.get("k")) == value
    assert inner.reads() == 0


@pytest.mark.parametrize("contents", [b"", b"\xff" * 100], ids=["short", "not text"])
def test_a_file_with_a_valid_checksum_and_other_contents_is_a_miss(inner, tmp_path, contents):
    inner.set("k", b"value")
    store = cached(inner, tmp_path)
    store.get("k")
    [head] = set(files(tmp_path)) - set(blocks(tmp_path))
    store.files.write(str(head), contents)
    assert bytes(store.get("k")) == b"value"


def test_the_least_recently_used_files_are_evicted(inner, tmp_path):
    limit = 10 * (65536 + 3 * 4096)
    store = cached(inner, tmp_path, limit)
    for number in range(30):
        inner.set(f"{number}", os.urandom(65536))
        store.get(f"{number}")
        store.get("0")
        for age, path in enumerate(sorted(files(tmp_path), key=lambda path: path.stat().st_mtime)):
            then = time.time() - 1000 + age  # uses within a second are not distinguished
            os.utime(path, (then, then))
    info = store.cache_info()
    assert limit / 2 < disk_usage(tmp_path) <= limit
    assert info.nbytes <= limit
    assert inner.keys("open_value").count("0") == 1  # always used, so never evicted
    inner.calls.clear()
    store.get("0"), store.get("29")
    assert inner.reads() == 0
    store.get("1")
    assert inner.reads() > 0


def test_the_limit_holds_for_several_objects(inner, tmp_path):
    limit = 500_000
    for number in range(20):
        inner.set(f"{number}", os.urandom(65536))
        cached(inner, tmp_path, limit).get(f"{number}")
    assert disk_usage(tmp_path) <= limit


def test_clear_removes_only_cached_values(inner, tmp_path):
    inner.set("k", b"v")
    store = cached(inner, tmp_path)
    store.clear()
    store.get("k")
    other, outside = tmp_path / "cache" / "mine.txt", tmp_path / "outside" / "mine.txt"
    outside.parent.mkdir()
    for path in (other, outside):
        path.touch()
    (tmp_path / "cache" / "values" / "link").symlink_to(outside.parent)
    store.clear()
    assert store.cache_info().nbytes == 0
    assert files(tmp_path) == [other]
    assert outside.exists()
    assert bytes(store.get("k")) == b"v"


def test_a_file_of_a_killed_process_is_evicted_and_a_link_is_not_followed(inner, tmp_path):
    store = cached(inner, tmp_path, 50_000)
    inner.set("k", b"v")
    store.get("k")
    outside = tmp_path / "outside" / "mine.txt"
    outside.parent.mkdir()
    outside.touch()
    (tmp_path / "cache" / "values" / "link").symlink_to(outside.parent)
    old = tmp_path / "cache" / "values" / ".head.1.zarr-partial"
    old.write_bytes(bytes(45_000))
    os.utime(old, (1, 1))
    inner.set("large", bytes(30_000))
    store.get("large")
    assert not old.exists()
    assert outside.exists()


def test_a_value_above_the_limit_is_not_stored(inner, tmp_path):
    store = cached(inner, tmp_path, 50_000)
    inner.set("large", value := os.urandom(60_000))
    for _ in range(2):
        assert bytes(store.get("large")) == value
    assert disk_usage(tmp_path) <= 50_000


# --- a cache that cannot be used ---


def test_a_full_disk_is_not_an_error(inner, tmp_path, monkeypatch, caplog):
    value = os.urandom(200_000)
    inner.set("k", value)
    store = cached(inner, tmp_path)
    store.get("k")

    def full(descriptor, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "writev", full)
    caplog.set_level("INFO", "zarr_core.caches")
    inner.set("k", value[::-1])
    for _ in range(3):
        assert bytes(store.get("k")) == value[::-1]
    assert "not written: [Errno 28]" in caplog.text


def test_no_permission_is_not_an_error(inner, tmp_path, caplog):
    caplog.set_level("INFO", "zarr_core.caches")
    inner.set("k", b"v" * 1000)
    (tmp_path / "cache").write_bytes(b"a file is in the way")
    store = cached(inner, tmp_path)
    for _ in range(2):
        assert bytes(store.get("k")) == b"v" * 1000
        assert store.get("none") is None
        assert get_into(store, "k", memoryview(bytearray(2000))) == 1000
    store.set("k", b"new")
    assert bytes(store.get("k")) == b"new"
    assert "not read: [Errno 20]" in caplog.text
    assert store.cache_info().nbytes == 0


def test_a_cache_that_vanishes(inner, tmp_path):
    inner.set("k", bytes(1000))
    store = cached(inner, tmp_path, block_bytes=100)
    with store.open_value("k") as reader:
        reader.read(0, 10)
        shutil.rmtree(tmp_path / "cache")
        assert bytes(reader.read(500, 10)) == bytes(10)
    assert bytes(store.get("k")) == bytes(1000)
    assert len(blocks(tmp_path)) == 10


def test_wrong_arguments(tmp_path):
    with pytest.raises(StoreError, match="block_bytes must be"):
        DiskCacheStore(MemoryStore(), tmp_path, 1, block_bytes=0)


# --- processes ---

READER = """
import random, sys
from zarr_core.stores.local import LocalStore
from zarr_stores.cache.disk_cache import DiskCacheStore
place, cache, seed, count = sys.argv[1:]
store = DiskCacheStore(LocalStore(place), cache, 400_000, check="never", block_bytes=4096)
rng = random.Random(int(seed))
for _ in range(int(count)):
    number = rng.randrange(20)
    with store.open_value(f"k{number}") as reader:
        start = rng.randrange(60_000)
        part = reader.read(start, min(2000, 65536 - start))
        assert bytes(part) == bytes([number]) * len(part)
print(store.cache_info().hits)
"""


def begin(tmp_path, seed, count):
    words = [
        sys.executable,
        "-c",
        READER,
        tmp_path / "store",
        tmp_path / "cache",
        str(seed),
        str(count),
    ]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def filled(tmp_path):
    inner = LocalStore(tmp_path / "store")
    for number in range(20):
        inner.set(f"k{number}", bytes([number]) * 65536)
    return inner


def test_several_processes_share_a_cache_within_its_limit(filled, tmp_path):
    runs = [begin(tmp_path, seed, 100) for seed in range(3)]
    for run in runs:
        out, err = run.communicate()
        assert (run.returncode, err) == (0, "")
        assert int(out) > 0
    assert 100_000 < disk_usage(tmp_path) < 500_000


def test_killed_processes_leave_no_wrong_values(filled, tmp_path):
    for seed in range(4):
        run = begin(tmp_path, seed, 10**6)
        wait_until(lambda: files(tmp_path))
        time.sleep(0.02 * seed)
        run.kill()
        _, err = run.communicate()
        assert (run.returncode, err) == (-9, "")
    store = DiskCacheStore(filled, tmp_path / "cache", 400_000, "never", block_bytes=4096)
    for number in range(20):
        assert bytes(store.get(f"k{number}")) == bytes([number]) * 65536


def test_a_value_above_the_limit_is_not_read(inner, tmp_path):
    inner.set("large", bytes(10**6))
    inner.set("small", b"12345")
    store = cached(inner, tmp_path, block_bytes=100)
    for _ in range(2):  # not cached, then cached
        assert store.get_limited("large", 1000) == 10**6
        assert store.get_limited("small", 5) == b"12345"
        assert store.get_limited("small", 4) == 5
        assert store.get_limited("missing", 4) is None
    assert disk_usage(tmp_path) < 100_000
