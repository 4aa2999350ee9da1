"""Files that are not what their names say: pipes, truncated and hostile databases."""

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import StoreError, StoreReadError


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no pipes")
@pytest.mark.parametrize("suffix", ["zip", "sqlite", "lmdb", "mdb", "dbm", "tar"])
@pytest.mark.parametrize("form", ["{}", "{}|auto:", "{suffix}://::file://{}"])
def test_pipes_are_refused(tmp_path, suffix, form):
    if suffix == "tar" or form.startswith("{suffix}"):
        pytest.importorskip("fsspec")
    elif suffix in ("lmdb", "mdb"):
        pytest.importorskip("lmdb")
    path = tmp_path / f"x.{suffix}"
    os.mkfifo(path)
    for mode in ("r", "a"):
        with pytest.raises(StoreError, match=r"pipe|Protocol not known"):
            zarr.open(form.format(path, suffix=suffix), mode=mode)


def lmdb_file(directory):
    pytest.importorskip("lmdb")
    path = directory / "x.lmdb"
    with zarr.open(path, mode="w") as group:
        group.create_array("a", data=np.arange(3000, dtype="f8"), chunks=20)
        group.create_array("b", data=np.arange(300_000, dtype="f8"), compressors=None)
    return path / "data.mdb"


@pytest.mark.parametrize("kept", [0.05, 0.3, 0.7, 0.99])
def test_truncated_files_of_lmdb(tmp_path, kept):
    file = lmdb_file(tmp_path)
    size = file.stat().st_size
    os.truncate(file, int(size * kept))
    with pytest.raises(StoreError, match="truncated or damaged"):
        zarr.open(tmp_path / "x.lmdb", mode="r")["b"][...]


def test_pages_that_lmdb_does_not_use_may_be_missing(tmp_path):
    """The length that a transaction says is an upper limit."""
    file = lmdb_file(tmp_path)
    whole = bytearray(file.read_bytes())
    size = int.from_bytes(whole[40:44], "little")  # of a page
    for meta in (0, size):
        last = meta + 136
        number = int.from_bytes(whole[last : last + 8], "little")
        whole[last : last + 8] = (number + 5).to_bytes(8, "little")
    file.write_bytes(whole)
    group = zarr.open(tmp_path / "x.lmdb", mode="r")
    assert np.array_equal(group["a"][...], np.arange(3000))
    assert group["b"][-1] == 299_999


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TRIGGER t AFTER INSERT ON zarr BEGIN SELECT 1; END"],
        ["DROP TABLE zarr", "CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB AS (zeroblob(400000000)))"],
        ["ALTER TABLE zarr ADD COLUMN w BLOB AS (zeroblob(9)) VIRTUAL"],
        ["CREATE INDEX i ON zarr(zeroblob(length(v)))"],
        ["ALTER TABLE zarr RENAME TO other", "CREATE VIEW zarr AS SELECT * FROM other"],
    ],
    ids=lambda statements: statements[-1][:20],
)  # fmt: skip
def test_code_in_sqlite_files(tmp_path, statements):
    path = tmp_path / "x.sqlite"
    zarr.create_array(path, data=np.arange(3, dtype="u1"))
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    for mode in ("r", "r+"):
        with pytest.raises(StoreReadError, match="can execute code"):
            zarr.open(path, mode=mode)


def test_other_tables_of_sqlite_files(tmp_path):
    """Other columns and tables, and ordinary indexes, are not code."""
    path = tmp_path / "x.sqlite"
    zarr.create_array(path, data=np.arange(3, dtype="u1"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE other(a, b)")
        connection.execute("CREATE INDEX i ON zarr(k, v)")
        connection.execute("ALTER TABLE zarr ADD COLUMN w TEXT")
    array = zarr.open(path, mode="r+")
    array[1] = 7
    assert array[...].tolist() == [0, 7, 2]
