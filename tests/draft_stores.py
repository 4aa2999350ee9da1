"""Hierarchies of the drafts, written without the library."""

import json

import numpy as np
import zarr_core as zarr
from zarr_core.extension import Location
from zarr_core.registry.resolve import format_named
from zarr_core.stores.memory import MemoryStore

SPEC = "https://purl.org/zarr/spec/"
EXTENSION = "http://example.org/zarr/extension/foo"
JSON_ENCODING = {"type": "json", "metadata_key_suffix": ".json"}
TEXT = {
    "zarr_format": f"{SPEC}core/3.0",
    "metadata_encoding": JSON_ENCODING,
    "extensions": [],
}
DIALECT = {
    "zarr_format": f"{SPEC}protocol/core/3.0",
    "metadata_encoding": f"{SPEC}protocol/core/3.0",
    "metadata_key_suffix": ".json",
    "extensions": [],
}
ARRAY = {
    "shape": [4, 6],
    "data_type": "int32",
    "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "/"},
    "chunk_memory_layout": "C",
    "fill_value": 0,
    "extensions": [],
    "attributes": {},
}
OLD_ARRAY = {**ARRAY, "data_type": "<i4"}


def encoded(document):
    return document if isinstance(document, bytes) else json.dumps(document).encode()


def store_of(documents, entry=TEXT):
    """A store in memory with the given documents."""
    store = MemoryStore()
    if entry is not None:
        store.set("zarr.json", encoded(entry))
    for key, document in documents.items():
        store.set(key, encoded(document))
    return store


def array_store(entry=TEXT, **changes):
    """A store with the array ``a``; None removes a member."""
    base, key = (
        (OLD_ARRAY, "meta/root/a.array.json")
        if "protocol" in entry["zarr_format"]
        else (ARRAY, "meta/a.array.json")
    )
    document = {name: value for name, value in {**base, **changes}.items() if value is not ...}
    return store_of({key: document}, entry)


def open_a(store, mode="r+", **options):
    return zarr.open(store, mode=mode, path="a", **options)


def metadata_of(name="draft", **changes):
    """The metadata of an array document, without a store."""
    base = ARRAY if name == "draft" else OLD_ARRAY
    document = {key: value for key, value in {**base, **changes}.items() if value is not ...}
    return format_named(name).from_json({"array": document}, Location("test"))


def document_of(store, key):
    return json.loads(bytes(store.get(key)))


def ramp(shape, dtype="<i4"):
    return np.arange(int(np.prod(shape)), dtype=dtype).reshape(shape)
