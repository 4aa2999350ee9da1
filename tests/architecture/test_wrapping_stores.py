"""Stores that wrap a store pass on every operation and attribute of the interface."""

import importlib
import inspect
import pkgutil
from contextlib import suppress

import numpy as np
import pytest
import zarr_core as zarr
import zarr_stores
from zarr_core.extension import Store, WrapperStore
from zarr_core.stores.memory import MemoryStore
from zarr_sharding.transformer.sharded_store import ShardedStore, sharded
from zarr_stores.cache import LRUCacheStore
from zarr_stores.chunk_cache import ChunkCacheStore
from zarr_stores.consolidated import ConsolidatedMetadataStore
from zarr_stores.disk_cache import DiskCacheStore
from zarr_stores.manifest import create_manifest
from zarr_stores.manifest_store import ManifestStore
from zarr_stores.verified_store import VerifiedStore

# A wrapper that replaces one of the operations of a group must replace all: the others would
# reach the inner store without it.
GROUPS = {
    "values": {"get", "get_partial_values", "get_into", "open_value"},
    "states": {"exists", "getsize"},
    "changes": {
        "set", "set_partial_values", "update", "erase", "erase_values", "erase_prefix",
        "move_prefix",
    },
    "listings": {"list_prefix", "list_sizes", "list", "list_dir"},
}  # fmt: skip
# WrapperStore derives these from an operation that is replaced.
DERIVED = {"get_limited", "open_again", "set_values"}
# Wrappers replace these or not, independently of others.
ALONE = {"generation", "discard_cached", "flush", "close", "file_layout", "chunk_reader", "url"}
EXCEPTIONS = {
    # It does not lock all keys below a prefix, as documented.
    ("SynchronizedStore", "changes"): {"erase_prefix", "move_prefix"},
    # Sizes are not cached.
    ("LRUCacheStore", "listings"): {"list_sizes"},
}

# Wrappers of other distributions, and the operations for which the default of the interface, which
# calls others, is right.
OTHERS = {
    ShardedStore: {
        # Keys of chunks are not those of stored values.
        "open_again", "set_values", "move_prefix", "list", "list_sizes",
        "file_layout", "chunk_reader",
    },
}  # fmt: skip


def operations():
    return {
        name
        for name, member in vars(Store).items()
        if name[0] != "_" and (inspect.isfunction(member) or isinstance(member, property))
    }


def attributes():
    return {
        name
        for name, member in vars(Store).items()
        if name[0] != "_"
        and not callable(member)
        and not isinstance(member, property | classmethod)
    }


def wrappers():
    for module in pkgutil.iter_modules(zarr_stores.__path__):
        importlib.import_module(f"zarr_stores.{module.name}")
    with suppress(ModuleNotFoundError):
        importlib.import_module("zarr_xarray.append_lock")
    found, left = set(), [WrapperStore]
    while left:
        for kind in left.pop().__subclasses__():
            if kind.__module__.startswith(("zarr_stores.", "zarr_xarray.")) and kind not in found:
                found.add(kind)
                left.append(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def replaced(kind):
    before = kind.__mro__[: kind.__mro__.index(WrapperStore)]
    return {name for base in before for name in vars(base)}


def test_every_operation_is_classified():
    assert operations() == set.union(*GROUPS.values()) | DERIVED | ALONE


@pytest.mark.parametrize("kind", wrappers(), ids=lambda kind: kind.__name__)
def test_wrappers_replace_all_operations_of_a_group(kind):
    for group, names in GROUPS.items():
        missing = names - replaced(kind)
        if missing != names:
            assert missing == EXCEPTIONS.get((kind.__name__, group), set()), group


def test_wrappers_of_other_distributions_define_every_operation():
    for kind, defaults in OTHERS.items():
        assert operations() - vars(kind).keys() == defaults, kind


class Odd(MemoryStore):
    """A store whose attributes all differ from those of the interface."""

    supports_listing = False
    supports_erasing = False
    metadata_first = True
    supports_consolidated_metadata = False
    max_concurrency = 77
    batch_nbytes = 5
    opening_nbytes = 6
    gap_bytes = 7
    realm = "elsewhere"

    def __str__(self):
        return "memory (elsewhere)"


def odd_store():
    group = zarr.create_group({})
    group.create_array("a", data=np.arange(4))
    zarr.consolidate_metadata(group)
    return Odd(dict(group.store._mapping))


WRAPPED = {
    "WrapperStore": (WrapperStore, set()),
    "LRUCacheStore": (lambda store: LRUCacheStore(store, 1000), set()),
    "ChunkCacheStore": (lambda store: ChunkCacheStore(store, 1000), set()),
    "ManifestStore": (ManifestStore, set()),
    "ConsolidatedMetadataStore": (
        ConsolidatedMetadataStore,
        {"supports_listing"},
    ),
    "VerifiedStore": (
        lambda store: VerifiedStore(store, create_manifest(MemoryStore(store._mapping))),
        {"supports_listing"},
    ),
    # Its values are on a disk.
    "DiskCacheStore": (None, {"in_memory"}),
    # The values of chunks are not those of the store.
    "ShardedStore": (lambda store: sharded(store, "a/", (2,)), {"batch_nbytes"}),
    "FencedStore": (None, {"batch_nbytes"}),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_attributes_are_those_of_the_inner_store(name, tmp_path):
    wrap, changed = WRAPPED[name]
    if name == "DiskCacheStore":
        wrap = lambda store: DiskCacheStore(store, tmp_path, 10**6)  # noqa: E731 - needs a directory
    if name == "FencedStore":
        append_lock = pytest.importorskip("zarr_xarray.append_lock")
        wrap = lambda store: append_lock.FencedStore(store, None)  # noqa: E731 - optional
    inner = odd_store()
    store = wrap(inner)
    for attribute in attributes() - {"read_only"} - changed:
        value = getattr(inner, attribute)
        assert attribute == "in_memory" or value != getattr(Store, attribute), attribute
        assert getattr(store, attribute) == value, attribute
    for attribute in changed:
        assert getattr(store, attribute) != getattr(inner, attribute), attribute
    assert str(store) == str(inner)
