"""Failed copies, moves and conversions: remaining keys; stores that require metadata first."""

import pickle
import threading

import numpy as np
import pytest
import zarr_core
import zarr_transfer
from failing_store import FailingStore
from zarr_core.errors import StoreError, ZarrError

VALUES = np.arange(1, 37).reshape(6, 6)


@pytest.fixture
def source():
    root = zarr_core.create_group(attributes={"title": "source"})
    root.create_array("a/one", data=VALUES, chunks=(3, 3))
    root.create_array("two", data=VALUES, chunks=(2, 2), shards=(6, 6))
    return root


class FirstStore(FailingStore):
    """Rejects chunks of arrays without metadata."""

    def __init__(self, inner, *args, **kwargs):
        super().__init__(inner, *args, **kwargs)
        self.traits = self.traits._replace(metadata_first=True)

    def set(self, key, value):
        node, is_chunk, _ = key.rpartition("/c/")
        if is_chunk and not self.exists(f"{node}/zarr.json"):
            raise StoreError("the array is not known", self, key)
        super().set(key, value)


COPIES = {
    "copy": lambda source, dest: zarr_core.copy(source, dest, "x/y"),
    "copy_all": lambda source, dest: zarr_core.copy_all(source, dest),
    "other chunks": lambda source, dest: zarr_core.copy(
        source, dest, "x/y", chunks=(2, 6), shards=None
    ),
    "move": lambda source, dest: zarr_core.move(source, dest, "x/y"),
    "convert": lambda source, dest: zarr_core.convert(source, dest, dest_path="x/y"),
    "convert other chunks": lambda source, dest: zarr_core.convert(
        source, dest, dest_path="x/y", chunks=(2, 6), shards=None
    ),
}


def check(dest):
    there = zarr_core.open_group(dest)
    arrays = [found for _, found in there.members(max_depth=None) if hasattr(found, "shape")]
    assert len(arrays) == 2
    for array in arrays:
        assert np.array_equal(array[...], VALUES)


def test_keys_are_copied_in_the_order_that_the_store_requires(source):
    dest = FirstStore(zarr_core.MemoryStore())
    zarr_core.copy_store(source.store, dest)
    written = [key for operation, key in dest.calls if operation == "set"]
    assert written[0] == "zarr.json"
    check(dest)
    dest = FailingStore(zarr_core.MemoryStore())
    zarr_core.copy_store(source.store, dest)
    assert [key for operation, key in dest.calls if operation == "set"][-1] == "zarr.json"


def failures(source, work, kind):
    before = {key: source.store.get(key) for key in source.store.list()}
    counted = kind(zarr_core.MemoryStore())
    work(zarr_core.open_group(zarr_core.MemoryStore(dict(before))), counted)
    for number in range(1, len(counted.calls) + 1, 1 + len(counted.calls) // 40):
        store = zarr_core.MemoryStore()
        again = zarr_core.open_group(zarr_core.MemoryStore(dict(before)))
        try:
            work(again, kind(store, fail_at=number))
        except ZarrError as error:
            yield again, store, "\n".join(getattr(error, "__notes__", ()))


@pytest.mark.parametrize("how", COPIES)
def test_failed_copy_names_remains_and_resumes(source, how):
    seen = 0
    for again, store, notes in failures(source, COPIES[how], FailingStore):
        left = list(store.list())
        if "x/y/zarr.json" in left or (how == "copy_all" and "zarr.json" in left):
            continue  # complete; the failure was later
        seen += 1
        if left:
            assert "is incomplete; " in notes or "is kept" in notes, (left, notes)
        if how == "copy_all":
            zarr_core.copy_all(again, store, if_exists="skip")
        elif how == "move" or how.startswith("convert"):
            if any(key.startswith("x/y/") for key in left):
                assert ("without overwrite" in notes) == (how != "move")
            COPIES[how](again, store)
        else:
            layout = {"chunks": (2, 6), "shards": None} if how == "other chunks" else {}
            zarr_core.copy(again, store, "x/y", if_exists="skip", **layout)
        check(store)
    assert seen > (5 if how != "copy_all" else 0)


@pytest.mark.parametrize("how", COPIES)
def test_failed_copy_removes_created_nodes_if_metadata_is_first(source, how):
    seen = 0
    for _, store, notes in failures(source, COPIES[how], FirstStore):
        left = list(store.list())
        arrays = [key for key in left if key.endswith(("one/zarr.json", "two/zarr.json"))]
        if len(arrays) == 2:
            check(store)  # the failure was later
            continue
        seen += 1
        if how.startswith("convert"):
            assert not any(key.startswith("x/y") for key in left)
            COPIES[how](source, store)
            check(store)
            continue
        for key in left:
            assert repr("/" + key.rpartition("/")[0]) in notes, (left, notes)
    assert seen > 5


def test_a_group_that_is_there_keeps_its_metadata_until_all_is_copied(source):
    inner = zarr_core.MemoryStore()
    zarr_core.create_group(inner, path="x", attributes={"old": True})

    class Full(FirstStore):
        def set(self, key, value):
            if "/c/" in key:
                raise StoreError("no space left on device", self, key)
            super().set(key, value)

    with pytest.raises(StoreError, match="no space"):
        zarr_core.copy(source, Full(inner), "x", if_exists="replace")
    assert sorted(inner.list()) == ["x/zarr.json", "zarr.json"]
    assert zarr_core.open_group(inner, path="x").attrs["old"]


def test_a_removal_that_fails_after_a_move_is_named(source):
    class Stuck(FailingStore):
        def erase(self, key):
            raise StoreError("permission denied", self, key)

    group = zarr_core.open_group(Stuck(source.store))
    with pytest.raises(StoreError, match="permission denied") as info:
        group.move("a", "b")
    assert "'/b' is complete" in "\n".join(info.value.__notes__)


class OutageStore(zarr_core.MemoryStore):
    """Fails after some writes of chunks until it is repaired."""

    def __init__(self, max_concurrency=None, batch_nbytes=0, after=None):
        super().__init__()
        self.in_memory = False
        self.max_concurrency = max_concurrency
        self.traits = self.traits._replace(batch_nbytes=batch_nbytes)
        self.left = after
        self.guard = threading.Lock()

    def _count(self, key):
        with self.guard:
            if self.left is not None and "/c/" in key:
                if not self.left:
                    raise StoreError("the server is away", self, key)
                self.left -= 1

    def set(self, key, value):
        self._count(key)
        super().set(key, value)

    def set_values(self, values):
        values = list(values)
        self._count(values[0][0])
        for key, value in values:
            super().set(key, value)


CHUNKS = {f"a/c/{row}/{column}" for row in range(6) for column in range(6)}


@pytest.mark.parametrize("after", [0, 1, 5])
@pytest.mark.parametrize(("max_concurrency", "batch_nbytes"), [(None, 0), (4, 0), (None, 60)])
def test_a_failed_copy_names_all_keys_that_are_not_stored(after, max_concurrency, batch_nbytes):
    source = zarr_core.create_array(data=VALUES, chunks=(1, 1), compressors=None)
    dest = OutageStore(max_concurrency, batch_nbytes, after)
    with pytest.raises(StoreError, match=r"away. \d+ values of the same write are not") as caught:
        zarr_core.copy(source, dest, "a")
    unconfirmed = caught.value.unconfirmed
    assert len(unconfirmed) == len(set(unconfirmed))
    assert set(unconfirmed) == CHUNKS - {*dest.list()}
    assert pickle.loads(pickle.dumps(caught.value.args)) == caught.value.args
    dest.left = None
    assert np.array_equal(zarr_core.copy(source, dest, "a")[...], VALUES)


def test_a_failed_read_of_the_source_is_named_too():
    source = OutageStore()
    array = zarr_core.create_array(source, path="s", data=VALUES, chunks=(1, 1), compressors=None)
    source.get = lambda key: source._count(key) or zarr_core.MemoryStore.get(source, key)
    source.left = 10
    dest = zarr_core.MemoryStore()
    with pytest.raises(StoreError, match="26 values of the same write are not") as caught:
        zarr_core.copy(array, dest, "a")
    assert set(caught.value.unconfirmed) == CHUNKS - {*dest.list()}


class OneByOne(zarr_transfer.CopyExecutor):
    """Runs one task after the other."""

    def run(self, work, tasks, done):
        for task in tasks:
            done(task, work(task))


def test_an_executor_that_fails_leaves_all_other_keys():
    source = zarr_core.create_array(data=VALUES, chunks=(1, 1), compressors=None)
    dest = OutageStore(after=33)  # in the second task
    with pytest.raises(StoreError, match="4 values of the same write are not") as caught:
        zarr_core.copy(source, dest, "a", executor=OneByOne())
    assert CHUNKS - {*dest.list()} < set(caught.value.unconfirmed)
