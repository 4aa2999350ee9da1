"""Rechecked metadata in stores whose updates hold locks or transactions."""

import numpy as np
import pytest
import zarr_core as zarr
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.cache.recheck import recheck
from zarr_stores.databases.sqlite import SQLiteStore


def lmdb(path):
    pytest.importorskip("lmdb")
    from zarr_stores.databases.lmdb import LMDBStore

    return LMDBStore(path)


def dbm(path):
    from zarr_stores.databases.dbm import DBMStore

    return DBMStore(path)


STORES = {
    "sqlite": SQLiteStore,
    "lmdb": lmdb,
    "dbm": dbm,
    "memory": lambda path: zarr.MemoryStore(),
    "cached": lambda path: LRUCacheStore(zarr.LocalStore(path), 10**6),
}


@pytest.mark.parametrize("name", STORES)
def test_an_array_is_changed_and_followed(tmp_path, name):
    with STORES[name](tmp_path / "store") as store:
        writer = zarr.create_array(store, data=np.arange(4), chunks=2)
        always = recheck(zarr.open(store))
        always.append(np.arange(4, 6))
        always.attrs["by"] = "always"
        assert always[...].tolist() == [*range(6)]
        writer.refresh()
        writer.append([6])
        writer.attrs["by"] = "writer"
        assert always[...].tolist() == [*range(7)]
        assert dict(always.attrs) == {"by": "writer"}
        always.resize(2, only="shrink")
        writer.refresh()
        assert writer.shape == always.shape
