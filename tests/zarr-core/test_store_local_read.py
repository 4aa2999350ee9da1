"""Reading values of a local store, with any kind of file at the key; references to their parts."""

import errno
import os
import socket

import pytest
from store_contract import get_into
from zarr_core.errors import StoreError, StoreReadError
from zarr_core.extension import BufferByteReader
from zarr_core.interfaces.byte_reader import WrapperReader
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "store.zarr")


def room(size=16):
    return memoryview(bytearray(size))


@pytest.fixture
def odd(store):
    """A store with all kinds of files that are not values."""
    store.set("good", b"v")
    os.mkdir(os.path.join(store.path, "directory"))
    os.mkfifo(os.path.join(store.path, "fifo"))
    os.symlink("/dev/zero", os.path.join(store.path, "zero"))
    os.symlink("nowhere", os.path.join(store.path, "dangling"))
    os.symlink("circle", os.path.join(store.path, "circle"))
    os.symlink("/etc/passwd", os.path.join(store.path, "outside"))
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(store.path)  # paths of sockets must be short
    listener.bind("socket")
    os.chdir(here)
    listener.close()
    if os.geteuid() == 0:
        os.mknod(os.path.join(store.path, "device"), 0o20644, os.makedev(1, 5))
    return store


ODD = ("directory", "fifo", "zero", "dangling", "circle", "outside", "socket", "device")


@pytest.mark.parametrize("key", ODD)
def test_non_value_is_neither_read_nor_missing(odd, key):
    if not os.path.lexists(os.path.join(odd.path, key)):
        pytest.skip("only root can make a device")
    for call in (
        odd.get,
        odd.open_value,
        lambda key: get_into(odd, key, room()),
        lambda key: get_into(odd, key, room(0)),
        lambda key: odd.update(key, lambda reader: b"new"),
    ):
        with pytest.raises(StoreReadError, match=key):
            call(key)
    if key == "directory":
        assert not odd.exists(key)
    else:
        with pytest.raises(StoreReadError, match=key):
            odd.getsize(key)
    assert odd.get("good") == b"v"


@pytest.mark.parametrize("key", ODD[1:])
def test_non_value_is_replaced_and_erased(odd, key):
    before = os.stat("/etc/passwd")
    odd.set(key, b"new")
    assert odd.get(key) == b"new"
    odd.erase(key)
    assert odd.get(key) is None
    assert os.stat("/etc/passwd") == before


def test_a_directory_is_not_replaced_or_erased_by_a_value(odd):
    for call in (lambda: odd.set("directory", b""), lambda: odd.erase("directory")):
        with pytest.raises(StoreError, match="is a directory"):
            call()
    odd.erase_prefix("directory/")
    odd.set("directory", b"now")
    assert odd.get("directory") == b"now"


def test_a_fifo_with_a_writer_is_not_read_either(store):
    os.makedirs(store.path)
    path = os.path.join(store.path, "fifo")
    os.mkfifo(path)
    holder = os.open(path, os.O_RDWR)
    os.write(holder, b"0123456789abcdef")
    with pytest.raises(StoreReadError, match="not a regular file"):
        get_into(store, "fifo", room())
    os.close(holder)


def test_a_value_too_large_for_memory(store):
    store.set("a/k", b"v")
    os.truncate(os.path.join(store.path, "a/k"), 1 << 43)
    with pytest.raises(StoreReadError, match=r"a/k.*not enough memory"):
        store.get("a/k")
    assert get_into(store, "a/k", room()) == 1 << 43
    assert store.getsize("a/k") == 1 << 43


def test_other_failures_are_not_missing_values(store, monkeypatch):
    # Permissions do not restrict root, so the call is replaced by one that fails.
    monkeypatch.setattr(local_files, "openat2", None)
    store.set("a/k", b"v")

    def refuse(*arguments, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    for name, calls in {
        "open": [store.get, store.open_value, lambda key: get_into(store, key, room())],
        "preadv": [lambda key: get_into(store, key, room())],
        "pread": [store.get],
        "lstat": [store.exists],
        "scandir": [lambda key: list(store.list_prefix("a/")), lambda key: store.list_dir("a/")],
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            for call in calls:
                with pytest.raises(StoreReadError, match=r"a/.*Permission denied") as caught:
                    call("a/k")
                assert isinstance(caught.value.__cause__, PermissionError)
    for name, call in {
        "replace": lambda: store.set("a/k", b"new"),
        "unlink": lambda: store.erase("a/k"),
        "rmdir": lambda: store.erase_prefix("a/"),
        "open": lambda: store.update("a/k", lambda reader: b"new"),
    }.items():
        with monkeypatch.context() as patch:
            patch.setattr(os, name, refuse)
            with pytest.raises(StoreError, match=r"a/.*Permission denied"):
                call()


def test_short_reads_are_continued(store, monkeypatch):
    value = bytes(range(200))
    store.set("k", value)
    preadv, pread = os.preadv, os.pread
    monkeypatch.setattr(os, "preadv", lambda fd, bufs, at: preadv(fd, [bufs[0][:7]], at))
    monkeypatch.setattr(os, "pread", lambda fd, size, at: pread(fd, min(size, 7), at))
    buffer = room(300)
    assert get_into(store, "k", buffer) == 200
    assert bytes(buffer[:200]) == value
    assert bytes(store.get("k")) == value
    with store.open_value("k") as reader:
        assert bytes(reader.read(10, 100)) == value[10:110]
        part = room(50)
        reader.read_into([(20, part)])
        assert bytes(part) == value[20:70]


def test_short_writes_are_continued(store, monkeypatch):
    writev = os.writev

    def short(descriptor, pieces):
        piece = next((piece for piece in pieces if len(piece)), b"")
        return writev(descriptor, [memoryview(piece)[:3]])

    monkeypatch.setattr(os, "writev", short)
    pieces = [b"0123456789", b"", b"ab", bytes(range(100))]
    store.set("k", pieces)
    store.set("l", [b"x"] * 3000)
    assert bytes(store.get("k")) == b"".join(pieces)
    assert bytes(store.get("l")) == b"x" * 3000


def test_a_reader_says_that_it_is_closed(store):
    store.set("k", b"v")
    reader = store.open_value("k")
    reader.close()
    reader.close()
    with pytest.raises(StoreReadError, match="closed"):
        reader.read(0, 1)
    with pytest.raises(StoreReadError, match="closed"):
        reader.read_into([(0, room(1))])


def test_descriptors_are_not_leaked(odd):
    before, kept = len(os.listdir("/proc/self/fd")), []
    for key in (*ODD, "good", "none", "..", "directory/x"):
        for call in (
            odd.get,
            odd.open_value,
            odd.getsize,
            lambda key: get_into(odd, key, room()),
            lambda key: odd.set(key + "/x", [b"", "no buffer"]),
            lambda key: odd.update(key, lambda reader: 1 / 0),
        ):
            try:
                call(key)
            except StoreError as error:
                kept.append(error)
            except (TypeError, ZeroDivisionError):
                continue
    assert len(os.listdir("/proc/self/fd")) == before


# --- references to parts of the current value, which are copied without reading them ---


OLD = bytes(range(256)) * 40


def unsupported(*args):
    raise OSError("not supported")


@pytest.fixture(params=["by the system", "with a buffer", "some bytes at a time"])
def old(request, tmp_path, monkeypatch):
    if request.param == "with a buffer":
        monkeypatch.setattr(os, "copy_file_range", unsupported, raising=False)
        monkeypatch.setattr(local_files, "_COPY_BYTES", 1000)
    elif request.param == "some bytes at a time":
        monkeypatch.setattr(local_files, "_ONE_CALL", 999)
    store = LocalStore(tmp_path)
    store.set("a/b", OLD)
    return store


def test_parts_are_copied_in_the_order_of_the_new_value(old):
    def change(reader):
        parts = [reader.reference(start, 5) for start in range(0, 10_000, 5)]
        return [b"x", reader.reference(5000, 5000), *parts[:3], bytearray(b"y"), *parts[3:], b"z"]

    old.update("a/b", change)
    expected = b"x" + OLD[5000:10_000] + OLD[:15] + b"y" + OLD[15:10_000] + b"z"
    assert bytes(old.get("a/b")) == expected
    assert [*old.list()] == ["a/b"]


def test_the_whole_value_can_be_copied(old):
    old.update("a/b", lambda reader: [reader.reference(0, reader.size)])
    assert bytes(old.get("a/b")) == OLD


def test_parts_beyond_the_end_raise(old):
    for start, length in [(-1, 3), (0, len(OLD) + 1), (5, -1)]:
        with pytest.raises(StoreReadError):
            old.update("a/b", lambda reader, part=(start, length): [reader.reference(*part)])
    assert bytes(old.get("a/b")) == OLD


def test_file_that_becomes_shorter_keeps_its_value(old):
    def change(reader):
        parts = [reader.reference(0, len(OLD))]
        os.truncate(os.path.join(old.path, "a/b"), 5000)
        return parts

    with pytest.raises(StoreError, match="shorter; the old value is kept"):
        old.update("a/b", change)
    assert bytes(old.get("a/b")) == OLD[:5000]
    assert os.listdir(os.path.join(old.path, "a")) == ["b"]


def test_only_the_reader_of_an_update_refers_to_parts(old):
    with old.open_value("a/b") as reader:
        assert reader.reference(0, 5) is None
    assert BufferByteReader(OLD).reference(0, 5) is None

    def change(reader):
        assert WrapperReader(reader).reference(0, 5) is None
        return reader

    old.update("a/b", change)
    memory = MemoryStore()
    memory.set("a", OLD)
    memory.update("a", lambda reader: reader.reference(0, 5) or b"none")
    assert bytes(memory.get("a")) == b"none"
