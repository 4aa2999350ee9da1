"""Copies with a custom executor for chunks or elements."""

import pickle
from itertools import product

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_core.threads import in_one_thread, parallel_for
from zarr_transfer import CopyExecutor


class Interrupted(Exception):
    """The error that interrupts a copy."""


class Packed(CopyExecutor):
    """Copies items one by one after pickling, and stops after some of them."""

    def __init__(self, most=1000):
        self.most = most
        self.moved = []

    def count(self, what):
        self.moved.append(what)
        if len(self.moved) > self.most:
            raise Interrupted

    def copy_keys(self, pairs, move, done):
        for pair in pairs:
            self.count(pair.target)
            done([pair], pickle.loads(pickle.dumps(move))([pair]))

    def copy_elements(self, source, dest, there, done):
        source, dest = pickle.loads(pickle.dumps((source, dest)))
        for at in product(*(range(count) for count in dest.cdata_shape)):
            if at not in there:
                self.count(at)
                parts = zip(at, dest.shards or dest.chunks, dest.shape, strict=True)
                box = tuple(slice(n * k, min(size, n * k + k)) for n, k, size in parts)
                dest[box] = source[box]
            done(1)


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
    assert executor.moved
    assert seen[-1].done == seen[-1].total
    keys = set(zarr.LocalStore(tmp_path / "copy").list())
    assert not [key for key in keys if ".copying" in key]
    assert layout or keys == set(source.store.list())


@pytest.mark.parametrize("layout", [{}, {"chunks": (2, 3)}], ids=str)
def test_interrupted_operation_resumes(source, tmp_path, layout):
    array = source["x"]
    with pytest.raises(Interrupted):
        zarr.copy(array, tmp_path / "copy", executor=Packed(7), **layout)
    # Visible nodes are complete.
    with pytest.raises(LookupError):
        zarr.open(tmp_path / "copy")
    again = Packed()
    copy = zarr.copy(array, tmp_path / "copy", executor=again, **layout)
    assert np.array_equal(copy, array)
    assert len(again.moved) == (np.prod(copy.cdata_shape) - 7 if layout else 10)


def test_chunks_of_another_layout_are_not_a_part_of_it(source, tmp_path):
    array = source["x"]
    with pytest.raises(Interrupted):
        zarr.copy(array, tmp_path / "copy", executor=Packed(7), chunks=(2, 3))
    executor = Packed()
    copy = zarr.copy(array, tmp_path / "copy", executor=executor, chunks=(5, 5))
    assert np.array_equal(copy, array)
    assert len(executor.moved) == 4
    assert sorted(copy.store.list()) == ["c/0/0", "c/0/1", "c/1/0", "c/1/1", "zarr.json"]


def test_removing_remains_keeps_other_keys(source, tmp_path):
    with pytest.raises(Interrupted):
        zarr.copy(source["x"], tmp_path / "copy", executor=Packed(7), chunks=(2, 3))
    copy = zarr.copy(source, tmp_path / "copy", overwrite=True)
    same(source, copy)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(NodeExistsError, match=r"notes\.txt"):
        zarr.copy(source["x"], tmp_path / "other", executor=Packed(), chunks=3)
    assert (tmp_path / "other" / "notes.txt").exists()


def test_in_one_thread():
    import threading

    seen = set()

    def work(_):
        seen.add(threading.get_ident())

    with in_one_thread():
        parallel_for(range(50), work)
    assert seen == {threading.get_ident()}
