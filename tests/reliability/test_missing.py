"""Only absent keys are missing; all other failures raise errors."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import MissingChunkError, NodeNotFoundError, StoreError, StoreReadError
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore

SELECTIONS = (..., (0, 0), (slice(1, 5), slice(1, 5)), ([0, 5], [0, 5]), (slice(None, None, -3),))
LAYOUTS = {
    "raw": {"chunks": (3, 3), "compressors": None},
    "gzip": {"chunks": (3, 3), "compressors": "gzip"},
    "shard": {"chunks": (3, 3), "shards": (6, 6)},
    "large": {"chunks": (3, 3), "compressors": None, "dtype": "V65536"},
}


def make(store, layout):
    options = {"shape": (6, 6), "dtype": "i4", "attributes": {"a": 1}} | LAYOUTS[layout]
    return zarr.create_array(store, **options)


class Broken(MemoryStore):
    """Fails like an object store: with an error of its library."""

    error: BaseException | None = None

    def get(self, key):
        if self.error is not None and key != "zarr.json":
            raise self.error
        return super().get(key)


ERRORS = [
    PermissionError(errno.EACCES, "denied"),
    OSError(errno.EIO, "i/o error"),
    TimeoutError("too slow"),
    StoreReadError("503 slow down"),
    KeyError("some library's own"),
    FileNotFoundError(errno.ENOENT, "raised where None was to be returned"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_failing_read_is_not_a_missing_chunk(layout, error):
    store = Broken()
    array = make(store, layout)
    store.error = error
    for selection in SELECTIONS:
        with pytest.raises(type(error)):
            array[selection]
    if LAYOUTS[layout].get("dtype") is None:
        with pytest.raises(type(error)):
            array[0, 0] = 1
    store.error = None
    assert sorted(store.list()) == ["zarr.json"]
    assert array[...].shape == (6, 6)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_file_that_may_not_be_read_is_not_missing(tmp_path, monkeypatch, layout):
    array = make(LocalStore(tmp_path), layout)
    opened = os.open

    def refused(path, *arguments, **options):
        if os.path.basename(path) == "c":  # the directory of the chunks
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return opened(path, *arguments, **options)

    # Root can read all files.  Compiled code and openat2 do not use os.open.
    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(local_files, "openat2", None)
    with zarr.config.set(native="off"):
        array = zarr.open_array(tmp_path)
    for selection in SELECTIONS:
        with pytest.raises(StoreReadError, match=r"c/\d/\d.*denied"):
            array[selection]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_missing_chunks_can_be_errors(tmp_path, layout):
    make(tmp_path, layout)
    array = zarr.open_array(tmp_path, config={"missing_chunks": "error"})
    for selection in SELECTIONS:
        with pytest.raises(MissingChunkError, match=r"c/\d/\d") as caught:
            array[selection]
        assert str(tmp_path) in str(caught.value)
    if layout == "large":
        return
    array[:3, :3] = 5  # written without reading
    array[:3, :3]
    if layout != "shard":
        with pytest.raises(MissingChunkError, match=r"c/(0/1|1/0|1/1)"):
            array[...]
    with zarr.config.set(missing_chunks="error"):
        other = zarr.open_array(tmp_path)
        if layout != "shard":
            with pytest.raises(MissingChunkError):
                other[5, 5]
    assert zarr.open_array(tmp_path)[5, 5] == 0


def test_chunks_of_fill_are_stored_where_missing_ones_are_errors_if_asked(tmp_path):
    array = zarr.create_array(
        tmp_path,
        shape=6,
        chunks=3,
        dtype="i4",
        config={"missing_chunks": "error", "write_empty_chunks": True},
    )
    array[...] = 0
    assert array[...].tolist() == [0] * 6
    assert array.nchunks_initialized == 2


def test_opening_fails_for_what_cannot_be_read_and_creates_nothing(tmp_path):
    with pytest.raises(NodeNotFoundError):
        zarr.open(tmp_path / "misspelt")
    assert not (tmp_path / "misspelt").exists()

    class Denied(MemoryStore):
        def get(self, key):
            raise StoreReadError("403", self, key)

        exists = get

    for mode in ("r", "r+", "a"):
        with pytest.raises(StoreError, match="403"):
            zarr.open(Denied(), mode)
    for mode in ("w-",):
        store = Denied()
        with pytest.raises(StoreError, match="403"):
            zarr.open_array(store, mode, shape=4, dtype="i4")
        assert not list(store.list())


def test_nothing_is_read_for_an_empty_selection_nor_written():
    store = CountingStore(MemoryStore())
    array = make(store, "gzip")
    store.calls.clear()
    for selection in (slice(0, 0), slice(5, 2), ([], []), np.zeros((6, 6), bool)):
        assert array[selection].size == 0
        array[selection] = 3
    assert not store.calls
