"""Common options of copies and conversions: limited memory, and verification."""

import io
import sys
import threading

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import FailingStore
from zarr_core.errors import NodeExistsError
from zarr_core.extension import BytesToBytesCodec, StoreError
from zarr_core.threads import waiting
from zarr_transfer import ElementsDifferError, copy_elements, progress, rechunk


class Lossy(BytesToBytesCodec):
    """Sets the last decoded byte to zero."""

    def encode(self, value, decoded_size):
        return value

    def decode(self, value, decoded_size):
        return bytes(value)[:-1] + b"\0"

    def encoded_size(self, size):
        return size


@pytest.fixture
def array():
    return zarr.create_array(data=np.arange(1, 101, dtype="u1").reshape(10, 10), chunks=(10, 1))


@pytest.mark.parametrize("function", [zarr.copy, zarr.convert], ids=["copy", "convert"])
def test_verifying_notices_what_a_codec_loses(array, function):
    dest = zarr.MemoryStore()
    with (
        zarr.override_extensions({"codec": {"tests.lossy": Lossy}}),
        pytest.raises(ElementsDifferError, match="differ when they are read back"),
    ):
        function(array, dest, chunks=(1, 10), compressors="tests.lossy", verify=True)
    assert not dest.exists("zarr.json")  # visible nodes are complete


@pytest.mark.parametrize("values", [np.arange(1, 7.0), np.array(["ab", "", "ü"], "T")], ids=str)
def test_a_copy_that_is_verified_is_the_same(values):
    copy = zarr.copy(zarr.create_array(data=values, chunks=3), None, chunks=2, verify=True)
    assert np.array_equal(copy, values)


def test_too_little_memory_is_rejected_before_anything_is_written(array):
    dest = zarr.MemoryStore()
    with pytest.raises(ValueError, match="needs at least"):
        zarr.copy(array, dest, chunks=(10, 10), max_memory=100)
    assert not list(dest.list())
    copy = zarr.copy(array, dest, chunks=(10, 10), max_memory=1 << 24)
    assert np.array_equal(copy, array)


@pytest.mark.parametrize("option", [{"verify": True}, {"max_memory": 1 << 20}], ids=str)
def test_a_copy_of_bytes_has_no_such_options(array, option):
    with pytest.raises(ValueError, match="arrays are decoded"):
        zarr.copy(array, None, **option)


@pytest.mark.parametrize("function", [zarr.copy, zarr.convert], ids=["copy", "convert"])
def test_unmanaged_keys_are_not_overwritten(array, function):
    dest = zarr.MemoryStore({"notes.txt": b"mine"})
    with pytest.raises(NodeExistsError, match=r"'notes\.txt', which is not part of a node"):
        function(array, dest, chunks=(1, 5))
    assert sorted(dest.list()) == ["notes.txt"]


@pytest.mark.parametrize("function", [zarr.copy, zarr.convert], ids=["copy", "convert"])
def test_stored_chunks_are_not_copied_again(function, monkeypatch):
    monkeypatch.setattr(copy_elements, "BUFFER", 10)  # a row
    monkeypatch.setattr(rechunk, "_OVERHEAD", 0)
    values = np.arange(1, 201, dtype="u1").reshape(20, 10)
    array = zarr.create_array(data=values, chunks=(1, 10))
    dest = zarr.MemoryStore()
    broken = FailingStore(dest, 30, "before", forever=True)
    with pytest.raises(StoreError):
        function(array, broken, chunks=(1, 5))
    stored = {key for key in dest.list() if key.startswith("c/")}
    assert len(stored) > 2
    assert dest.exists(".copying")
    again = CountingStore(dest)
    function(array, again, chunks=(1, 5))
    written = {call.key for call in again.calls if call.method.startswith("set")}
    assert len(written & stored) <= 1  # of the region at which it was interrupted
    assert np.array_equal(zarr.open(dest), array)
    assert not [key for key in dest.list() if "copying" in key]


def test_arrays_with_missing_chunks_are_replaced(array):
    source = zarr.create_group()
    for name in ("whole", "part"):
        source.create_array(name, data=np.arange(1, 5), chunks=2)
    dest = zarr.copy(source, None)
    dest["whole"][...] = 7
    dest.store.erase("part/c/1")
    zarr.copy_all(source, dest, if_exists="skip_initialized")
    assert dest["whole"][...].tolist() == [7, 7, 7, 7]
    assert dest["part"][...].tolist() == [1, 2, 3, 4]
    with pytest.raises(NodeExistsError, match="overlap"):
        zarr.copy(source["part"], source, "part", if_exists="skip_initialized")


def test_progress_on_a_terminal_names_the_server_that_is_waited_for(array, monkeypatch):
    written = threading.Event()

    class Terminal(io.StringIO):
        def isatty(self):
            return True

        def write(self, text):
            if "waiting for a silent server" in text:
                written.set()
            return super().write(text)

    class Silent(zarr.MemoryStore):
        def set(self, key, value):
            with waiting("a silent server"):
                assert written.wait(60)
            super().set(key, value)

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(progress, "_LONG_SECONDS", 0.02)
    zarr.copy(array, Silent(), chunks=(5, 5), progress=True)
    assert written.is_set()
