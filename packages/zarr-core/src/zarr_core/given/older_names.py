"""Where programs for zarr-python find what they ask this library for by another name."""

from __future__ import annotations

_STORES = "zarr_stores has it"

_INSTEAD = {
    "ABSStore": "zarr.open('az://container/path') takes one, with zarr-stores[object]",
    "AsyncArray": "zarr_compat has it, for programs that await elements",
    "AsyncGroup": "zarr_compat has it, for programs that await members",
    "Blosc": "say compressors={'name': 'blosc', 'configuration': {...}}, or give numcodecs.Blosc(...)",
    "ConsolidatedMetadataStore": f"{_STORES}: zarr_stores.consolidated.ConsolidatedMetadataStore",
    "DBMStore": f"{_STORES}: zarr_stores.dbm.DBMStore",
    "DictStore": "a dictionary is a store as it is; or MemoryStore(dictionary)",
    "DirectoryStore": "LocalStore is it",
    "FSStore": f"{_STORES}: zarr_stores.fsspec.FsspecStore.from_url",
    "KVStore": "a mapping is a store as it is; or MemoryStore(mapping)",
    "LMDBStore": f"{_STORES}: zarr_stores.lmdb.LMDBStore",
    "LRUStoreCache": f"{_STORES}: zarr_stores.cache.LRUCacheStore",
    "MongoDBStore": f"{_STORES}: zarr_stores.mongodb.MongoDBStore",
    "N5FSStore": "zarr.open(url) reads N5, with zarr-formats; zarr_format='n5' writes it",
    "N5Store": "zarr.open(path) reads N5, with zarr-formats; zarr_format='n5' writes it",
    "NestedDirectoryStore": "LocalStore with dimension_separator='/' for the arrays in it",
    "ProcessSynchronizer": f"{_STORES}: zarr_stores.synchronizers.ProcessSynchronizer",
    "RedisStore": f"{_STORES}: zarr_stores.redis.RedisStore",
    "SQLiteStore": f"{_STORES}: zarr_stores.sqlite.SQLiteStore",
    "TempStore": f"{_STORES}: zarr_stores.temp.TempStore",
    "ThreadSynchronizer": f"{_STORES}: zarr_stores.synchronizers.ThreadSynchronizer",
    "ZipStore": f"{_STORES}: zarr_stores.zip.ZipStore",
    "codecs": "codecs are named in metadata: compressors=['zstd']; installed_extensions() lists them",
    "create_hierarchy": "create_group makes the groups that lead to a path",
    "from_array": "copy(array, store) copies chunk by chunk; create_array(store, data=array) does with other chunks",
    "open_like": "open_array(store, 'a', shape=..., dtype=..., chunks=...)",
    "print_debug_info": "installed_extensions() lists what is installed",
    "set_format": "config has no format; say zarr_format=2 where something is made",
    "storage": "LocalStore and MemoryStore are here, other stores in zarr_stores",
}


def instead(name: str) -> str:
    """What to use in place of a name, as the end of a sentence; empty if nobody had it."""
    return f"; {_INSTEAD[name]}" if name in _INSTEAD else ""
