"""The store that keeps a manifest up to date."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_store
from server_store_contract import unique
from zarr_core.extension import StoreReadOnlyError
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_stores.integrity.manifest import CHANGES_NAME, MANIFEST_NAME, create_manifest
from zarr_stores.integrity.stored_manifest import read_manifest, write_manifest
from zarr_stores.integrity.verify import verify
from zarr_stores.manifest_store import ManifestStore

pytest_plugins = ["servers.fixtures"]


def is_current(store):
    """Assert that the stored manifest is not behind, and describes the present values."""
    manifest, behind = read_manifest(store)
    assert behind == ""
    assert manifest == create_manifest(store)
    return True


@pytest.fixture(params=["directory", "sqlite", "memory"])
def inner(request, tmp_path):
    if request.param == "directory":
        yield LocalStore(tmp_path / "a.zarr")
    elif request.param == "memory":
        yield MemoryStore()
    else:
        with SQLiteStore(str(tmp_path / "a.sqlite")) as store:
            yield store


def test_every_kind_of_change_is_recorded(inner):
    store = ManifestStore(inner)
    group = zarr.create_group(store)
    array = group.create_array("x", shape=(40, 40), chunks=(5, 5), shards=(20, 20), dtype="int32")
    array[...] = np.arange(1600).reshape(40, 40)
    group.create_array("removed", data=[1, 2, 3])
    store.flush()
    assert is_current(inner)
    array[3, 3] = 7  # in part of a shard
    array[20:, 20:] = 0  # removes a shard
    array.attrs["title"] = "changed"
    del group["removed"]
    store.set_partial_values([("other", 2, b"ab")])
    store.flush()
    assert is_current(inner)
    array.resize((20, 20))
    group.create_array("y", data=[1, 2, 3])
    group.move("y", "z")
    store.erase_prefix("z/c/")
    store.erase_values(["other", "absent"])
    store.flush()
    assert is_current(inner)
    assert store.digest() == create_manifest(inner).digest
    store.erase_prefix("")
    store.flush()
    assert is_current(inner)
    assert sorted(inner.list()) == [CHANGES_NAME, MANIFEST_NAME]
    assert list(store.list()) == []


def check_remote(inner):
    with ManifestStore(inner) as store:
        array = zarr.create_array(store, shape=(40, 40), chunks=(5, 5), dtype="int32")
        array[...] = np.arange(1600).reshape(40, 40)
        array[3, 3] = 7
        store.flush()
        assert is_current(inner)
        memory = MemoryStore()
        for key in store.list():
            memory.set(key, store.get(key))
        assert create_manifest(memory).digest == store.digest()
        lost, swapped = "c/0/0", "c/1/1"
        inner.set(swapped, inner.get("c/1/2"))
        inner.erase(lost)
        found = [(it.key, it.kind) for it in verify(inner).problems]
        assert found == [(lost, "missing"), (swapped, "misplaced")]


def test_an_s3_bucket_has_a_manifest(s3_server):
    check_remote(s3_store(s3_server))


def test_redis_has_a_manifest(redis_server):
    check_remote(RedisStore(f"{redis_server.url}?prefix={unique()}"))


def test_the_manifest_is_behind_until_changes_are_recorded():
    inner = MemoryStore()
    store = ManifestStore(inner)
    store.set("a", b"1")
    found = verify(inner)
    assert "has not recorded changes since" in found.behind
    assert [problem.key for problem in found.problems] == ["a"]
    store.flush()
    assert verify(inner).behind == ""
    assert verify(inner).is_sound


def test_a_new_manifest_describes_values_that_exist():
    inner = MemoryStore({"a": b"1", "b/c": b"2"})
    store = ManifestStore(inner)
    assert is_current(inner)
    assert store.digest() == create_manifest(inner).digest


def test_the_root_can_be_below_the_root_of_the_store():
    inner = MemoryStore({"a/x": b"1", "b": b"2"})
    with ManifestStore(inner, "a") as store:
        store.set("a/y", b"3")
        store.set("b", b"4")
    manifest, behind = read_manifest(inner, "a")
    assert behind == ""
    assert sorted(manifest) == ["x", "y"]


def test_many_changes_are_added_to_the_manifest(monkeypatch):
    monkeypatch.setattr("zarr_stores.integrity.stored_manifest._MAX_CHANGES", 10)
    inner = MemoryStore()
    store = ManifestStore(inner)
    for number in range(100):
        store.set(f"c/{number % 37}", bytes([number]))
        if number % 3 == 0:
            store.erase(f"c/{number % 5}")
        store.flush()
        if number % 10 == 0:
            assert is_current(inner)
            assert store.digest() == create_manifest(inner).digest
    assert bytes(inner.get(CHANGES_NAME)).count(b"\n") < 15


def test_one_change_reads_and_writes_little():
    """The manifest itself is not written again for each change."""
    inner = MemoryStore()
    for number in range(3000):
        inner.set(f"c/{number}", b"1")
    store = ManifestStore(inner)
    before = inner.get(MANIFEST_NAME)
    store.set("c/5", b"2")
    store.flush()
    assert inner.get(MANIFEST_NAME) is before
    assert len(inner.get(CHANGES_NAME)) < 1000
    assert is_current(inner)


def test_a_hierarchy_with_a_manifest_is_copied():
    source = MemoryStore()
    with ManifestStore(source) as store:
        zarr.create_group(store).create_array("x", data=[1, 2, 3])
    inner = MemoryStore()
    with ManifestStore(inner) as store:
        zarr.create_group(store).create_array("y", data=[4, 5])
        zarr.copy_store(source, store, if_exists="replace")
    assert "x/c/0" in read_manifest(inner)[0]
    assert is_current(inner)


def test_a_read_only_store_is_passed_through():
    inner = MemoryStore({"a": b"1"}, read_only=True)
    store = ManifestStore(inner)
    assert store.get("a") == b"1"
    with pytest.raises(StoreReadOnlyError):
        store.set("a", b"2")
    store.close()
    assert list(inner.list()) == ["a"]


def test_a_change_that_fails_is_read_again():
    class Failing(MemoryStore):
        def set(self, key, value):
            super().set(key, value)
            if key == "a" and bytes(value) == b"2":
                raise OSError("after the value was stored")

    inner = Failing()
    store = ManifestStore(inner)
    store.set("a", b"1")
    with pytest.raises(OSError, match="stored"):
        store.set("a", b"2")
    store.flush()
    assert is_current(inner)


def test_changes_remain_to_be_recorded_if_recording_fails():
    class Failing(MemoryStore):
        fails = False

        def update(self, key, change):
            if self.fails and key == CHANGES_NAME:
                raise OSError("no connection")
            super().update(key, change)

    inner = Failing()
    store = ManifestStore(inner)
    store.set("a", b"1")
    inner.fails = True
    with pytest.raises(OSError, match="connection"):
        store.flush()
    inner.fails = False
    assert verify(inner).behind
    store.flush()
    assert is_current(inner)


def test_threads_change_the_same_keys(inner):
    store = ManifestStore(inner)

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            key = f"c/{rng.integers(5)}"
            choice = rng.random()
            if choice < 0.5:
                store.set(key, rng.bytes(8))
            elif choice < 0.7:
                store.erase(key)
            elif choice < 0.9:
                new = rng.bytes(9)
                store.update(key, lambda _, new=new: new)
            else:
                store.flush()

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(work, range(4))] == [None] * 4
    store.flush()
    assert is_current(inner)
    assert store.digest() == create_manifest(inner).digest


def test_two_writers_change_the_same_keys():
    """A manifest that is not behind describes all values at every point."""
    rng = np.random.default_rng(3)
    inner = MemoryStore()
    stores = [ManifestStore(inner), ManifestStore(inner), ManifestStore(inner)]
    current = 0
    for step in range(600):
        store = stores[rng.integers(3)]
        if rng.random() < 0.6:
            store.set(f"c/{rng.integers(4)}", rng.bytes(3))
        elif rng.random() < 0.3:
            store.erase(f"c/{rng.integers(4)}")
        else:
            store.flush()
        if step % 5 == 0 and not read_manifest(inner)[1]:
            current += is_current(inner)
            assert store.digest() == create_manifest(inner).digest
    assert current
    for store in stores:
        store.flush()
    assert is_current(inner)


WRITER = """
import sys
import numpy as np
from zarr_core.stores.local import LocalStore
from zarr_stores.manifest_store import ManifestStore
rng = np.random.default_rng(int(sys.argv[2]))
store = ManifestStore(LocalStore(sys.argv[1]))
print("ready", flush=True)
for step in range(int(sys.argv[3])):
    key = f"c/{rng.integers(6)}"
    if rng.random() < 0.2:
        store.erase(key)
    else:
        store.set(key, rng.bytes(50))
    if step % 3 == 0:
        store.flush()
store.close()
"""


def write(folder, seed, steps):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, folder, str(seed), str(steps)], stdout=subprocess.PIPE
    )


def test_two_processes_change_the_same_keys(tmp_path):
    write_manifest(store := LocalStore(tmp_path / "a.zarr"))
    writers = [write(tmp_path / "a.zarr", seed, 60) for seed in range(2)]
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert is_current(store)


@pytest.mark.parametrize(
    "kills", [2, pytest.param(60, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_after_a_crash_the_manifest_is_right_or_behind(tmp_path, kills):
    store = LocalStore(tmp_path / "a.zarr")
    rng = np.random.default_rng(1)
    for seed in range(kills):
        write_manifest(store)
        writer = write(tmp_path / "a.zarr", seed, 10**6)
        writer.stdout.readline()
        time.sleep(rng.random() * 0.1)
        writer.send_signal(signal.SIGKILL)
        writer.communicate()
        manifest, behind = read_manifest(store)
        assert behind or manifest == create_manifest(store)
    write_manifest(store)
    assert is_current(store)


def test_a_manifest_that_is_behind_is_written_again():
    inner = MemoryStore()
    ManifestStore(inner).set("a", b"1")  # never recorded
    with ManifestStore(inner) as store:
        store.set("b", b"1")
    assert verify(inner).behind
    assert verify(inner).problems[0].key == "a"
    write_manifest(inner)
    assert is_current(inner)


def test_a_copy_of_the_store_is_another_writer(tmp_path):
    store = ManifestStore(LocalStore(tmp_path), "a")
    store.set("a/x", b"1")
    copy = pickle.loads(pickle.dumps(store))
    assert copy.path == "a"
    copy.flush()
    assert read_manifest(store.inner, "a")[1]
    store.flush()
    assert not read_manifest(store.inner, "a")[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="requires fork")
def test_a_child_does_not_record_changes_of_its_parent(tmp_path):
    code = f"""
        import os
        from zarr_core.stores.local import LocalStore
        from zarr_stores.manifest_store import ManifestStore
        from zarr_stores.integrity.stored_manifest import read_manifest
        store = ManifestStore(LocalStore({str(tmp_path)!r}))
        store.set("a", b"1")
        if os.fork() == 0:
            store.set("b", b"2")
            store.close()
            os._exit(0)
        os.wait()
        assert read_manifest(store.inner)[1]
        store.close()
        manifest, behind = read_manifest(store.inner)
        assert (sorted(manifest), behind) == (["a", "b"], "")
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)
