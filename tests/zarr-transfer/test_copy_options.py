"""Common options of copies and conversions: limited memory, and verification."""

import io
import sys
import threading

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import NodeExistsError
from zarr_core.extension import BytesToBytesCodec
from zarr_core.threads import waiting
from zarr_transfer import ElementsDifferError, progress


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


@pytest.mark.parametrize("option", [{"verify": True}, {"max_memory": 1 << 20}], ids=str)
def test_a_copy_of_bytes_has_no_such_options(array, option):
    with pytest.raises(ValueError, match="arrays are decoded"):
        zarr.copy(array, None, **option)


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
