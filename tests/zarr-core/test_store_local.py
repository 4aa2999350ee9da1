"""The local store: the contract of stores, its directory, names, and files of killed processes."""

import errno
import os
import tempfile
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import zarr_core as zarr
from store_contract import StoreContract
from zarr_core.errors import StoreError, StoreKeyError
from zarr_core.stores import local_files
from zarr_core.stores.local import LocalStore


class TestLocalStore(StoreContract):
    name = "file"
    key_may_be_prefix = False

    def make(self, tmp_path):
        return LocalStore(tmp_path / "store.zarr")

    def again(self, store, *, read_only):
        return LocalStore(store.path, read_only=read_only)


class TestSynced(TestLocalStore):
    """The same with synchronization to the disk."""

    test_deep_keys = None  # thousands of directories, each synchronized to the disk

    def make(self, tmp_path):
        return LocalStore(tmp_path / "deep" / "store.zarr", fsync=True)


@pytest.fixture
def store(tmp_path):
    return LocalStore(tmp_path / "store.zarr")


def files(store):
    """All files in the directory, including those that are not keys."""
    return sorted(
        os.path.relpath(os.path.join(place, name), store.path)
        for place, _, names in os.walk(store.path)
        for name in names
    )


# --- the directory ---


def test_nothing_is_created_before_something_is_written(store):
    assert store.get("zarr.json") is None
    assert list(store.list()) == []
    assert store.list_dir("a/") == ([], [])
    store.erase("k")
    store.erase_prefix("")
    store.update("a/b", lambda reader: None)
    assert not os.path.exists(store.path) or os.listdir(store.path) == []
    LocalStore(os.path.join(store.path, "other"), read_only=True).get("zarr.json")
    assert not os.path.exists(os.path.join(store.path, "other"))


def test_a_file_is_not_a_store(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="not a directory"):
        LocalStore(tmp_path / "file")
    with pytest.raises(StoreError, match="a file stands where a directory is needed"):
        LocalStore(tmp_path / "file" / "below").set("k", b"")


@pytest.mark.parametrize("path", ["", "a\0b", b"bytes"])
def test_paths_that_are_none(path):
    with pytest.raises(StoreError, match="not the path"):
        LocalStore(path)


def test_a_relative_path_survives_a_change_of_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = LocalStore("data.zarr")
    store.set("k", b"v")
    monkeypatch.chdir("/")
    assert store.get("k") == b"v"
    assert store == LocalStore(tmp_path / "data.zarr")


def test_a_new_directory_is_forced_to_the_disk_with_its_value(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda fd: (synced.append(os.readlink(f"/proc/self/fd/{fd}")), fsync(fd))
    )
    store = LocalStore(tmp_path / "s", fsync=True)
    store.set("a/b/k", b"v")
    [value] = [path for path in synced if ".zarr-partial" in path]
    top = str(tmp_path)
    assert sorted({*synced} - {value}) == [top, f"{top}/s", f"{top}/s/a", f"{top}/s/a/b"]
    assert synced.index(value) < synced.index(f"{top}/s/a/b", synced.index(value))
    synced.clear()
    LocalStore(store.path).set("a/b/k", b"w")
    assert synced == []


def test_urls(tmp_path):
    store = LocalStore(tmp_path / "a b%41?#\u00e9")
    assert store.url.startswith("file:///")
    assert " " not in store.url
    for url in (store.url, store.url.replace("file://", "file://localhost"), store.path):
        assert LocalStore.from_url(url) == store
    assert LocalStore.from_url(store.url.replace("file:///", "FILE:/")) == store
    assert LocalStore.from_url("file:///a?b#c").path == "/a?b#c"
    made = LocalStore.from_url(store.url, read_only=True, fsync=True, follow_links=True)
    assert made.read_only
    for url in ("file://host/x", "file://relative.zarr", "file:x", "file://"):
        with pytest.raises(StoreError, match="absolute path"):
            LocalStore.from_url(url)
    with pytest.raises(StoreError, match="no options anon"):
        LocalStore.from_url(store.url, anon=True)


def test_equal_if_the_same_directory(tmp_path):
    os.mkdir(tmp_path / "real")
    os.symlink(tmp_path / "real", tmp_path / "link")
    one, two = LocalStore(tmp_path / "real"), LocalStore(tmp_path / "link" / "")
    assert one == two
    assert hash(one) == hash(two)
    two.set("a/k", b"v")
    assert one.get("a/k") == b"v"
    assert list(two.list()) == ["a/k"]


# --- names ---


@pytest.mark.parametrize("key", [".x.zarr-lock", ".zarr-partial", "a/.b.1-2.zarr-partial/c"])
def test_names_of_the_store_itself_are_rejected(store, key):
    for call in (
        lambda: store.set(key, b""),
        lambda: store.update(key, lambda reader: b""),
        lambda: store.erase(key),
    ):
        with pytest.raises(StoreKeyError, match="belong to the store"):
            call()
    assert files(store) == []


def test_names_that_only_look_like_the_stores_own(store):
    for key in ("x.zarr-lock", "x.zarr-partial", ".zarr-partial.x", ".zarr-locks"):
        store.set(key, b"v")
        assert store.get(key) == b"v"
    assert len(list(store.list())) == 4


@pytest.mark.parametrize("name", ["n" * 255, "\u00e9" * 127, "\U0001f40d" * 63])
def test_the_longest_names_have_room_for_a_lock(store, name):
    store.update(f"a/{name}", lambda reader: b"v")
    assert store.get(f"a/{name}") == b"v"
    assert files(store) == [f"a/{name}"]


def test_files_that_cannot_be_keys_are_not_listed(store):
    store.set("a/k", b"")
    for name in ("back\\slash", ".k.77-1.zarr-partial", ".k.zarr-lock"):
        with open(os.path.join(store.path, "a", name), "wb"):
            pass
    os.mkdir(os.path.join(store.path, "back\\slash"))
    assert list(store.list()) == ["a/k"]
    assert store.list_dir("a/") == (["a/k"], [])
    assert store.list_dir("") == ([], ["a/"])


# --- writing ---


def test_nothing_is_left_next_to_the_values(store):
    store.set("a/k", b"v")
    store.update("a/k", lambda reader: b"w")
    store.update("a/l", lambda reader: None)
    with pytest.raises(TypeError):
        store.set("a/k", [b"new", "no buffer"])
    with pytest.raises(ZeroDivisionError):
        store.update("a/k", lambda reader: 1 / 0)
    assert files(store) == ["a/k"]
    assert store.get("a/k") == b"w"


def test_erasing_removes_empty_directories_and_no_others(store):
    store.set("a/b/c/k", b"")
    store.set("a/l", b"")
    store.erase("a/b/c/k")
    assert store.list_dir("a/") == (["a/l"], [])
    store.erase("a/l")
    assert os.listdir(store.path) == []
    store.update("x/y/z", lambda reader: None)
    assert os.listdir(store.path) == []


def test_setting_and_erasing_in_one_directory_at_the_same_time(store):
    """Erasing removes the directory that a concurrent call of set uses."""
    done = threading.Event()

    def erase():
        while not done.is_set():
            store.erase("a/b/other")
            store.erase("a/b/mine")
            store.erase_prefix("a/")

    with ThreadPoolExecutor(1) as pool:
        erasing = pool.submit(erase)
        try:
            for _ in range(300):
                store.set("a/b/other", b"v")
                store.update("a/b/mine", lambda reader: b"v")
        finally:
            done.set()
        erasing.result()
    assert all(not name.endswith((".zarr-partial", ".zarr-lock")) for name in files(store))


def test_permissions_follow_the_umask(store):
    before = os.umask(0o027)
    try:
        store.set("a/k", b"")
    finally:
        os.umask(before)
    assert os.stat(os.path.join(store.path, "a/k")).st_mode & 0o777 == 0o640
    assert os.stat(os.path.join(store.path, "a")).st_mode & 0o777 == 0o750


def test_file_system_without_locks_is_reported(store, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(local_files, "flock", refuse)
    with pytest.warns(RuntimeWarning, match="no file locks"):
        store.update("k", lambda reader: b"v")
    assert store.get("k") == b"v"


def test_a_warning_that_is_an_error_closes_the_lock_file(store, monkeypatch):
    def refuse(descriptor, operation):
        opened.append(descriptor)
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    opened: list[int] = []
    monkeypatch.setattr(local_files, "flock", refuse)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning):
            store.update("k", lambda reader: b"v")
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_values_of_the_same_length_have_different_generations(store):
    # File systems reuse inodes, and their clock advances every few milliseconds.
    seen = set()
    for number in range(20):
        store.set("k", b"%02d" % number)
        store.set("k", b"%02d" % number)
        seen.add(store.generation("k"))
    assert len(seen) == 20


# --- files of killed processes ---


def test_files_of_killed_processes_are_not_keys_and_are_erased(store):
    store.set("a/k", b"v")
    for name in (".k.1.zarr-partial", ".k.zarr-lock"):
        open(os.path.join(store.path, "a", name), "wb").close()
    assert list(store.list()) == ["a/k"]
    assert store.list_dir("a/") == (["a/k"], [])
    store.erase_prefix("a/")
    assert files(store) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can take the rights of another user")
def test_files_and_directories_without_permission():
    with tempfile.TemporaryDirectory() as top:  # tmp_path is below a private directory
        os.chmod(top, 0o755)
        store = LocalStore(top)
        for key, closed in {"a/k": "a/k", "b/k": "b"}.items():
            store.set(key, b"value")
            os.chmod(os.path.join(store.path, closed), 0)
        os.seteuid(65534)
        try:
            assert store.getsize("a/k") == 5
            with pytest.raises(StoreError, match="Permission denied"):
                store.get("a/k")
        finally:
            os.seteuid(0)


def test_a_lock_in_use_is_not_erased(store):
    store.set("a/k", b"v")

    def change(reader):
        store.erase_prefix("a/")
        assert files(store) == ["a/.k.zarr-lock"]
        return b"new"

    store.update("a/k", change)
    assert files(store) == ["a/k"]


def test_a_lock_file_that_was_left_is_used_again(store):
    store.set("k", b"v")
    with open(os.path.join(store.path, ".k.zarr-lock"), "wb"):
        pass
    store.update("k", lambda reader: b"w")
    assert files(store) == ["k"]


@pytest.mark.parametrize("operation", ["get", "exists", "getsize", "generation", "open_value"])
def test_keys_that_cannot_be_encoded_are_rejected(tmp_path, operation):
    store = LocalStore(tmp_path)
    for key in ("\ud800", "a/\ud800"):
        with pytest.raises(StoreKeyError, match="cannot be encoded"):
            getattr(store, operation)(key)


def test_moving_a_prefix_is_atomic(store):
    for key in ("a/c/0", "a/zarr.json", "ab/zarr.json"):
        store.set(key, key.encode())
    assert store.move_prefix("a/", "new/place/")
    assert sorted(store.list()) == ["ab/zarr.json", "new/place/c/0", "new/place/zarr.json"]
    assert bytes(store.get("new/place/c/0")) == b"a/c/0"
    assert not store.move_prefix("a/", "other/")


# --- files in the place of the directory ---


@pytest.mark.parametrize(
    ("start", "sentence"),
    [
        (b"\x89HDF\r\n\x1a\n....", "is a file, not a directory.*zarr-import imports HDF5"),
        (b"PK\x03\x04....", "is a file, not a directory.*zip:"),
        (b"", "is a file, not a directory"),
    ],
)
def test_a_file_is_not_opened_and_kept(tmp_path, start, sentence):
    path = tmp_path / "something"
    path.write_bytes(start)
    for mode in ("r", "a", "w"):
        with pytest.raises(StoreError, match=sentence):
            zarr.open(path, mode=mode)
    assert path.read_bytes() == start


def test_a_pipe_does_not_make_anyone_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="not a directory"):
        zarr.open(tmp_path / "pipe")


@pytest.mark.skipif(local_files.openat2 is None, reason="the system has no openat2")
def test_a_path_that_the_system_cannot_use_is_an_error_also_when_it_is_created(tmp_path):
    store = LocalStore(tmp_path)
    key = "x/" * 3000 + "x"
    for use in (store.get, store.getsize, store.open_value, store.erase):
        with pytest.raises(StoreError, match="File name too long"):
            use(key)
    with pytest.raises(StoreError, match="File name too long"):
        store.set(key, b"v")
    assert list(store.list()) == os.listdir(tmp_path) == []
