import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import zarr_core as zarr
from server_store_contract import SECRET, ServerStoreContract, unique
from waits import PATIENCE, wait_until
from zarr_core.extension import StoreError, StoreKeyError, StoreReadError
from zarr_core.stores.local import LocalStore
from zarr_stores.sftp import SFTPStore

pytest_plugins = ["servers.fixtures"]


def url_at(server, place, before=None, **options):
    """URL of a directory, possibly through the port of a proxy."""
    before = before or server
    _, key = server.known_hosts.read_text().split(" ", 1)
    known = server.directory / "known"
    known.write_text(f"* {key}")
    options |= {"client_keys": server.private_key, "known_hosts": known}
    query = "&".join(f"{word}={value}" for word, value in options.items())
    return f"sftp://{server.username}@{before.host}:{before.port}{server.root}/{place}?{query}"


class TestSFTPStore(ServerStoreContract):
    name = "sftp"
    kind = SFTPStore
    key_may_be_prefix = False
    others_may_write = False
    test_deep_keys = None  # 1500 directories are slow; a test below uses 50

    @pytest.fixture(autouse=True)
    def server(self, sftp_server):
        self._server = sftp_server
        return sftp_server

    def at(self, place, server=None, **options):
        return SFTPStore(url_at(self._server, place, server), **options)

    def again(self, store, *, read_only):
        return SFTPStore(store.url, read_only=read_only)

    def with_secret(self):
        server = self._server
        url = f"sftp://me:{SECRET}@{server.host}:{server.port}{server.root}/x"
        return SFTPStore(url, known_hosts=str(server.directory / "known"), retry_timeout=0)


@pytest.fixture
def store(sftp_server):
    with SFTPStore(url_at(sftp_server, unique())) as store:
        yield store


@pytest.fixture
def root(store):
    """Local path of the directory of the store."""
    return Path(store._path)


def test_the_files_are_those_of_a_local_store(store, root):
    with zarr.create_group(store, attributes={"title": "there"}).store:
        pass
    array = zarr.create_array(store, path="a", shape=(10,), chunks=(5,), dtype="int32")
    array[:] = 7
    local = LocalStore(root)
    assert sorted(local.list()) == sorted(store.list())
    assert (zarr.open_array(local, mode="r", path="a")[...] == 7).all()
    local.set("b/c", b"here")
    assert store.get("b/c") == b"here"


def test_fsync(sftp_server):
    with SFTPStore(url_at(sftp_server, unique(), fsync="true")) as store:
        store.set("k", b"v")
        assert store.get("k") == b"v"
        assert pickle.loads(pickle.dumps(store))._fsync


def test_deep_directories(store):
    key = "/".join(["d"] * 50)
    store.set(key, b"deep")
    assert list(store.list()) == [key]
    store.erase(key)
    assert store.list_dir("") == ([], [])
    store.set(key, b"deep")
    store.erase_prefix("d/d/")
    assert store.list_dir("") == ([], [])


def test_links_outside_the_store_are_not_followed(store, root, tmp_path):
    (tmp_path / "secret").write_bytes(b"secret")
    store.set("a/k", b"v")
    (root / "file").symlink_to(tmp_path / "secret")
    (root / "dir").symlink_to(tmp_path)
    (root / "a" / "up").symlink_to("../..")
    for key in ("file", "dir/secret", "a/up/secret"):
        for call in (store.get, store.open_value, store.getsize):
            with pytest.raises(StoreReadError, match=f"{key}.*link.*points outside"):
                call(key)
    for key in ("dir/new", "a/up/new"):
        for call in (
            lambda key: store.set(key, b"v"),
            lambda key: store.update(key, lambda _: b"v"),
            store.erase,
        ):
            with pytest.raises(StoreError, match=f"{key}.*link.*points outside"):
                call(key)
    with pytest.raises(StoreReadError, match="points outside"):
        store.list_dir("dir/")
    assert list(store.list()) == ["a/k"]
    assert store.list_dir("") == ([], ["a/"])
    store.erase_prefix("dir/")  # only the link
    store.set("file", b"mine")  # likewise
    assert os.listdir(tmp_path) == ["secret"]
    assert (tmp_path / "secret").read_bytes() == b"secret"
    assert store.get("file") == b"mine"


def test_links_within_are_followed_once(store, root):
    store.set("a/k", b"v")
    (root / "b").symlink_to("a")
    (root / "a" / "again").symlink_to("../a")
    (root / "k").symlink_to("a/k")
    (root / "nowhere").symlink_to("nothing")
    assert store.get("b/k") == store.get("k") == b"v"
    assert store.getsize("k") == 1
    keys = list(store.list())
    assert {"a/k", "k"} <= set(keys)
    assert len(keys) < 10
    with pytest.raises(StoreReadError, match="broken or circular"):
        store.get("nowhere")


def test_foreign_files_are_not_keys(store, root):
    store.set("k", b"v")
    (root / ".k.x1.zarr-partial").write_bytes(b"half")
    (root / "back\\slash").write_bytes(b"")
    Path(os.fsdecode(os.fsencode(root) + b"/\xff")).write_bytes(b"")
    os.mkfifo(root / "pipe")
    (root / "empty").mkdir()
    assert list(store.list()) == ["k"]
    assert not store.exists("empty")
    with pytest.raises(StoreKeyError, match="are reserved"):
        store.set(".a.zarr-partial", b"")
    with pytest.raises(StoreError, match="a directory, not a value"):
        store.erase("empty")
    assert (root / "empty").is_dir()


def test_rejected_logins_raise(store, sftp_server):
    store.set("k", b"v")
    with pytest.raises(StoreError, match="'k/a': .*a file exists where a directory"):
        store.set("k/a", b"")
    url = store.url.partition("?")[0]
    good = {"client_keys": str(sftp_server.private_key), "known_hosts": None}
    with SFTPStore(url, **good) as other:
        assert other.get("k") == b"v"
    for options, said in (
        ({"client_keys": []}, "Permission denied"),
        ({"known_hosts": b""}, "not trusted"),
        ({"client_keys": "/nothing/here"}, "No such file"),
    ):
        with (
            SFTPStore(url, retry_timeout=0, **{**good, "agent_path": None, **options}) as other,
            pytest.raises(StoreError, match=f"'k'.*{said}"),
        ):
            other.get("k")


LEAVE_LOCK = """
import os, pickle, sys
store = pickle.loads(bytes.fromhex(sys.argv[1]))
def change(reader):
    print("in", flush=True)
    os._exit(1)
store.update("a/k", change)
"""


def test_the_lease_of_a_killed_client_is_removed(sftp_server):
    with SFTPStore(url_at(sftp_server, unique(), lease="2")) as store:
        store.set("a/k", b"0")
        state = pickle.dumps(store).hex()
        program = [sys.executable, "-W", "error", "-c", LEAVE_LOCK, state]
        assert subprocess.run(program, stdout=subprocess.DEVNULL).returncode == 1
        root = Path(store._path)
        assert (root / "a" / ".k.lease.zarr-partial").exists()
        began = time.monotonic()

        def work(_):
            store.update("a/k", lambda old: str(int(bytes(old.read(0, old.size))) + 1).encode())

        others = [pickle.loads(bytes.fromhex(state)) for _ in range(3)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
        assert time.monotonic() - began >= 4  # twice the lease
        assert store.get("a/k") == b"4"
        assert not (root / "a" / ".k.lease.zarr-partial").exists()
        assert list(store.list()) == ["a/k"]
        for other in others:
            other.close()


def test_an_empty_lease_is_removed(sftp_server):
    with SFTPStore(url_at(sftp_server, unique(), lease="2")) as store:
        store.set("k", b"0")
        (Path(store._path) / ".k.lease.zarr-partial").touch()
        store.update("k", lambda old: b"1")
        assert store.get("k") == b"1"


def test_a_lock_is_renewed_as_long_as_a_change_takes(sftp_server):
    url = url_at(sftp_server, unique(), lease="2")
    with SFTPStore(url) as slow, SFTPStore(url) as other:
        slow.set("k", b"")
        inside = threading.Event()

        def change(old):
            inside.set()
            # Without renewal others take the lease after 4 s; it is renewed three times in 2 s.
            wait_until(lambda: renewals() >= 7)
            return b"slow"

        def renewals():
            return int((Path(slow._path) / ".k.lease.zarr-partial").read_bytes()[-8:] or 0)

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(slow.update, "k", change)
            assert inside.wait(PATIENCE)
            # Like another process, without the locks of threads.
            other._change_leased("k", lambda old: bytes(old.read(0, old.size)) + b" other")
            first.result()
        assert slow.get("k") == b"slow other"


def test_a_change_is_retried_after_its_lease_was_removed(sftp_server):
    with SFTPStore(url_at(sftp_server, unique(), lease="2")) as store:
        store.set("k", b"0")
        calls = []

        def change(old):
            calls.append(bytes(old.read(0, old.size)))
            if len(calls) == 1:
                (Path(store._path) / ".k.lease.zarr-partial").unlink()
                store.set("k", b"1")
                time.sleep(2.5)  # longer than the lease without renewal
            return b"mine"

        store.update("k", change)
        assert calls == [b"0", b"1"]
        assert store.get("k") == b"mine"


def test_wrong_urls():
    for url in ("sftp://h/a/../b", "sftp://h/a%00b", "sftp://h:port/a", "ssh://h/a"):
        with pytest.raises(StoreError):
            SFTPStore(url)
    assert SFTPStore("sftp://me@H:22//a/./b/").url == "sftp://me@h/a/b"
    assert SFTPStore("sftp://h").url == "sftp://h/"


def test_options_that_the_library_rejects():
    store = SFTPStore("sftp://127.0.0.1:1/x", compression_algs="nosuch", retry_timeout=0)
    with pytest.raises(StoreReadError, match="cannot be read: cannot connect: .*nosuch"):
        store.get("k")
