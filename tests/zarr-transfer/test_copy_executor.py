"""Copies with a custom executor."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.threads import in_one_thread, parallel_for
from zarr_transfer import Budget, CopyExecutor, ElementsDifferError
from zarr_transfer.rechunk import _OVERHEAD


class Interrupted(Exception):
    """The error that interrupts a copy."""


class Packed(CopyExecutor):
    """Runs tasks one by one after pickling, and stops after some of them."""

    def __init__(self, most=1000, memory=1 << 20):
        self.memory = memory
        self.most = most
        self.completed = 0

    def budget(self):
        return Budget(self.memory)

    def run(self, work, tasks, done):
        for task in tasks:
            if self.completed == self.most:
                raise Interrupted
            done(task, pickle.loads(pickle.dumps(work))(task))
            self.completed += 1


@pytest.fixture
def source(tmp_path):
    group = zarr.create_group(tmp_path / "source", attributes={"a": 1})
    group.create_array("x", data=np.arange(100).reshape(10, 10), chunks=(5, 2))
    group.create_array("below/y", data=np.arange(8.0), chunks=2)
    zarr.create_array(tmp_path / "source", path="below/empty", shape=5)
    return group


def same(one, other):
    members = dict(one.members(max_depth=None))
    assert members.keys() == dict(other.members(max_depth=None)).keys()
    for path, node in members.items():
        assert dict(node.attrs) == dict(other[path].attrs)
        if isinstance(node, zarr.Array):
            assert np.array_equal(node, other[path])


@pytest.mark.parametrize("layout", [{}, {"chunks": 3}, {"chunks": 2, "shards": 4}], ids=str)
def test_a_hierarchy_is_carried(source, tmp_path, layout):
    executor, seen = Packed(), []
    copy = zarr.copy(source, tmp_path / "copy", executor=executor, progress=seen.append, **layout)
    same(source, copy)
    assert executor.completed
    assert seen[-1].done == seen[-1].total
    keys = set(zarr.LocalStore(tmp_path / "copy").list())
    assert not [key for key in keys if ".copying" in key]
    assert layout or keys == set(source.store.list())


ONE_CHUNK = _OVERHEAD + 250  # memory for one chunk of (2, 3) elements
ONE_VERIFIED = _OVERHEAD + 300


@pytest.mark.parametrize(
    ("layout", "memory", "completed", "left"),
    [
        ({}, ONE_CHUNK, 0, 1),
        ({"chunks": (2, 3)}, ONE_CHUNK, 7, 13),
        ({"chunks": (2, 3), "verify": True}, ONE_VERIFIED, 7, 20),
    ],
    ids=["keys", "elements", "verified"],
)
def test_interrupted_operation_resumes(source, tmp_path, layout, memory, completed, left):
    array = source["x"]
    with pytest.raises(Interrupted):
        zarr.copy(array, tmp_path / "copy", executor=Packed(completed, memory), **layout)
    # Visible nodes are complete.
    with pytest.raises(LookupError):
        zarr.open(tmp_path / "copy")
    again = Packed(memory=memory)
    copy = zarr.copy(array, tmp_path / "copy", executor=again, **layout)
    assert np.array_equal(copy, array)
    assert again.completed == left


def test_tasks_verify_and_convert_elements(source, tmp_path):
    array, options = source["x"], {"executor": Packed(), "chunks": 3, "verify": True}
    copy = zarr.copy(array, tmp_path / "copy", dtype="f4", **options)
    assert copy.dtype == "f4"
    assert np.array_equal(copy, array)
    large = zarr.create_array(tmp_path / "large", data=np.arange(200, 400), chunks=50)
    with pytest.raises(ElementsDifferError, match="do not fit into uint8"):
        zarr.copy(large, tmp_path / "small", dtype="u1", **options)


def test_remains_are_removed(source, tmp_path):
    with pytest.raises(Interrupted):
        zarr.copy(source["x"], tmp_path / "copy", executor=Packed(7, ONE_CHUNK), chunks=(2, 3))
    copy = zarr.copy(source, tmp_path / "copy", overwrite=True)
    same(source, copy)


def test_in_one_thread():
    import threading

    seen = set()

    def work(_):
        seen.add(threading.get_ident())

    with in_one_thread():
        parallel_for(range(50), work)
    assert seen == {threading.get_ident()}
