"""Planted faults in reading: each accepts what a specification excludes, or reads it otherwise."""

import json
from functools import partial

import numpy as np
from planted_faults import Fault, change, configured, put, replace, scalar, without
from zarr_conformance.corpus.encode import crc32c

FAULTS = []
MEMBERS = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
    "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers",
    "consolidated_metadata",
}  # fmt: skip
CODECS = {"bytes", "gzip", "zstd", "blosc", "crc32c", "transpose", "sharding_indexed"}


def lenient(name, function, hint=""):
    """Plant a change of every metadata document of version 3 before it is read."""

    def before(store, request):
        for key, document in list(store.documents("zarr.json")):
            try:
                changed = function(document)
            except (AttributeError, KeyError, TypeError, ValueError):
                continue  # the change does not apply to a document that is not valid
            # 1 and 1.0 are equal for Python.
            if json.dumps(changed) != json.dumps(document):
                store.put(key, changed)

    FAULTS.append(Fault(name, hint, before=before))


def supplied(member, value):
    """Plant a reader that supplies a member that is missing."""
    lenient(
        f"supplies-{member}", lambda document: {member: value, **document}, "v3-core/array/without"
    )


def converted(name, member, function, hint=""):
    """Plant a reader that converts a member instead of raising an error."""
    lenient(f"converts-{name}", change(member, function), hint)


supplied("zarr_format", 3)

converted("format", "zarr_format", lambda n: 3 if n in ("3", True) else n)
converted("shape", "shape", lambda shape: [int(n) for n in shape])
converted("negative-shape", "shape", lambda shape: [abs(n) for n in shape])
converted(
    "integer-fill",
    "fill_value",
    scalar(float, lambda fill: int(fill) if fill == int(fill) else fill),
    "v3-data-types/int",
)


def without_unknown_codecs(codecs):
    return [
        codec for codec in codecs if (codec["name"] if isinstance(codec, dict) else codec) in CODECS
    ]


unknown = partial(lenient, hint="v3-core/extensions")
unknown("drops-unknown-members", lambda document: without(document, *set(document) - MEMBERS))
lenient("ignores-storage-transformers", replace(storage_transformers=[]))
lenient(
    "ignores-unknown-codecs", change("codecs", without_unknown_codecs), "v3-core/extensions/codecs"
)
lenient(
    "sorts-transposition",
    configured("transpose", change("order", lambda order: np.argsort(order).tolist())),
    "v3-codecs/transpose",
)
lenient(
    "separator-always-slash",
    change("chunk_key_encoding", lambda encoding: encoding["name"]),
    "v3-chunks",
)


def chunks(name, function, hint=""):
    """Plant a change (value, store) of every chunk before it is read."""

    def before(store, request):
        for key in store.chunks():
            store[key] = function(store[key], store)

    FAULTS.append(Fault(name, hint, before=before, operations=("read",)))


def has_codec(store, name):
    return any(f'"{name}"' in json.dumps(document) for _, document in store.documents("zarr.json"))


def with_right_checksum(value, store):
    if not has_codec(store, "crc32c") or has_codec(store, "sharding_indexed") or len(value) < 4:
        return value
    return crc32c(value[:-4])


chunks("checksum-not-verified", with_right_checksum, "v3-codecs/crc32c")
chunks("short-chunks-padded", lambda value, store: value.ljust(8, b"\0"), "v3-codecs/damage")


def results(name, function, hint="", operations=("read",)):
    """Plant a change (result, elements) of what is returned."""
    FAULTS.append(Fault(name, hint, result=function, operations=operations))


def in_result(function):
    return lambda result, elements: (function(result), elements)


def in_floats(function):
    """A change of elements that are floats, of at least four bytes."""

    def changed(result, elements):
        dtype = getattr(elements, "dtype", None)
        is_float = dtype is not None and dtype.kind == "f" and dtype.itemsize >= 4
        return result, function(elements, dtype) if is_float else elements

    return changed


def without_last_member(result):
    members = result.get("members", {})
    return {**result, "members": {name: members[name] for name in sorted(members)[:-1]}}


opened = partial(results, operations=("open", "read"))
opened("attributes-lost", in_result(put(attributes={})), "attributes")
results(
    "nan-bits-lost",
    in_floats(lambda elements, dtype: np.where(np.isnan(elements), dtype.type(np.nan), elements)),
    "v3-data-types",
)
results("last-member-not-listed", in_result(without_last_member), operations=("list",))
