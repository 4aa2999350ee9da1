"""Planted faults in reading: each accepts what a specification excludes, or reads it otherwise."""

import json

import numpy as np
from planted_faults import Fault
from zarr_conformance.corpus.encode import crc32c

FAULTS = []


def lenient(name, clause, hint=""):
    """Register a change of every metadata document of version 3 before it is read."""

    def register(function):
        def before(store, request):
            for key, document in list(store.documents("zarr.json")):
                changed = function(dict(document))
                # 1 and 1.0 are equal for Python.
                if changed is not None and json.dumps(changed) != json.dumps(document):
                    store.put(key, changed)

        FAULTS.append(Fault(name, clause, hint, before=before))
        return function

    return register


def supplied(member, value):
    """A reader that supplies a member that is missing."""

    @lenient(f"supplies-{member}", f"{member} is required", "v3-core/array/without")
    def _(document):
        return {member: value, **document}


supplied("zarr_format", 3)
supplied("node_type", "array")
supplied("fill_value", 0)
supplied("codecs", [{"name": "bytes", "configuration": {"endian": "little"}}])
supplied("chunk_key_encoding", "default")


def converted(name, clause, member, convert, hint=""):
    """A reader that converts a member instead of refusing it."""

    @lenient(f"converts-{name}", clause, hint)
    def _(document):
        try:
            return {**document, member: convert(document[member])}
        except (KeyError, TypeError, ValueError):
            return None


converted(
    "format",
    "zarr_format is the integer 3",
    "zarr_format",
    lambda it: 3 if it in ("3", True) else it,
)
converted("shape", "shape is a list of integers", "shape", lambda it: [int(n) for n in it])
converted("negative-shape", "lengths are not negative", "shape", lambda it: [abs(n) for n in it])
converted(
    "names",
    "names are strings or null",
    "dimension_names",
    lambda it: [n if n is None else str(n) for n in it],
)
converted(
    "attributes",
    "attributes is an object",
    "attributes",
    lambda it: it if isinstance(it, dict) else {},
)
converted(
    "integer-fill",
    "integers have no fraction",
    "fill_value",
    lambda it: int(it) if type(it) is float and it == int(it) else it,
    "v3-data-types/int",
)
converted(
    "text-fill",
    "numbers are not strings",
    "fill_value",
    lambda it: int(it) if isinstance(it, str) and it.isdigit() else it,
)
converted(
    "bool-fill",
    "bool is true or false",
    "fill_value",
    lambda it: bool(it) if it in (0, 1) else it,
    "v3-data-types/bool",
)


@lenient("drops-unknown-members", "unknown members must be understood", "v3-core/extensions")
def _(document):
    known = {
        "zarr_format",
        "node_type",
        "shape",
        "data_type",
        "chunk_grid",
        "chunk_key_encoding",
        "fill_value",
        "codecs",
        "attributes",
        "dimension_names",
        "storage_transformers",
        "consolidated_metadata",
    }
    return {name: it for name, it in document.items() if name in known}


@lenient(
    "drops-falsy-unknown-members", "only must_understand false may be ignored", "v3-core/extensions"
)
def _(document):
    return {
        name: it
        for name, it in document.items()
        if not isinstance(it, dict) or it.get("must_understand", True) not in (0, None)
    }


@lenient("drops-null-unknown-members", "null is not must_understand false", "v3-core/extensions")
def _(document):
    names = {"fill_value"}
    return {name: it for name, it in document.items() if it is not None or name in names}


@lenient("ignores-storage-transformers", "unknown storage transformers must be understood")
def _(document):
    return {**document, "storage_transformers": []} if "storage_transformers" in document else None


@lenient("ignores-unknown-codecs", "unknown codecs must be understood", "v3-core/extensions/codecs")
def _(document):
    known = {"bytes", "gzip", "zstd", "blosc", "crc32c", "transpose", "sharding_indexed"}
    codecs = document.get("codecs")
    if not isinstance(codecs, list):
        return None
    kept = [it for it in codecs if (it.get("name") if isinstance(it, dict) else it) in known]
    return {**document, "codecs": kept}


@lenient("sorts-transposition", "order is the permutation of encoding", "v3-codecs/transpose")
def _(document):
    def inverse(it):
        order = it["configuration"]["order"]
        return {
            "name": "transpose",
            "configuration": {"order": [int(n) for n in np.argsort(order)]},
        }

    try:
        codecs = [inverse(it) if it["name"] == "transpose" else it for it in document["codecs"]]
    except (KeyError, TypeError, ValueError):
        return None
    return {**document, "codecs": codecs}


@lenient("reads-big-as-little", "endian is the byte order", "v3-data-types")
def _(document):
    try:
        return json.loads(json.dumps(document).replace('"big"', '"little"'))
    except ValueError:
        return None


@lenient("separator-always-slash", "the separator is that of the metadata", "v3-chunks")
def _(document):
    try:
        return {**document, "chunk_key_encoding": document["chunk_key_encoding"]["name"]}
    except (KeyError, TypeError):
        return None


@lenient(
    "index-always-at-the-end", "index_location is the place of the index", "v3-codecs/sharding"
)
def _(document):
    return json.loads(
        json.dumps(document).replace('"index_location": "start"', '"index_location": "end"')
    )


def chunks(name, clause, hint=""):
    """Register a change of every chunk before it is read."""

    def register(function):
        def before(store, request):
            for key in store.chunks():
                store[key] = function(store[key], store, key)

        FAULTS.append(Fault(name, clause, hint, before=before, operations=("read",)))
        return function

    return register


def has_codec(store, name):
    return any(f'"{name}"' in json.dumps(document) for _, document in store.documents("zarr.json"))


@chunks("checksum-not-verified", "a wrong checksum is an error", "v3-codecs/crc32c")
def _(value, store, key):
    if not has_codec(store, "crc32c") or has_codec(store, "sharding_indexed") or len(value) < 4:
        return value
    return crc32c(value[:-4])


@chunks("short-chunks-padded", "a chunk has the size of its elements", "v3-codecs/damage")
def _(value, store, key):
    return value.ljust(8, b"\0") if len(value) < 8 else value


def results(name, clause, function, hint="", operations=("read",)):
    FAULTS.append(Fault(name, clause, hint, result=function, operations=operations))


def without_attributes(told, elements):
    return {**told, "attributes": {}}, elements


def rounded(told, elements):
    return json.loads(json.dumps(told), parse_int=lambda it: int(float(it))), elements


def quieted(told, elements):
    if (
        getattr(elements, "dtype", None) is None
        or elements.dtype.kind != "f"
        or elements.itemsize < 4
    ):
        return told, elements
    return told, np.where(np.isnan(elements), np.array(np.nan, elements.dtype), elements)


def positive_zeros(told, elements):
    if getattr(elements, "dtype", None) is None or elements.dtype.kind != "f":
        return told, elements
    return told, elements + np.array(0.0, elements.dtype)


def without_names(told, elements):
    return {**told, "dimension_names": None}, elements


def without_last_member(told, elements):
    members = told.get("members", {})
    return {**told, "members": {name: members[name] for name in sorted(members)[:-1]}}, elements


results(
    "attributes-lost",
    "attributes are read",
    without_attributes,
    "attributes",
    operations=("open", "read"),
)
results(
    "attributes-rounded", "integers are exact", rounded, "attributes", operations=("open", "read")
)
results("nan-bits-lost", "the bits of NaN are kept", quieted, "v3-data-types")
results("negative-zeros-lost", "-0.0 is kept", positive_zeros, "v3-data-types")
results(
    "names-lost", "dimension names are read", without_names, "names", operations=("open", "read")
)
results(
    "last-member-not-listed", "all members are listed", without_last_member, operations=("list",)
)
