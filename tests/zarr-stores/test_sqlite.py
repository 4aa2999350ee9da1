import sqlite3
from contextlib import closing

import pytest
from database_contract import DatabaseContract
from zarr_core.extension import StoreReadError
from zarr_stores.databases.sqlite import SQLiteStore


class TestSQLiteStore(DatabaseContract):
    name = "sqlite"

    def make(self, tmp_path):
        return SQLiteStore(tmp_path / "store.sqlite")

    def again(self, store, *, read_only):
        return SQLiteStore(store.path, read_only=read_only)


def test_keys_that_are_not_utf_8_are_ignored(tmp_path):
    path = tmp_path / "t.sqlite"
    with SQLiteStore(path) as store:
        store.set("a/b", b"1")
        store.set("c/d", b"2")
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO zarr(k, v) VALUES (CAST(x'632fff' AS TEXT), x'00')")
            connection.execute("INSERT INTO zarr(k, v) VALUES (CAST(x'fe' AS TEXT), x'00')")
        assert list(store.list_prefix("")) == ["a/b", "c/d"]
        assert list(store.list_prefix("c/")) == ["c/d"]
        assert store.list_dir("") == ([], ["a/", "c/"])
        assert store.list_dir("c/") == (["c/d"], [])
        store.set("é", b"3")
        assert list(store.list_prefix("")) == ["a/b", "c/d", "é"]
        store.erase_prefix("c/")
        assert list(store.list_prefix("")) == ["a/b", "é"]


def test_keys_that_a_damaged_file_has_as_null_are_ignored(tmp_path):
    path = tmp_path / "t.sqlite"
    with SQLiteStore(path) as store:
        for key in ("a", "b", "damaged"):
            store.set(key, b"1")
    data = path.read_bytes()
    # In the record of the index: a header of 3 bytes, the types of the text and of the row.
    text = bytes([3, 13 + 2 * len("damaged"), 1]) + b"damaged"
    assert data.count(text) == 1
    path.write_bytes(data.replace(text, bytes([3, 0, 1]) + b"damaged"))
    with SQLiteStore(path, read_only=True) as store:
        assert list(store.list_prefix("")) == ["a", "b"]
        assert store.list_dir("") == (["a", "b"], [])


def test_an_operational_error_without_a_code_is_a_store_error(tmp_path, monkeypatch):
    store = SQLiteStore(tmp_path / "t.sqlite")
    store.set("a", b"1")

    def take(**_):
        raise sqlite3.OperationalError("of Python, not of SQLite")

    store.close()
    monkeypatch.setattr(store._connections, "take", take)
    with pytest.raises(StoreReadError, match="cannot be read: of Python, not of SQLite"):
        store.get("a")
