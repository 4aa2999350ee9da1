"""Names that are not valid keys are ignored in listings, or named in an error."""

import dbm.dumb
import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import FEW_RETRIES, azure_environment, s3_environment
from zarr_core.extension import StoreReadError
from zarr_stores.databases.dbm import DBMStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_stores.fsspec import FsspecStore
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


@pytest.fixture(params=["s3", "az", "gs"])
def bucket(request, monkeypatch):
    """URL of a bucket, options of obstore, and an fsspec file system."""
    if request.param == "s3":
        server = request.getfixturevalue("s3_server")
        kind = pytest.importorskip("s3fs").S3FileSystem
        for name, value in s3_environment(server).items():
            monkeypatch.setenv(name, value)
        files = kind(endpoint_url=server.url, key=server.access_key, secret=server.secret_key)
        return f"s3://{server.bucket}", {}, files
    if request.param == "az":
        server = request.getfixturevalue("azure_server")
        kind = pytest.importorskip("adlfs").AzureBlobFileSystem
        for name, value in azure_environment(server).items():
            monkeypatch.setenv(name, value)
        return f"az://{server.container}", {}, kind(connection_string=server.connection_string)
    server = request.getfixturevalue("gcs_server")
    kind = pytest.importorskip("gcsfs.core").GCSFileSystem
    options = {"base_url": server.url, "skip_signature": True, "retry_config": FEW_RETRIES}
    return f"gs://{server.bucket}", options, kind(token="anon", endpoint_url=server.url)


@pytest.mark.parametrize("name", ["a//b", "a/"])
def test_foreign_objects(bucket, name):
    url, options, files = bucket
    place = f"{url.partition('://')[2]}/foreign{os.getpid()}"
    by_fsspec = FsspecStore(files, place)
    root = zarr.create_group(by_fsspec, overwrite=True)
    for member in ("a", "b"):
        root.create_array(member, data=np.arange(3))
    files.pipe_file(f"{place}/{name}", b"" if name.endswith("/") else b"foreign")
    store = ObjectStore.from_url(f"{url.partition('://')[0]}://{place}", **options)
    try:
        assert zarr.open(store, mode="r")["a"][2] == 2  # only listings are affected
        assert store.list_dir("b/") == (["b/zarr.json"], ["b/c/"])
        keys = ["a/c/0", "a/zarr.json", "b/c/0", "b/zarr.json", "zarr.json"]
        assert sorted(by_fsspec.list()) == keys
        assert [member for member, _ in zarr.open_group(by_fsspec).members()] == ["a", "b"]
        if name.endswith("/"):
            assert sorted(store.list()) == keys
            return
        for call in (store.list, lambda: store.list_sizes("")):
            with pytest.raises(StoreReadError) as caught:
                list(call())
            assert f"foreign{os.getpid()}/{name}" in str(caught.value)
            assert f"fsspec+{url.partition(':')[0]}://" in str(caught.value)
    finally:
        files.rm_file(f"{place}/{name}")
        by_fsspec.erase_prefix("")


def into_sqlite(path, names):
    with closing(sqlite3.connect(path)) as connection, connection:
        rows = [(name, b"") for name in (*names, *(name.decode("latin-1") for name in names))]
        connection.executemany("insert into zarr values (?, ?)", rows)
    connection.close()


def into_lmdb(path, names):
    lmdb = pytest.importorskip("lmdb")
    with (
        lmdb.open(str(path), subdir=path.is_dir()) as environment,
        environment.begin(write=True) as transaction,
    ):
        for name in names:
            transaction.put(name, b"")


def into_dbm(path, names):
    with dbm.dumb.open(str(path)) as database:
        for name in names:
            database[name] = b""


def dumb(path):
    return DBMStore(path, backend="dumb")


@pytest.mark.parametrize(
    ("kind", "put"),
    [(SQLiteStore, into_sqlite), (LMDBStore, into_lmdb), (dumb, into_dbm)],
    ids=["sqlite", "lmdb", "dbm"],
)
def test_foreign_names_in_databases(kind, put, tmp_path):
    path = tmp_path / "field"
    with kind(path) as store:
        store.set("a/k", b"v")
        store.set("b", b"w")
    put(path, [b"a//b", b"../x", b"a\\b", b"/y", b"a/", b"a/../b", b"a/\0", b"a/\xff"])
    if kind is not SQLiteStore:  # where they were added as text, which is a different name
        put(path, [b"\xff", b"\xffx/k"])
    with kind(path) as store:
        expected = ["a/k", "b"] if kind is not SQLiteStore else ["a/k", "a/\xff", "b"]
        assert sorted(store.list()) == expected
        assert store.list_dir("") == (["b"], ["a/"])
        assert sorted(store.list_dir("a/")[0]) == [key for key in expected if key[0] == "a"]
        store.erase_prefix("")
        assert list(store.list()) == []
