from store_contract import StoreContract
from zarr_stores.sqlite import SQLiteStore


class TestSQLiteStore(StoreContract):
    name = "sqlite"

    def make(self, tmp_path):
        return SQLiteStore(tmp_path / "store.sqlite")

    def again(self, store, *, read_only):
        return SQLiteStore(store.path, read_only=read_only)
