import pickle
import shutil
import struct
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
import zarr_core as zarr
from store_contract import StoreContract, get_into
from zarr_core.errors import NodeExistsError
from zarr_core.extension import StoreError, StoreReadError
from zarr_stores.zip import ZipStore
from zarr_stores.zip import writer as zip_writer

METHODS = [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]


class TestZipStore(StoreContract):
    can_erase = False
    pickles = False

    def make(self, tmp_path):
        return ZipStore(tmp_path / "store.zip")

    def again(self, store, *, read_only):
        return ZipStore(store.path, read_only=read_only)


class TestDeflated(TestZipStore):
    def make(self, tmp_path):
        return ZipStore(tmp_path / "store.zip", compression=zipfile.ZIP_DEFLATED)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a b%41.zip"


@pytest.mark.parametrize("method", METHODS)
def test_archives_of_other_programs_are_read(path, method):
    value = bytes(1000) + b"x"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.mkdir("c")
        with archive.open("c/0", "w", force_zip64=True) as entry:
            entry.write(value)
        archive.writestr("zarr.json", b"{}")
    with ZipStore(path, mode="r") as store:
        assert store.list_dir("") == (["zarr.json"], ["c/"])
        assert bytes(store.get("c/0")) == value
        assert store.getsize("c/0") == 1001
        with store.open_value("c/0") as reader:
            assert bytes(reader.read(999, 2)) == b"\0x"


def test_other_programs_read_an_archive_after_flush(path):
    store = ZipStore(path)
    store.flush()
    assert not path.exists()
    for number in range(4):
        store.set("zarr.json", b"{}" * number)
        store.set(f"c/{number}", [bytes(number), b""])
        store.flush()
        store.flush()
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            assert archive.read("zarr.json") == b"{}" * number
            assert len(archive.namelist()) == number + 2
        assert bytes(ZipStore(path, "r").get(f"c/{number}")) == bytes(number)
        assert bytes(store.get("c/0")) == b""
    store.set("c/0", b"last")
    store.close()
    store.flush()
    with zipfile.ZipFile(path) as archive:
        assert archive.read("c/0") == b"last"
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    store.set("again", b"after close")
    store.close()
    assert sorted(ZipStore(path, "r").list()) == [
        "again",
        *(f"c/{n}" for n in range(4)),
        "zarr.json",
    ]


def test_adding_to_an_archive_keeps_what_is_in_it(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"kept"
        archive.writestr("a", b"1" * 3000)
    with ZipStore(path) as store:
        store.set("b", b"2")
        assert bytes(store.get("a")) == b"1" * 3000
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a", "b"]
        assert archive.comment == b"kept"


def test_of_entries_with_one_name_the_last_counts(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("k", b"old")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("k", b"newer")
    with ZipStore(path) as store:
        assert bytes(store.get("k")) == b"newer"
        store.set("k", b"newest")
        store.set("k", b"last")
        assert list(store.list()) == ["k"]
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["k"]  # each name once, because readers differ for duplicates
        assert archive.read("k") == b"last"


def test_opening_creates_nothing(path):
    for store in (ZipStore(path), ZipStore(path, mode="r"), ZipStore.from_url(str(path))):
        assert store.get("zarr.json") is None
        assert list(store.list()) == []
        store.erase("x") if not store.read_only else None
        store.close()
    assert not path.exists()


def test_modes(path):
    ZipStore(path, mode="x").close()
    with zipfile.ZipFile(path) as archive:  # an empty archive
        assert archive.namelist() == []
    with pytest.raises(StoreError, match="exists"):
        ZipStore(path, mode="x")
    with ZipStore(path) as store:
        store.set("k", b"v")
    path.with_suffix(".link.zip").symlink_to(path)
    with ZipStore(path.with_suffix(".link.zip"), mode="w") as store:
        assert list(store.list()) == []
    assert zipfile.is_zipfile(path)
    with pytest.raises(StoreError, match="mode must be"):
        ZipStore(path, mode="rb")
    with pytest.raises(StoreError, match="compression"):
        ZipStore(path, compression=99)


def test_urls(path):
    store = ZipStore(path)
    assert store.url == f"zip://{str(path).replace(' ', '%20').replace('%41', '%2541')}"
    assert ZipStore.from_url(store.url) == store
    assert ZipStore.from_url(str(path), mode="r").read_only


def test_an_empty_file_becomes_an_archive(path):
    path.touch()
    with ZipStore(path) as store:
        assert list(store.list()) == []
        store.set("k", b"v")
    assert zipfile.is_zipfile(path)


def test_a_directory_is_not_an_archive(tmp_path):
    with pytest.raises(StoreError, match="a directory"):
        ZipStore(tmp_path, mode="r").get("k")
    with pytest.raises(StoreError):
        ZipStore(tmp_path).set("k", b"")
    (tmp_path / "loop.zip").symlink_to("loop.zip")
    with pytest.raises(StoreError, match="cannot be opened"):
        ZipStore(tmp_path / "loop.zip").get("k")


def test_a_forgotten_store_is_finished(path):
    code = f"from zarr_stores.zip import ZipStore\ns = ZipStore({str(path)!r})\ns.set('k', b'v')"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert bytes(ZipStore(path, mode="r").get("k")) == b"v"
    store = ZipStore(path)
    store.set("l", b"w")
    del store
    assert sorted(ZipStore(path, mode="r").list()) == ["k", "l"]


def test_one_writer_at_a_time(path):
    with ZipStore(path) as one, ZipStore(path) as two:
        one.set("k", b"v")
        with pytest.raises(StoreError, match="is writing the archive"):
            two.set("l", b"w")
        one.close()
        two.set("l", b"w")
        two.close()
        assert sorted(one.list()) == ["k", "l"]


FORK = """
import gc, os, sys
from zarr_core.extension import StoreError
from zarr_stores.zip import ZipStore
store = ZipStore(sys.argv[1])
store.set("a", b"1")
child = os.fork()
if not child:
    code = 0 if bytes(store.get("a")) == b"1" else 1
    try:
        store.set("b", b"2")
        code = 2
    except StoreError:
        pass
    store.close()
    del store
    gc.collect()
    sys.exit(code)
assert os.waitpid(child, 0)[1] == 0
store.set("c", b"3")
store.close()
"""


def test_a_forked_child_reads_and_leaves_the_file_alone(path):
    done = subprocess.run([sys.executable, "-c", FORK, path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(ZipStore(path, mode="r").list()) == ["a", "c"]


def test_pickle_keeps_read_only(path):
    with ZipStore(path) as store:
        store.set("k", b"v")
    other = pickle.loads(pickle.dumps(ZipStore(path, read_only=True)))
    assert other.read_only
    assert bytes(other.get("k")) == b"v"


# --- damaged or malicious archives ---


def test_every_cut_of_an_archive_is_noticed(path):
    with ZipStore(path) as store:
        store.set("a", b"1" * 50)
        store.set("b", b"2" * 50)
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(StoreError, match="zip -FF"):
            ZipStore(path, mode="r").get("a")
        if length:
            with pytest.raises(StoreError, match="zip -FF"):
                ZipStore(path).set("c", b"3")
        assert path.read_bytes() == whole[:length]


@pytest.mark.parametrize("method", METHODS)
def test_every_flipped_byte_is_harmless_or_noticed(path, method):
    value = bytes(range(64)) * 2
    with ZipStore(path, compression=method) as store:
        store.set("k", value)
    whole = path.read_bytes()
    noticed = 0
    for place in range(len(whole)):
        broken = bytearray(whole)
        broken[place] ^= 0x55
        path.write_bytes(broken)
        try:
            got = ZipStore(path, mode="r").get("k")
        except StoreError:
            noticed += 1
        else:
            assert got is None or bytes(got) == value
    assert noticed > len(value) if method == zipfile.ZIP_STORED else noticed > 40


DIRECTORY = b"PK\1\2"  # before the entry of the central directory


@pytest.mark.parametrize(
    ("method", "before", "offset", "form", "claim", "error"),
    [
        (zipfile.ZIP_DEFLATED, DIRECTORY, 24, "<I", 0xF0000000, "cannot decompress to"),
        (zipfile.ZIP_DEFLATED, DIRECTORY, 24, "<I", (1 << 20) + 9, "ends before byte 1048585"),
        (zipfile.ZIP_STORED, DIRECTORY, 10, "<H", 93, "method 93"),
        (zipfile.ZIP_STORED, DIRECTORY, 8, "<H", 1, "is encrypted"),
        (zipfile.ZIP_STORED, DIRECTORY, 24, "<I", 1 << 23, "with two sizes"),
        (zipfile.ZIP_LZMA, DIRECTORY, 8, "<H", 0, "method 14"),
    ],
    ids=["size", "small size", "method", "encrypted", "stored size", "lzma"],
)
def test_false_claims_of_an_archive_take_no_memory(
    path, method, before, offset, form, claim, error
):
    value = bytes(1 << 20)
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a/k", value)
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, data.index(before) + offset, claim)
    path.write_bytes(data)
    store = ZipStore(path, mode="r")
    tracemalloc.start()
    try:
        with pytest.raises(StoreReadError, match=rf"a/k.*{error}"):
            store.get("a/k")
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


def test_a_longer_entry_is_not_decompressed(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("k", bytes(1 << 24))
    assert get_into(ZipStore(path, mode="r"), "k", memoryview(bytearray(16))) == 1 << 24


def test_parts_of_large_compressed_entries_take_little_memory(path):
    value = bytes(1 << 26) + b"end"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("k", value, zipfile.ZIP_DEFLATED)
    reader = ZipStore(path, mode="r").open_value("k")
    tracemalloc.start()
    try:
        assert bytes(reader.read(len(value) - 3, 2)) == b"en"
        buffers = [memoryview(bytearray(2)) for _ in range(2)]
        reader.read_into([(len(value) - 2, buffers[0]), (0, buffers[1])])
        assert tracemalloc.get_traced_memory()[1] < 1 << 26
    finally:
        tracemalloc.stop()
    assert [bytes(buffer) for buffer in buffers] == [b"nd", bytes(2)]
    assert bytes(reader.read(0, len(value))) == value


# --- failures while writing ---


LIMITED = """
import resource, sys
from zarr_core.extension import StoreError
from zarr_stores.zip import ZipStore
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
store = ZipStore(sys.argv[1])
store.set("k", b"old")
try:
    store.set("k", bytes(50000))
    sys.exit("no error")
except StoreError as error:
    assert "'k'" in str(error) and "too large" in str(error), error
assert bytes(store.get("k")) == b"old"
store.set("l", b"after")
store.close()
"""


def test_a_full_disk_keeps_the_old_values(path):
    subprocess.run([sys.executable, "-c", LIMITED, path], check=True)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "k": b"old",
            "l": b"after",
        }


FLUSHED = """
import resource, sys, zipfile
from zarr_core.extension import StoreError
from zarr_stores.zip import ZipStore
most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
store = ZipStore(sys.argv[1])
for number in range(100):
    store.set(f"k{number}", bytes(100))
store.set("inner", open(sys.argv[3], "rb").read())
resource.setrlimit(resource.RLIMIT_FSIZE, (15000, most))
try:
    store.flush()
    sys.exit("no error")
except StoreError as error:
    assert "central directory" in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
if sys.argv[2] == "add":
    store.set("added", b"v")
store.close()
"""


@pytest.mark.parametrize("then", ["add", "close"])
def test_a_directory_that_cannot_be_written_is_written_later(path, tmp_path, then):
    inner = tmp_path / "inner.zip"
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("k1", b"wrong")
    subprocess.run([sys.executable, "-c", FLUSHED, path, then, inner], check=True)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("k1") == bytes(100)
        assert len(archive.namelist()) == 101 + (then == "add")


def test_a_value_that_fails_half_way_is_rolled_back(path):
    with ZipStore(path) as store:
        store.set("k", b"old")
        with pytest.raises(TypeError):
            store.set("k", [b"new", "no buffer"])
        with pytest.raises(TypeError):
            store.set("l", [b"new", "no buffer"])
        store.set("m", b"after")
        assert bytes(store.get("k")) == b"old"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["k", "m"]


KILLED = """
import os, signal, sys
from zarr_stores.zip import ZipStore
store = ZipStore(sys.argv[1])
for number in range(20):
    store.set(f"c/{number}", bytes([number]) * 5000)
os.write(store._writer._stream.fileno(), b"PK" + bytes(100))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_an_archive_of_a_killed_writer_is_an_error_and_can_be_recovered(path, tmp_path):
    with ZipStore(path) as store:
        store.set("first", b"1")
    assert subprocess.run([sys.executable, "-c", KILLED, path]).returncode == -9
    with pytest.raises(StoreError, match=r"zip -FF FILE --out NEW_FILE"):
        ZipStore(path).get("c/0")
    if not shutil.which("zip"):
        pytest.skip("zip is not installed")
    command = ["zip", "-FF", path, "--out", tmp_path / "new.zip"]
    subprocess.run(command, check=True, input=b"y\n", stdout=subprocess.DEVNULL)
    store = ZipStore(tmp_path / "new.zip", mode="r")
    assert all(bytes(store.get(f"c/{n}")) == bytes([n]) * 5000 for n in range(20))
    assert bytes(store.get("first")) == b"1"


def test_readers_of_a_replaced_archive_continue(path):
    with ZipStore(path) as store:
        store.set("k", b"old" * 100)
    path.chmod(0o666)  # more permissions than the usual umask
    old = ZipStore(path, mode="r")
    with old.open_value("k") as reader:
        with ZipStore(path, mode="w") as store:
            store.set("k", b"new" * 100)
        assert bytes(reader.read(3, 6)) == b"oldold"
    assert bytes(old.get("k")) == b"old" * 100
    assert bytes(ZipStore(path, mode="r").get("k")) == b"new" * 100
    assert path.stat().st_mode & 0o777 == 0o666
    assert [it.name for it in path.parent.iterdir()] == [path.name]


# --- other writers ---


def test_a_store_that_was_opened_earlier_keeps_what_others_wrote(path):
    with ZipStore(path) as store:
        zarr.create_array(store, data=np.zeros((4, 6), "f4"), chunks=(4, 3), shards=(4, 6))
    arrays = [zarr.open_array(path, "r+") for _ in range(3)]
    for row, array in enumerate(arrays):
        assert not array[...].any()
        array.attrs["last"] = row
        array[row, 1:5] = row + 1
        array.attrs[f"row {row}"] = True
        array.store.close()
    found = zarr.open_array(path, "r")
    assert found[:, 2].tolist() == [1, 2, 3, 0]
    assert found.attrs == {"last": 2, "row 0": True, "row 1": True, "row 2": True}


def test_a_node_is_created_by_one_store(path):
    with ZipStore(path) as store:
        zarr.create_group(store)
    groups = [zarr.open_group(path, "r+") for _ in range(2)]
    assert [list(group) for group in groups] == [[], []]
    groups[0].create_group("g", attributes={"by": 0})
    groups[0].store.close()
    with pytest.raises(NodeExistsError):
        groups[1].create_group("g", attributes={"by": 1})
    groups[0].create_group("h")  # the failed call does not keep the archive locked
    groups[0].store.close()
    assert zarr.open_group(path, "r")["g"].attrs["by"] == 0


def test_a_chunk_that_another_store_wrote_is_not_ignored_when_it_is_cleared(path):
    with ZipStore(path) as store:
        zarr.create_array(store, shape=4, dtype="i2", chunks=4)
    earlier = zarr.open_array(path, "r+")
    assert not earlier[...].any()
    with ZipStore(path) as store:
        zarr.open_array(store)[...] = 7
    earlier[...] = 0
    earlier.store.close()
    assert not zarr.open_array(path, "r")[...].any()


def test_an_update_that_changes_nothing_leaves_the_archive_alone(path, tmp_path):
    with ZipStore(path) as store:
        store.set("k", b"v")
    before = path.read_bytes()
    store.update("k", lambda reader: reader)
    store.update("none", lambda reader: None)
    store.erase("none")
    assert path.read_bytes() == before
    ZipStore(path).set("other", b"v")  # is not locked
    new = ZipStore(tmp_path / "new.zip")
    new.update("none", lambda reader: None)
    new.erase("none")
    assert not (tmp_path / "new.zip").exists()


def test_a_writer_locks_the_file_that_is_at_the_path(path, tmp_path, monkeypatch):
    with ZipStore(path) as store:
        store.set("k", b"old")
    with ZipStore(tmp_path / "other.zip") as store:
        store.set("k", b"new")
    lock = zip_writer.flock

    def replace_then_lock(*arguments):
        monkeypatch.setattr(zip_writer, "flock", lock)
        (tmp_path / "other.zip").replace(path)  # after the file was opened
        lock(*arguments)

    monkeypatch.setattr(zip_writer, "flock", replace_then_lock)
    with ZipStore(path) as store:
        store.set("n", b"v")
    assert {key: bytes(ZipStore(path).get(key)) for key in ZipStore(path).list()} == {
        "k": b"new",
        "n": b"v",
    }
