"""Stores that wrap a store have its attributes."""

from types import SimpleNamespace

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import Store, StoreTraits, WrapperStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.chunk_cache import ChunkCacheStore
from zarr_stores.cache.lru_cache import LRUCacheStore

ATTRIBUTES = {"supports_listing", "in_memory", "max_concurrency", *StoreTraits._fields}


class Odd(MemoryStore):
    """A store whose attributes all differ from those of the interface."""

    supports_listing = False
    max_concurrency = 77
    traits = StoreTraits(
        supports_erasing=False,
        metadata_first=True,
        supports_consolidated_metadata=False,
        batch_nbytes=5,
        endpoint="elsewhere",
    )

    def __str__(self):
        return "memory (elsewhere)"


def odd_store():
    group = zarr.create_group({})
    group.create_array("a", data=np.arange(4))
    return Odd(dict(group.store._mapping))


def locked(store):
    append_lock = pytest.importorskip("zarr_xarray.append.lock")
    return append_lock.LockedStore(store, SimpleNamespace(exclusive=False))


WRAPPED = {
    "WrapperStore": (lambda store: WrapperStore(store), set()),
    "LRUCacheStore": (lambda store: LRUCacheStore(store, 1000), set()),
    "ChunkCacheStore": (lambda store: ChunkCacheStore(store, 1000), {"chunk_reader"}),
    "LockedStore": (locked, {"batch_nbytes"}),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_attributes_are_those_of_the_inner_store(name):
    wrap, changed = WRAPPED[name]
    inner = odd_store()
    store = wrap(inner)
    assert all(new != old for new, old in zip(inner.traits[:-2], StoreTraits()[:-2], strict=True))
    for attribute in ATTRIBUTES:
        holders = (store, inner) if hasattr(Store, attribute) else (store.traits, inner.traits)
        new, old = (getattr(holder, attribute) for holder in holders)
        assert (new != old) == (attribute in changed), attribute
    assert str(store) == str(inner)
