"""Archives in files and in other stores."""

import copy
import gc
import io
import os
import pickle
import random
import struct
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
from failing_store import FaultyStore
from store_contract import get_into
from zarr_core.extension import (
    ByteRange,
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
    ValueReplacedError,
    WrapperStore,
)
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.zip import ZipStore

VALUES = {
    "zarr.json": b"{}",
    "c/0": bytes(range(256)) * 40,
    "c/1": b"",
    "c/2": os.urandom(5000),
    "ä/é": b"name",
    "deflated/c/0": b"repeated " * 3000,
    "pad": os.urandom(100_000),
}


class Server(FaultyStore):
    """A store with latency, where opening reads the first range, and requests are counted."""

    def __init__(self, inner):
        super().__init__(inner, max_concurrency=8)
        self.requested = []

    def open_value(self, key, first=None):
        reader = super().open_value(key, first)
        if reader is None:
            return None
        begin, end = (0, 0) if first is None else first.within(reader.size)
        self.requested.append(end - begin)
        read_into = reader.read_into

        def counted(parts):
            for start, buffer in parts:
                if not begin <= start <= start + len(buffer) <= end:
                    self.requested.append(len(buffer))
            read_into(parts)

        reader.read_into = counted
        return reader


@pytest.fixture
def archive():
    """An archive of stored and deflated entries, from another program."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as writer:
        for key, value in VALUES.items():
            method = zipfile.ZIP_DEFLATED if key.startswith("deflated") else zipfile.ZIP_STORED
            writer.writestr(key, value, method)
        for name in ("../x", "/abs", "a/../../y"):
            writer.writestr(name, b"way out")
        writer.comment = b"a comment"
    return file.getvalue()


@pytest.fixture(params=["path", "file-object", "within", "within-latency"])
def store(request, archive, tmp_path):
    (tmp_path / "a.zip").write_bytes(archive)
    if request.param == "path":
        return ZipStore(tmp_path / "a.zip", "r")
    if request.param == "file-object":
        return ZipStore(io.BytesIO(archive), "r")
    if request.param == "within":
        return ZipStore((LocalStore(tmp_path), "a.zip"))
    return within(Server, archive)


def within(kind, archive):
    return ZipStore((kind(MemoryStore({"x/a.zip": archive})), "x/a.zip"))


@pytest.mark.parametrize("mode", ["w", "a", "x"])
def test_archives_are_written_to_file_objects(mode, tmp_path):
    with open(tmp_path / "a.zip", "w+b") if mode == "a" else io.BytesIO() as file:
        for number in range(3):
            with ZipStore(file, mode) as store:
                store.set(str(number), bytes(1000 - number))
        names = ["0", "1", "2"] if mode == "a" else ["2"]
        assert zipfile.ZipFile(file).namelist() == names
        assert bytes(ZipStore(file, "r").get("2")) == bytes(998)


def test_a_copy_of_a_file_object_belongs_to_the_process_that_made_it():
    file = io.BytesIO()
    store = ZipStore(file, "w")
    store.set("k", b"v")
    store.flush()
    assert zipfile.ZipFile(file).namelist() == ["k"]
    child = os.fork()
    if not child:
        del store
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    store.set("other", b"v")
    store.close()
    assert zipfile.ZipFile(file).namelist() == ["k", "other"]
    pickled = pickle.dumps(ZipStore(file, "r"))
    assert pickle.loads(pickled).get("other") == b"v"


@pytest.mark.parametrize("kind", [io.BytesIO, io.StringIO])
def test_file_objects_that_cannot_be_written(kind):
    file = kind()
    store = ZipStore(file, "w")
    if kind is io.BytesIO:
        file.close()
    with pytest.raises(StoreError, match="cannot be written"):
        store.close()


def test_everything_is_read_everywhere(store):
    assert sorted(store.list()) == sorted(VALUES)
    assert store.read_only
    for key, value in VALUES.items():
        assert bytes(store.get(key)) == value
        assert store.exists(key)
        assert store.getsize(key) == len(value)
        for room in (0, 1, len(value), len(value) + 9):
            buffer = memoryview(bytearray(room))
            assert get_into(store, key, buffer) == len(value)
            if room >= len(value):  # otherwise the contents are undefined
                assert bytes(buffer[: len(value)]) == value
        for first in (
            None,
            ByteRange(0),
            ByteRange(-7),
            ByteRange(100, 50),
            ByteRange(9999, 10**9),
        ):
            with store.open_value(key, first) as reader:
                assert reader.size == len(value)
                for start in (0, len(value) // 3, len(value)):
                    assert bytes(reader.read(start, len(value) - start)) == value[start:]
                with pytest.raises(StoreReadError):
                    reader.read(len(value), 1)
        assert store.generation(key) == store.generation(key)
    assert store.get("none") is None
    assert store.open_value("none") is None
    assert store.generation("none") is None
    rng = random.Random(5)
    asked = [
        (
            rng.choice([*VALUES, "none"]),
            ByteRange(rng.randint(-300, 300), rng.choice([None, 0, 99])),
        )
        for _ in range(100)
    ]
    expected = [
        VALUES[key][slice(*part.within(len(VALUES[key])))] if key in VALUES else None
        for key, part in asked
    ]
    got = store.get_partial_values(asked)
    assert [None if value is None else bytes(value) for value in got] == expected
    assert store.get_partial_values([]) == []


def test_what_is_opened_for_reading_is_not_changed(store):
    for call in (
        lambda: store.set("k", b""),
        lambda: store.erase("zarr.json"),
        lambda: store.update("zarr.json", lambda _: b""),
        lambda: store.erase_prefix(""),
    ):
        with pytest.raises(StoreReadOnlyError):
            call()
    with pytest.raises(StoreKeyError):
        store.get("../x")
    with pytest.raises(StoreKeyError):
        store.get_partial_values([("../x", ByteRange(0))])


def test_threads_do_not_disturb_each_other(store):
    def work(number):
        key = [*VALUES][number % len(VALUES)]
        return bytes(store.get(key)) == VALUES[key]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(200)))


def test_use_after_close(store):
    assert bytes(store.get("c/0")) == VALUES["c/0"]
    store.close()
    store.close()
    assert bytes(store.get("c/0")) == VALUES["c/0"]


# --- the objects ---


def test_which_archives_are_the_same(archive, tmp_path):
    (tmp_path / "a.zip").write_bytes(archive)
    inner = LocalStore(tmp_path)
    one = ZipStore((inner, "a.zip"))
    assert one == ZipStore((LocalStore(tmp_path), "a.zip"))
    assert hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert one != ZipStore((inner, "b.zip"))
    assert one != ZipStore(tmp_path / "a.zip")
    assert one.url == f"zip::{inner.url}/a.zip"
    assert "a.zip" in repr(one)


def test_all_keys_are_erased_together(archive, tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(archive)
    with ZipStore(path) as store:
        with pytest.raises(StoreCapabilityError, match="copy the hierarchy"):
            store.erase_prefix("c/")
        store.erase_prefix("")
        assert list(store.list()) == []
        store.set("k", b"v")
    assert list(ZipStore(path, "r").list()) == ["k"]


def test_invalid_location():
    with pytest.raises(StoreError, match="must be a path"):
        ZipStore(17)
    with pytest.raises(StoreKeyError):
        ZipStore((MemoryStore(), "../a.zip"))
    inside = MemoryStore(), "a.zip"
    for mode in ("w", "x"):
        with pytest.raises(StoreError, match="a.zip.*cannot be written"):
            ZipStore(inside, mode=mode)
    assert ZipStore.from_object(inside, mode="r") == ZipStore(inside)
    with pytest.raises(
        StoreError, match="unknown option: modes; the options are compression, mode"
    ) as info:
        ZipStore.from_object(inside, modes="r")
    assert "a.zip" in str(info.value)
    missing = ZipStore((MemoryStore(), "a.zip"))
    assert missing.get("k") is None
    assert list(missing.list()) == []
    with pytest.raises(StoreError, match=r"zip::.*k.zip.*cannot be opened"):
        ZipStore((MemoryStore({"k.zip": b"no archive"}), "k.zip")).get("k")


def test_errors_name_the_archive_and_the_key(archive):
    broken = archive.replace(VALUES["c/2"], VALUES["c/2"][::-1])
    for kind in (WrapperStore, Server):
        store = within(kind, broken)
        with pytest.raises(StoreReadError, match=r"zip:.*c/2.*checksum"):
            store.get("c/2")
        assert bytes(store.get("c/0")) == VALUES["c/0"]


# --- requests ---


@pytest.fixture
def server(archive):
    return Server(MemoryStore({"a.zip": archive}))


def test_few_requests(server):
    store = ZipStore((server, "a.zip"))
    assert store.max_concurrency == 8
    assert len(list(store.list())) == len(VALUES)
    assert len(server.requested) == 1  # the end of the archive, with its directory
    assert store.max_concurrency == 8
    server.requested.clear()
    for key in ("c/0", "deflated/c/0"):
        store.get(key)
        assert len(server.requested) == 1  # header and data
        server.requested.clear()
    with store.open_value("c/2", ByteRange(-20)) as reader:
        assert bytes(reader.read(4980, 20)) == VALUES["c/2"][-20:]
        # The gap between header and end is small, so it is read too.
        assert (len(server.requested), sum(server.requested) < 6000) == (1, True)
        assert bytes(reader.read(0, 100)) == VALUES["c/2"][:100]
    assert len(server.requested) == 1
    server.requested.clear()
    with store.open_value("c/2") as reader:  # the offset of the data is cached
        assert reader.size == 5000
    assert server.requested == []


def test_a_large_directory_is_one_request_more(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path) as store:
        for number in range(2000):
            store.set(f"c/{number}", b"v")
    server = Server(LocalStore(tmp_path))
    assert len(list(ZipStore((server, "a.zip")).list())) == 2000
    assert len(server.requested) == 2


def test_a_replaced_archive_is_read_again(tmp_path):
    class Replaceable(LocalStore):
        def open_value(self, key, first=None):
            store, version = self, self.generation(key)

            class Reader(WrapperReader):
                def read_into(self, parts):
                    if store.generation(key) != version:
                        raise ValueReplacedError("is another one", store, key)
                    super().read_into(parts)

            reader = super().open_value(key, first)
            made = Reader(reader)
            made.max_concurrency = 2
            return made

    def write(values):
        with zipfile.ZipFile(tmp_path / "new", "w") as archive:
            for key, value in values.items():
                archive.writestr(key, value)
        os.replace(tmp_path / "new", tmp_path / "a.zip")

    write({"k": b"old"})
    store = ZipStore((Replaceable(tmp_path), "a.zip"))
    assert bytes(store.get("k")) == b"old"
    write({"j": b"first", "k": b"new"})
    assert bytes(store.get("k")) == b"new"
    write({"i": b"first", "j": b"", "k": b"newer"})
    assert get_into(store, "k", memoryview(bytearray(9))) == 5
    write({"k": b"newest"})
    assert [bytes(it) for it in store.get_partial_values([("k", ByteRange(3))])] == [b"est"]
    write({"j": b"", "k": b"0123"})
    with store.open_value("k") as reader, pytest.raises(ValueReplacedError):
        reader.read(0, 4)
    write({"j": b"", "k": b"0123" * 500})
    store.get("k")
    with store.open_value("k") as reader:
        assert bytes(reader.read(0, 4)) == b"0123"
        write({})
        with pytest.raises(ValueReplacedError):
            reader.read(1996, 4)
    assert store.get("k") is None


# --- zip64 ---


def test_more_entries_than_16_bits_count(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 99)  # instead of 65,535
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(99):
            archive.writestr(f"{number:x}", b"")
    with ZipStore(path) as store:
        for number in range(99, 200):
            store.set(f"{number:x}", b"")
        store.set("last", b"value")
    assert b"PK\6\6" in path.read_bytes()  # the directory that counts with 64 bits
    with zipfile.ZipFile(path) as archive:
        assert len(archive.infolist()) == 201
    for store in (ZipStore(path, "r"), ZipStore((Server(LocalStore(tmp_path)), "a.zip"))):
        assert sum(1 for _ in store.list()) == 201
        assert bytes(store.get("last")) == b"value"


def test_entries_beyond_4_gib(tmp_path):
    path = tmp_path / "a.zip"
    with open(path, "wb") as file:
        file.truncate(5 << 30)  # a hole, before the archive
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("far", b"far away")
        with archive.open("zip64", "w", force_zip64=True) as entry:
            entry.write(b"unusual fields")
    with ZipStore(path) as store:
        store.set("k", b"added")
        assert bytes(store.get("far")) == b"far away"
    assert path.stat().st_blocks < 1000
    for store in (ZipStore(path, "r"), ZipStore((LocalStore(tmp_path), "a.zip"))):
        assert sorted(store.list()) == ["far", "k", "zip64"]
        assert bytes(store.get("far")) == b"far away"
        assert bytes(store.get("k")) == b"added"
        assert bytes(store.get("zip64")) == b"unusual fields"
        with store.open_value("k", ByteRange(-2)) as reader:
            assert bytes(reader.read(3, 2)) == b"ed"


def test_long_extra_fields_take_one_more_request():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        info = zipfile.ZipInfo("k")
        info.extra = struct.pack("<HH", 0x7A72, 900) + bytes(900)
        archive.writestr(info, bytes(range(256)) * 8)
        archive.writestr("other", bytes(50_000))
    server = Server(MemoryStore({"a.zip": file.getvalue()}))
    for first in (None, ByteRange(-100), ByteRange(0, 50)):
        store = ZipStore((server, "a.zip"))
        with store.open_value("k", first) as reader:
            assert bytes(reader.read(0, 2048)) == bytes(range(256)) * 8
        assert bytes(ZipStore((server, "a.zip")).get("k")) == bytes(range(256)) * 8
