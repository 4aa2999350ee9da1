"""References to parts of the current value, which a local store copies without reading them."""

import os

import pytest
from zarr_core.errors import StoreError, StoreReadError
from zarr_core.extension import BufferByteReader
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore

OLD = bytes(range(256)) * 40


def unsupported(*args):
    raise OSError("not supported")


@pytest.fixture(params=["by the system", "with a buffer", "some bytes at a time"])
def store(request, tmp_path, monkeypatch):
    if request.param == "with a buffer":
        monkeypatch.setattr(os, "copy_file_range", unsupported, raising=False)
        monkeypatch.setattr(local_files, "_COPY_BYTES", 1000)
    elif request.param == "some bytes at a time":
        monkeypatch.setattr(local_files, "_ONE_CALL", 999)
    store = LocalStore(tmp_path)
    store.set("a/b", OLD)
    return store


def test_parts_are_copied_in_the_order_of_the_new_value(store):
    def change(reader):
        parts = [reader.reference(start, 5) for start in range(0, 10_000, 5)]
        return [b"x", reader.reference(5000, 5000), *parts[:3], bytearray(b"y"), *parts[3:], b"z"]

    store.update("a/b", change)
    expected = b"x" + OLD[5000:10_000] + OLD[:15] + b"y" + OLD[15:10_000] + b"z"
    assert bytes(store.get("a/b")) == expected
    assert [*store.list()] == ["a/b"]


def test_the_whole_value_can_be_copied(store):
    store.update("a/b", lambda reader: [reader.reference(0, reader.size)])
    assert bytes(store.get("a/b")) == OLD


def test_parts_beyond_the_end_raise(store):
    for start, length in [(-1, 3), (0, len(OLD) + 1), (5, -1)]:
        with pytest.raises(StoreReadError):
            store.update("a/b", lambda reader, part=(start, length): [reader.reference(*part)])
    assert bytes(store.get("a/b")) == OLD


def test_file_that_becomes_shorter_keeps_its_value(store):
    def change(reader):
        parts = [reader.reference(0, len(OLD))]
        os.truncate(os.path.join(store.path, "a/b"), 5000)
        return parts

    with pytest.raises(StoreError, match="shorter; the old value is kept"):
        store.update("a/b", change)
    assert bytes(store.get("a/b")) == OLD[:5000]
    assert os.listdir(os.path.join(store.path, "a")) == ["b"]


def test_only_the_reader_of_an_update_refers_to_parts(store):
    with store.open_value("a/b") as reader:
        assert reader.reference(0, 5) is None
    assert BufferByteReader(OLD).reference(0, 5) is None

    def change(reader):
        assert WrapperReader(reader).reference(0, 5) is None
        return reader

    store.update("a/b", change)
    memory = MemoryStore()
    memory.set("a", OLD)
    memory.update("a", lambda reader: reader.reference(0, 5) or b"none")
    assert bytes(memory.get("a")) == b"none"
