"""URLs and objects that open fsspec file systems, without revealing credentials."""

import io
import pickle
import tarfile
import zipfile

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    StoreCapabilityError,
    StoreError,
    StoreKeyError,
    StoreReadError,
    StoreReadOnlyError,
)

fsspec = pytest.importorskip("fsspec")

from fsspec.implementations.dirfs import DirFileSystem  # noqa: E402
from fsspec.implementations.local import LocalFileSystem  # noqa: E402
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402
from zarr_stores.fsspec import FsspecStore  # noqa: E402
from zarr_stores.secrets import names_of_secrets, without_secrets  # noqa: E402

pytest_plugins = ["servers.fixtures"]
VALUES = np.arange(600, dtype="int32").reshape(30, 20)


def write(place, **options):
    root = zarr.create_group(place, attributes={"title": "x"}, **options)
    root.create_array("a/field", data=VALUES, chunks=(7, 6), compressors=None)
    root.create_array("sharded", data=VALUES, chunks=(5, 5), shards=(10, 20))


def check(place, **options):
    root = zarr.open_group(place, mode="r", **options)
    assert [path for path, _ in root.members(max_depth=None)] == ["a", "a/field", "sharded"]
    assert np.array_equal(root["a/field"][...], VALUES)
    assert np.array_equal(root["sharded"][3:17, ::3], VALUES[3:17, ::3])
    return root.store


# --- objects ---


def test_mappers(tmp_path):
    mapper = fsspec.get_mapper(f"memory://{tmp_path}")
    write(mapper)
    store = check(mapper)
    assert type(store) is FsspecStore
    assert store == zarr.open(f"fsspec+memory://{tmp_path}", mode="r").store
    assert store != zarr.open_group(fsspec.get_mapper(f"memory://{tmp_path}2"), mode="a").store
    assert store.url == f"fsspec+memory://{tmp_path}"


def test_local_file_systems_become_local_stores(tmp_path):
    mapper = fsspec.get_mapper(str(tmp_path / "field"))
    write(mapper)
    assert check(mapper) == zarr.LocalStore(tmp_path / "field")
    root = DirFileSystem(path=str(tmp_path / "field"), fs=LocalFileSystem())
    assert check(root) == zarr.LocalStore(tmp_path / "field")


def test_paths_of_universal_pathlib(tmp_path):
    upath = pytest.importorskip("upath")
    write(upath.UPath(f"memory://{tmp_path}"))
    assert type(check(upath.UPath(f"memory://{tmp_path}"))) is FsspecStore
    for text in (str(tmp_path / "field"), (tmp_path / "field").as_uri()):
        path = upath.UPath(text)
        store = zarr.open_group(path, mode="a").store
        assert store == zarr.LocalStore(tmp_path / "field")
    write(upath.UPath(tmp_path / "x.zip"))
    assert type(check(upath.UPath(tmp_path / "x.zip"))).__name__ == "ZipStore"


def test_file_systems_and_parts_of_them(tmp_path):
    inside = DirFileSystem(path=f"{tmp_path}/deep", fs=MemoryFileSystem())
    write(inside)
    assert check(inside) == check(fsspec.get_mapper(f"memory://{tmp_path}/deep"))
    assert MemoryFileSystem().exists(f"{tmp_path}/deep/a/field/zarr.json")
    own, other = (MemoryFileSystem(global_store=False, skip_instance_cache=True) for _ in range(2))
    write(own)
    check(own)
    assert other.ls("/") == []
    assert FsspecStore(own) == FsspecStore(own, "/") != FsspecStore(other)


def test_a_single_file_is_not_a_store(tmp_path):
    (tmp_path / "x.bin").write_bytes(b"x")
    with pytest.raises(StoreError, match="cannot open a store from a single file"):
        zarr.open(fsspec.open(str(tmp_path / "x.bin")))


class Forbidden(MemoryFileSystem):
    """A file system that denies all access."""

    cachable = False

    def cat_file(self, path, start=None, end=None, **options):
        raise PermissionError(13, "Forbidden", path)

    info = cat_file


def test_missing_exceptions_of_a_mapper_are_ignored(tmp_path):
    mapper = Forbidden().get_mapper(str(tmp_path), missing_exceptions=(Exception,))
    assert "k" not in mapper
    assert mapper.getitems(["k"], on_error="omit") == {}
    store = FsspecStore(mapper.fs, mapper.root)
    for call in (store.get, store.exists, store.getsize):
        with pytest.raises(StoreReadError, match=r"fsspec\+memory://.*'a/k'.*Forbidden"):
            call("a/k")
    with pytest.raises(StoreReadError, match="Forbidden"):
        zarr.open(mapper)


# --- chains ---


def test_archives_and_caches_are_read(tmp_path):
    write(str(tmp_path / "field"))
    files = [path for path in sorted((tmp_path / "field").rglob("*")) if path.is_file()]
    names = {str(path.relative_to(tmp_path / "field")): path for path in files}
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, path in names.items():
            archive.write(path, name)
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        for name, path in names.items():
            archive.add(path, name)
    for url in (
        f"zip://::file://{tmp_path}/x.zip",
        f"tar://::file://{tmp_path}/x.tar",
        f"simplecache::file://{tmp_path}/field",
        f"simplecache::zip://::file://{tmp_path}/x.zip",
    ):
        store = check(url)
        assert store.read_only
        assert store.url == url
        with pytest.raises(StoreReadOnlyError, match="archive|cache of files"):
            store.set("k", b"v")
        assert pickle.loads(pickle.dumps(store)) == store
    check(tmp_path / "x.tar")
    with pytest.raises(StoreError, match="new.tar"):
        zarr.create_group(tmp_path / "new.tar")
    assert not (tmp_path / "new.tar").exists()


def test_a_part_of_an_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("top/zarr.json", '{"zarr_format": 3, "node_type": "group"}')
        archive.writestr("other/zarr.json", "{}")
    store = zarr.open(f"zip://top::file://{tmp_path}/x.zip", mode="r").store
    assert list(store.list()) == ["zarr.json"]
    assert store.get("../other/zarr.json".removeprefix("../")) is None


def test_a_cached_file_that_came_in_part_is_fetched_again(tmp_path, monkeypatch):
    (tmp_path / "k").write_bytes(b"0123456789")
    store = FsspecStore.from_url(f"simplecache::file://{tmp_path}")

    def half(self, source, target, **options):
        with open(target, "wb") as file:
            file.write(b"01234")
        raise ConnectionResetError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(LocalFileSystem, "get_file", half)
        with pytest.raises(StoreReadError, match="in the middle"):
            store.get("k")
    assert store.get("k") == b"0123456789"


# --- unsupported URLs ---


def test_missing_schemes_and_libraries():
    with pytest.raises(StoreError, match=r"nope.*not known|not known.*nope"):
        zarr.open("fsspec+nope://x/y")


def test_paths_of_local_files_are_not_urls(tmp_path):
    for name in ("x.git", "x.dir", "x.ftp", "x.fsspec"):
        zarr.create_group(tmp_path / name)
        assert (tmp_path / name / "zarr.json").exists()


# --- credentials ---


def test_names_of_secrets():
    options = {
        "key": "AKIAabc", "secret": "hush-hush", "anon": False, "token": "anon", "user": "me",
        "client_kwargs": {"endpoint_url": "http://x", "aws_session_token": "session"},
        "headers": {"Authorization": "Bearer 123456", "Accept": "*/*"},
        "key_filename": "~/.ssh/id", "credentials": "/path/x.json", "password": None,
    }  # fmt: skip
    names = ["Authorization", "aws_session_token", "key", "secret"]
    assert names_of_secrets(options) == names
    assert names_of_secrets({}, "ftp://me@host/x") == []
    assert names_of_secrets({}, "ftp://me:word@host/x") == ["the URL"]
    assert names_of_secrets({}, "simplecache::https://host/x?sig=abc") == ["the URL"]
    told = without_secrets("for AKIAabc at ftp://me:word@host/x?sig=abc (hush-hush 123)", options)
    assert told == "for *** at ftp://me:***@host/x?*** (*** 123)"


class Talkative(MemoryFileSystem):
    """A file system whose errors contain all its options."""

    protocol = "talkative"
    cachable = False

    def __init__(self, host="", password="", token="", **options):
        super().__init__(**options)
        self.text = f"login failed for {password} {token} at https://host/x?sig={token}"

    def cat_file(self, path, start=None, end=None, **options):
        raise ConnectionError(self.text)


def everything_said(error):
    parts = []
    while error is not None:
        parts += [str(error), repr(error)]
        error = error.__cause__
    return " ".join(parts)


def test_no_secret_is_shown_or_pickled(caplog):
    fsspec.register_implementation("talkative", Talkative, clobber=True)
    secrets = {"password": "pass-word-1", "token": "tok-en-22"}
    stores = [
        FsspecStore.from_url("fsspec+talkative://h/x", host="h", **secrets),
        FsspecStore(Talkative("h", **secrets), "/x"),
        FsspecStore.from_url("fsspec+talkative://me:pass-word-1@h/x?sig=tok-en-22"),
    ]
    for store in stores:
        with (
            caplog.at_level("DEBUG"),
            pytest.raises(StoreReadError, match="login failed") as caught,
        ):
            store.get("k")
        said = everything_said(caught.value) if store is not stores[2] else ""
        for text in (repr(store), str(store), store.url, said, caplog.text):
            assert "pass-word-1" not in text
            assert "tok-en-22" not in text
    pytest.importorskip("aiohttp")
    store = FsspecStore.from_url("fsspec+https://h/x", headers={"Authorization": "hush-hush"})
    with pytest.raises(StoreError, match=r"contain credentials \(Authorization\)"):
        pickle.dumps(store)


# --- with zarr-python ---


# --- file systems that rename files ---


@pytest.fixture
def sftp(sftp_server, tmp_path):
    """A store in a new directory, and its local path."""
    pytest.importorskip("paramiko")
    directory = sftp_server.root / tmp_path.name / "x"
    options = {"username": sftp_server.username, "key_filename": str(sftp_server.private_key)}
    url = f"sftp://{sftp_server.host}{directory}"
    return FsspecStore.from_url(url, port=sftp_server.port, **options), directory


def test_temporary_files_are_not_keys(sftp):
    store, directory = sftp
    store.set("a/k", b"v")
    (directory / "a" / ".k.0123.zarr-partial").write_bytes(b"ha")
    assert list(store.list()) == ["a/k"]
    assert store.list_dir("a/") == (["a/k"], [])
    assert sorted(path.name for path in (directory / "a").iterdir()) == [
        ".k.0123.zarr-partial",
        "k",
    ]


def test_a_directory_that_another_thread_makes_meanwhile(sftp, monkeypatch):
    store, directory = sftp
    kind = fsspec.get_filesystem_class("sftp")
    pipe, calls = kind.pipe_file, []

    def late(self, path, *rest, **options):
        calls.append(path)
        try:
            return pipe(self, path, *rest, **options)
        except FileNotFoundError:
            (directory / "a").mkdir(parents=True)  # as another thread
            raise

    monkeypatch.setattr(kind, "pipe_file", late)
    store.set("a/k", b"v")
    assert store.get("a/k") == b"v"
    assert len(calls) == 2


def test_a_failed_write_leaves_the_old_value_and_nothing_else(sftp, monkeypatch):
    store, directory = sftp
    store.set("a/k", b"old")
    kind = fsspec.get_filesystem_class("sftp")
    pipe = kind.pipe_file

    def full(self, path, value, **options):
        pipe(self, path, value[:1])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(kind, "pipe_file", full)
        with pytest.raises(StoreError, match=r"'a/k': cannot be changed: No space left"):
            store.set("a/k", b"new")
    assert store.get("a/k") == b"old"
    assert [path.name for path in (directory / "a").iterdir()] == ["k"]


def test_a_directory_is_never_replaced_by_a_value(sftp):
    store, directory = sftp
    store.set("a/b", b"v")
    with pytest.raises(StoreError):
        store.set("a", b"w")
    store.erase("a")
    assert list(store.list()) == ["a/b"]
    assert not list(directory.glob(".*"))


# --- details ---


@pytest.mark.parametrize("url", ["fsspec+file://{}", "dir::file://{}"])
def test_local_directories_are_opened_without_fsspec(tmp_path, url):
    with pytest.raises(StoreError, match="a local directory is opened without fsspec"):
        zarr.open(url.format(tmp_path), mode="r")


def test_names_that_a_file_system_reads_differently(tmp_path):
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a", "1")
    (tmp_path / "x.zip").write_bytes(zipped.getvalue())
    store = FsspecStore.from_url(f"zip://::file://{tmp_path}/x.zip")
    assert store.get("a") == b"1"
    with pytest.raises(StoreKeyError, match="is not a file name"):
        store.get("zip::a")


def test_http_servers_are_read_and_not_listed(tmp_path, plain_http_server):
    pytest.importorskip("aiohttp")
    field = plain_http_server.root / tmp_path.name
    write(str(field))
    url = f"fsspec+{plain_http_server.url}/{field.name}"
    root = zarr.open_group(url, mode="r")
    assert np.array_equal(root["a/field"][...], VALUES)
    assert np.array_equal(root["sharded"][3:17, ::3], VALUES[3:17, ::3])
    for call in (lambda: list(root.store.list()), lambda: root.store.list_dir("")):
        with pytest.raises(StoreCapabilityError, match="cannot list"):
            call()
    assert root.store.get("nothing") is None
    (field / "a?b#c%41 d").write_bytes(b"odd")
    assert root.store.get("a?b#c%41 d") == b"odd"
    (field / "large").write_bytes(bytes(300_000) + b"end")
    with root.store.open_value("large") as reader:
        assert bytes(reader.read(300_000, 3)) == b"end"
