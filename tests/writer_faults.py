"""Planted faults in writing: each is one clause of a specification, violated in the stored bytes."""

import base64
import json
import math
import re
import struct
import zlib

import numpy as np
from numcodecs import blosc, zstd
from planted_faults import Fault, is_document
from zarr_conformance.corpus.encode import crc32c, gzip

FAULTS = []
EMPTY = 2**64 - 1


def fault(name, clause, hint="", operations=("create",)):
    """Register a function that changes the store after an operation."""

    def register(function):
        FAULTS.append(Fault(name, clause, hint, after=function, operations=operations))
        return function

    return register


def in_documents(*names, operations=("create",)):
    """Register a function that changes each metadata document with one of these names."""

    def named(name, clause, hint=""):
        def register(function):
            def after(store, request):
                for key, document in list(store.documents(*names)):
                    changed = function(document)
                    if changed is not None:
                        store.put(key, changed)

            FAULTS.append(Fault(name, clause, hint, after=after, operations=operations))
            return function

        return register

    return named


v3 = in_documents("zarr.json")
v2 = in_documents(".zarray")
draft = in_documents(".array.json")


def is_array(document):
    return document.get("node_type") == "array"


def without(document, *names):
    return {name: it for name, it in document.items() if name not in names}


def drop(register, member, name, clause, hint=""):
    register(name, clause, hint)(
        lambda document: without(document, member) if member in document else None
    )


# --- version 3: the members of the metadata ---

for member in ("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "codecs", "fill_value", "chunk_key_encoding"):  # fmt: skip
    drop(v3, member, f"v3-without-{member}", f"array metadata must have {member}")
drop(v3, "dimension_names", "v3-without-dimension-names", "dimension_names are stored", "names")
drop(v3, "attributes", "v3-without-attributes", "attributes are stored", "attributes")


@v3("v3-format-is-a-string", "zarr_format is the integer 3")
def _(document):
    return {**document, "zarr_format": "3"}


@v3("v3-format-is-a-fraction", "zarr_format is the integer 3, not 3.0")
def _(document):
    return {**document, "zarr_format": 3.0}


@v3("v3-shape-as-fractions", "shape is a list of integers")
def _(document):
    return (
        {**document, "shape": [float(it) for it in document["shape"]]}
        if document.get("shape")
        else None
    )


@v3("v3-shape-reversed", "shape has the lengths in the order of the dimensions")
def _(document):
    return {**document, "shape": document.get("shape", [])[::-1]}


@v3("v3-fill-value-null", "fill_value is in a form of the data type")
def _(document):
    return {**document, "fill_value": None} if is_array(document) else None


@v3("v3-unknown-member", "unknown members must be understood unless must_understand is false")
def _(document):
    return {**document, "written_by": "me"}


@v3("v3-group-with-array-members", "members of arrays do not belong to groups")
def _(document):
    return {**document, "shape": []} if document.get("node_type") == "group" else None


@v3("v3-group-attributes-dropped", "attributes of groups are stored", "attributes")
def _(document):
    return without(document, "attributes") if document.get("node_type") == "group" else None


@v3("v3-chunk-shape-reversed", "chunk_shape is in the order of the dimensions")
def _(document):
    if document.get("chunk_grid", {}).get("name") != "regular":
        return None
    lengths = document["chunk_grid"]["configuration"]["chunk_shape"][::-1]
    return {
        **document,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": lengths}},
    }


@v3("v3-grid-without-configuration", "the regular grid requires chunk_shape")
def _(document):
    return {**document, "chunk_grid": {"name": "regular"}} if is_array(document) else None


@v3("v3-separator-omitted", "a separator that is not the default is stored")
def _(document):
    encoding = document.get("chunk_key_encoding", {})
    other = {"default": ".", "v2": "/"}.get(encoding.get("name"))
    if other and encoding.get("configuration", {}).get("separator") == other:
        return {**document, "chunk_key_encoding": {"name": encoding["name"]}}
    return None


@v3("v3-key-encoding-swapped", "the chunk key encoding is stored as given")
def _(document):
    if document.get("chunk_key_encoding", {}).get("name") != "v2":
        return None
    return {**document, "chunk_key_encoding": {**document["chunk_key_encoding"], "name": "default"}}


def typed(document, *types):
    name = document.get("data_type")
    return isinstance(name, str) and re.fullmatch("|".join(types), name) is not None


@v3("v3-data-type-alias", "core data types have the names of the specification")
def _(document):
    alias = {"int32": "<i4", "float64": "<f8"}.get(str(document.get("data_type")))
    return alias and {**document, "data_type": alias}


@v3("v3-data-type-unsigned", "the data type is stored as given")
def _(document):
    return {**document, "data_type": "uint64"} if document.get("data_type") == "int64" else None


def float_fill(document, change):
    """Change the float or the parts of the complex number that is the fill value."""
    if not typed(document, "float.*", "complex.*"):
        return None
    fill = document["fill_value"]
    new = [change(it) for it in fill] if isinstance(fill, list) else change(fill)
    return {**document, "fill_value": new}


@v3("v3-fill-nan-payload-lost", "the bits of a NaN are stored")
def _(document):
    return float_fill(
        document, lambda it: "NaN" if isinstance(it, str) and it.startswith("0x") else it
    )


@v3("v3-fill-nan-sign-lost", "the sign of a NaN is stored")
def _(document):
    return float_fill(
        document,
        lambda it: f"0x7{it[3:]}" if isinstance(it, str) and it.startswith("0xf") else it,
    )


@v3("v3-fill-negative-zero-lost", "-0.0 is not 0.0")
def _(document):
    return float_fill(document, lambda it: 0.0 if it == 0 and not isinstance(it, bool) else it)


@v3("v3-fill-infinity-sign-lost", "-Infinity is not Infinity")
def _(document):
    return float_fill(document, lambda it: "Infinity" if it == "-Infinity" else it)


@v3("v3-fill-infinity-as-number", "infinity is a string")
def _(document):
    return float_fill(document, lambda it: 1.7976931348623157e308 if it == "Infinity" else it)


@v3("v3-fill-nan-as-null", "NaN is a string")
def _(document):
    return float_fill(document, lambda it: None if it == "NaN" else it)


@v3("v3-fill-nan-token", "metadata is JSON; NaN is a string")
def _(document):
    return float_fill(document, lambda it: math.nan if it == "NaN" else it)


@v3("v3-fill-rounded-to-float32", "the fill value of float64 is exact")
def _(document):
    if not typed(document, "float64", "complex128"):
        return None
    return float_fill(
        document,
        lambda it: float(np.float32(it)) if isinstance(it, float) and abs(it) < 1e38 else it,
    )


@v3("v3-fill-rounded-to-six-digits", "the fill value is exact")
def _(document):
    return float_fill(document, lambda it: float(f"{it:.6g}") if isinstance(it, float) else it)


@v3("v3-fill-subnormal-flushed", "subnormal fill values are exact")
def _(document):
    return float_fill(
        document, lambda it: 0.0 if isinstance(it, float) and 0 < abs(it) < 2.3e-308 else it
    )


@v3("v3-fill-integer-as-float", "the fill value of an integer is exact")
def _(document):
    if not typed(document, "u?int64"):
        return None
    return {**document, "fill_value": int(float(document["fill_value"]))}


@v3("v3-fill-integer-with-fraction", "the fill value of an integer has no fraction")
def _(document):
    if not typed(document, "u?int(8|16|32)"):
        return None
    return {**document, "fill_value": float(document["fill_value"])}


@v3("v3-fill-wraps", "fill values of unsigned integers are not negative")
def _(document):
    fill = document.get("fill_value")
    if not typed(document, "uint8") or fill < 128:
        return None
    return {**document, "fill_value": fill - 256}


@v3("v3-fill-bool-as-number", "the fill value of bool is true or false")
def _(document):
    return (
        {**document, "fill_value": int(document["fill_value"])} if typed(document, "bool") else None
    )


@v3("v3-fill-complex-real-only", "the fill value of a complex number has two parts")
def _(document):
    return (
        {**document, "fill_value": document["fill_value"][0]}
        if typed(document, "complex.*")
        else None
    )


@v3("v3-fill-complex-swapped", "the real part is first")
def _(document):
    return (
        {**document, "fill_value": document["fill_value"][::-1]}
        if typed(document, "complex.*")
        else None
    )


@v3("v3-fill-raw-reversed", "the bytes of a raw fill value are in order")
def _(document):
    return (
        {**document, "fill_value": document["fill_value"][::-1]}
        if typed(document, "r[0-9]+")
        else None
    )


@v3("v3-fill-raw-as-number", "the fill value of raw data is a list of bytes")
def _(document):
    return {**document, "fill_value": 0} if typed(document, "r[0-9]+") else None


def configured(document, name, change):
    """Change the configurations of a codec, at any depth."""

    def walk(item):
        if isinstance(item, list):
            return [walk(it) for it in item]
        if isinstance(item, dict):
            item = {key: walk(it) for key, it in item.items()}
            if item.get("name") == name:
                new = change(dict(item.get("configuration", {})))
                return {"name": name, "configuration": new} if new is not None else name
        return item

    return {**document, "codecs": walk(document["codecs"])} if "codecs" in document else None


@v3("v3-endian-omitted", "endian is required for elements of several bytes")
def _(document):
    if typed(document, "bool", "u?int8", "r.*"):
        return None
    return configured(document, "bytes", lambda it: without(it, "endian"))


@v3("v3-endian-always-little", "endian is the byte order of the bytes")
def _(document):
    return configured(document, "bytes", lambda it: {**it, "endian": "little"} if it else it)


@v3("v3-codecs-reversed", "codecs are listed in the order of encoding")
def _(document):
    return {**document, "codecs": document["codecs"][::-1]} if is_array(document) else None


@v3("v3-blosc-typesize-omitted", "typesize is required with a shuffle")
def _(document):
    return configured(document, "blosc", lambda it: without(it, "typesize"))


@v3("v3-blosc-shuffle-as-number", "shuffle is a string")
def _(document):
    return configured(document, "blosc", lambda it: {**it, "shuffle": 1})


@v3("v3-blosc-cname-default", "cname is stored as given")
def _(document):
    return configured(document, "blosc", lambda it: {**it, "cname": "lz4"})


@v3("v3-blosc-blocksize-omitted", "blocksize is required")
def _(document):
    return configured(document, "blosc", lambda it: without(it, "blocksize"))


@v3("v3-blosc-clevel-default", "clevel is stored as given")
def _(document):
    return configured(document, "blosc", lambda it: {**it, "clevel": 5})


@v3("v3-gzip-level-omitted", "level is required")
def _(document):
    return configured(document, "gzip", lambda it: {})


@v3("v3-gzip-level-default", "level is stored as given")
def _(document):
    return configured(document, "gzip", lambda it: {"level": 5})


@v3("v3-zstd-checksum-forgotten", "checksum is stored if it is true", "zstd")
def _(document):
    return configured(document, "zstd", lambda it: {**it, "checksum": False})


@v3("v3-zstd-level-default", "level is stored as given", "zstd")
def _(document):
    return configured(document, "zstd", lambda it: {**it, "level": 3})


@v3("v3-transpose-order-letter", "order is a list of dimensions", "transpose")
def _(document):
    return configured(
        document,
        "transpose",
        lambda it: {"order": "F"} if it["order"] == sorted(it["order"], reverse=True) else it,
    )


@v3("v3-transpose-order-inverse", "order is the permutation of encoding", "transpose")
def _(document):
    return configured(
        document,
        "transpose",
        lambda it: {"order": sorted(range(len(it["order"])), key=it["order"].__getitem__)},
    )


@v3("v3-sharding-index-location-omitted", "index_location is stored if it is start", "sharding")
def _(document):
    return configured(document, "sharding_indexed", lambda it: without(it, "index_location"))


@v3("v3-sharding-index-codecs-omitted", "index_codecs is required", "sharding")
def _(document):
    return configured(document, "sharding_indexed", lambda it: without(it, "index_codecs"))


@v3("v3-sharding-inner-codecs-omitted", "codecs of inner chunks are required", "sharding")
def _(document):
    return configured(document, "sharding_indexed", lambda it: without(it, "codecs"))


@v3("v3-sharding-chunk-shape-reversed", "the shape of inner chunks is in order", "sharding")
def _(document):
    return configured(
        document, "sharding_indexed", lambda it: {**it, "chunk_shape": it["chunk_shape"][::-1]}
    )


@v3("v3-dimension-names-null-to-empty", "a null name is not the empty string")
def _(document):
    names = document.get("dimension_names")
    return names and {**document, "dimension_names": [it or "" for it in names]}


@v3("v3-dimension-names-reversed", "names are in the order of the dimensions")
def _(document):
    names = document.get("dimension_names")
    return names and {**document, "dimension_names": names[::-1]}


@v3("v3-dimension-names-deduplicated", "names may be equal")
def _(document):
    names = document.get("dimension_names")
    if not names:
        return None
    return {
        **document,
        "dimension_names": [it if it not in names[:n] else None for n, it in enumerate(names)],
    }


def in_attributes(name, clause, change):
    def walk(item):
        if isinstance(item, dict):
            return {key: walk(it) for key, it in item.items()}
        if isinstance(item, list):
            return change([walk(it) for it in item])
        return change(item)

    def changed(document):
        found = document.get("attributes")
        return {**document, "attributes": walk(found)} if isinstance(found, dict) else None

    in_documents("zarr.json", operations=("create", "update"))(
        f"v3-attributes-{name}", clause, "attributes"
    )(changed)

    def after(store, request):
        for key in [it for it in store if it.endswith(".zattrs")]:
            store.put(key, walk(json.loads(store[key])))

    FAULTS.append(
        Fault(
            f"v2-attributes-{name}",
            clause,
            "v2/written/attributes",
            after=after,
            operations=("create", "update"),
        )
    )


def scalar(kind, change):
    return lambda it: change(it) if type(it) is kind else it


in_attributes(
    "integers-rounded", "integers in attributes are exact", scalar(int, lambda it: int(float(it)))
)
in_attributes(
    "floats-rounded", "floats in attributes are exact", scalar(float, lambda it: float(f"{it:.7g}"))
)
in_attributes("bools-as-numbers", "true is not 1", scalar(bool, int))
in_attributes("null-dropped", "null is kept", lambda it: "" if it is None else it)
in_attributes(
    "lists-sorted",
    "the order of lists is kept",
    lambda it: sorted(it, key=str) if isinstance(it, list) else it,
)
in_attributes(
    "characters-lost",
    "strings are Unicode",
    scalar(str, lambda it: it.encode("ascii", "replace").decode()),
)
in_attributes(
    "strings-as-numbers",
    "a string of digits is a string",
    scalar(str, lambda it: int(it) if it.isascii() and it.isdigit() else it),
)


@fault("v3-byte-order-mark", "a JSON text must not begin with a byte order mark")
def _(store, request):
    for key, _document in list(store.documents("zarr.json")):
        store[key] = b"\xef\xbb\xbf" + store[key]


@fault("v3-metadata-utf-16", "JSON is UTF-8")
def _(store, request):
    for key, _document in list(store.documents("zarr.json")):
        store[key] = store[key].decode().encode("utf-16")


@fault("v3-metadata-trailing-comma", "metadata is JSON")
def _(store, request):
    for key, document in list(store.documents("zarr.json")):
        store[key] = json.dumps(document)[:-1].encode() + b",}"


@fault("v3-document-at-the-root", "the key of a document has the path of the node")
def _(store, request):
    key = f"{request['path']}/zarr.json"
    if request["path"] and key in store:
        store["zarr.json"] = store.pop(key)


@fault("v3-document-beside-the-node", "the key of a document is PATH/zarr.json")
def _(store, request):
    key = f"{request['path']}/zarr.json"
    if request["path"] and key in store:
        store[f"{request['path']}.zarr.json"] = store.pop(key)


# --- version 3: the keys of chunks ---


def array_of(store, request):
    """The metadata document of the array of a request, for versions 2 and 3, and its prefix."""
    prefix = f"{request['path']}/" if request["path"] else ""
    for name in ("zarr.json", ".zarray"):
        if prefix + name in store:
            try:
                document = json.loads(store[prefix + name])
            except ValueError:
                continue
            if isinstance(document, dict) and "shape" in document:
                return document, prefix
    return None, prefix


def in_chunks(name, clause, hint="", operations=("create",)):
    """Register a function (value, document, key) that returns the new value of each chunk."""

    def register(function):
        def after(store, request):
            document, prefix = array_of(store, request)
            if document is None:
                return
            for key in store.chunks():
                if key.startswith(prefix):
                    value = function(store[key], document, key[len(prefix) :])
                    if value is None:
                        del store[key]
                    else:
                        store[key] = bytes(value)

        FAULTS.append(Fault(name, clause, hint, after=after, operations=operations))
        return function

    return register


def renamed(name, clause, hint=""):
    """Register a function (key, document) that returns the new key of each chunk."""

    def register(function):
        def after(store, request):
            document, prefix = array_of(store, request)
            if document is None:
                return
            for key in store.chunks():
                if key.startswith(prefix):
                    value = store.pop(key)
                    store[prefix + function(key[len(prefix) :], document)] = value

        FAULTS.append(Fault(name, clause, hint, after=after, operations=("create",)))
        return function

    return register


def encoding_of(document):
    return document.get("chunk_key_encoding", {}).get("name") if "zarr_format" in document else None


@renamed("v3-key-without-c", "keys of the default encoding begin with c")
def _(key, document):
    return re.sub(r"^c[/.]", "", key) if encoding_of(document) == "default" else key


@renamed("v3-key-separator-changed", "the separator is that of the metadata")
def _(key, document):
    return key.replace(".", "/") if encoding_of(document) == "default" else key


@renamed("v3-key-slash-changed", "the separator is that of the metadata")
def _(key, document):
    return key.replace("/", ".") if encoding_of(document) == "default" else key


@renamed("v3-key-c-always-slash", "the separator also follows c")
def _(key, document):
    return f"c/{key[2:]}" if encoding_of(document) == "default" and key.startswith("c.") else key


@renamed("v3-key-coordinates-reversed", "coordinates are in the order of the dimensions")
def _(key, document):
    first, *rest = re.split(r"([/.])", key)
    return (
        "".join([first, *rest[:1], *rest[1:][::-1]]) if encoding_of(document) == "default" else key
    )


@renamed("v3-key-leading-zeros", "coordinates are decimal numbers without leading zeros")
def _(key, document):
    return (
        re.sub(r"\d+", lambda it: it[0].zfill(2), key)
        if encoding_of(document) == "default"
        else key
    )


@renamed("v3-key-of-a-scalar", "the chunk of an array without dimensions is c")
def _(key, document):
    return "c/0" if key == "c" else key


@renamed("v3-key-of-a-scalar-v2", "the chunk of an array without dimensions is 0")
def _(key, document):
    return "c" if key == "0" and encoding_of(document) == "v2" else key


@renamed("v3-key-v2-with-c", "keys of the v2 encoding have no prefix")
def _(key, document):
    return f"c/{key}" if encoding_of(document) == "v2" else key


@renamed("v3-key-v2-separator", "the separator of the v2 encoding is that of the metadata")
def _(key, document):
    return key.replace("/", ".") if encoding_of(document) == "v2" else key


@fault("v3-chunks-without-path", "chunk keys have the path of the array")
def _(store, request):
    document, prefix = array_of(store, request)
    if document is not None and document["zarr_format"] == 3 and prefix:
        for key in store.chunks():
            store[key.removeprefix(prefix)] = store.pop(key)


@fault("v3-temporary-key-left", "no other keys are written")
def _(store, request):
    document, prefix = array_of(store, request)
    if document is not None and document["zarr_format"] == 3:
        store[f"{prefix}c/.tmp-1"] = b"x"


# --- version 3: the bytes of chunks ---


def chain(document):
    return [
        (it, {}) if isinstance(it, str) else (it["name"], it.get("configuration", {}))
        for it in document.get("codecs", ())
    ]


def only_bytes(document):
    """Whether chunks are the elements, in the byte order that is returned."""
    codecs = chain(document)
    return (
        len(codecs) == 1 and codecs[0][0] == "bytes" and isinstance(document.get("data_type"), str)
    )


def dtype_of(document):
    name = document.get("data_type")
    if not only_bytes(document) or not re.fullmatch(
        r"bool|u?int\d+|float\d+|complex\d+", str(name)
    ):
        return None
    try:
        dtype = np.dtype(name)
    except TypeError:
        return None
    return dtype.newbyteorder(">" if chain(document)[0][1].get("endian") == "big" else "<")


def elements(name, clause, *kinds, hint="v3-data-types"):
    """Register a function that changes the elements of chunks of only the codec bytes."""

    def register(function):
        @in_chunks(name, clause, hint)
        def _(value, document, key):
            dtype = dtype_of(document)
            if dtype is None or dtype.kind not in kinds:
                return value
            return function(np.frombuffer(value, dtype).copy(), document)

        return function

    return register


@elements("v3-bytes-big-endian-written-little", "endian big is big-endian", "i", "u", "f", "c")
def _(array, document):
    big = chain(document)[0][1].get("endian") == "big"
    return array.byteswap().tobytes() if big else array.tobytes()


@elements(
    "v3-bytes-little-endian-written-big", "endian little is little-endian", "i", "u", "f", "c"
)
def _(array, document):
    little = chain(document)[0][1].get("endian") == "little"
    return array.byteswap().tobytes() if little else array.tobytes()


@elements("v3-complex-swapped-as-a-whole", "each part of a complex number is swapped", "c")
def _(array, document):
    if chain(document)[0][1].get("endian") != "big":
        return array.tobytes()
    return array.astype(array.dtype.newbyteorder("<")).view(f"V{array.itemsize}").tobytes()[::-1]


@elements("v3-complex-parts-swapped", "the real part is first", "c")
def _(array, document):
    part = np.dtype(f"{array.dtype.byteorder}f{array.itemsize // 2}")
    return array.view(part).reshape(-1, 2)[:, ::-1].tobytes()


def bits_of(array):
    return array.view(f"{array.dtype.byteorder}u{array.itemsize}")


@elements("v3-negative-zero-lost", "-0.0 is stored as -0.0", "f")
def _(array, document):
    bits = bits_of(array)
    bits[bits == np.array(1 << (8 * array.itemsize - 1), f"u{array.itemsize}")] = 0
    return array.tobytes()


@elements("v3-negative-zero-of-parts-lost", "-0.0 in a complex number is stored as -0.0", "c")
def _(array, document):
    parts = array.view(f"{array.dtype.byteorder}f{array.itemsize // 2}")
    parts[parts == 0] = 0.0
    return array.tobytes()


@elements("v3-nan-payload-lost", "the bits of NaN elements are stored", "f")
def _(array, document):
    array[np.isnan(array)] = np.nan
    return array.tobytes()


@elements("v3-signaling-nan-quieted", "the bits of signaling NaN elements are stored", "f")
def _(array, document):
    quiet = {2: 0x200, 4: 0x400000, 8: 0x8000000000000}[array.itemsize]
    where = np.isnan(array)
    bits = bits_of(array)
    bits[where] |= np.array(quiet, f"u{array.itemsize}")
    return array.tobytes()


@elements("v3-subnormals-flushed", "subnormal elements are stored", "f")
def _(array, document):
    small = np.finfo(array.dtype.newbyteorder("=")).tiny
    array[(array != 0) & (np.abs(array) < small)] = 0
    return array.tobytes()


@elements("v3-float64-through-float32", "float64 is exact", "f")
def _(array, document):
    if array.itemsize != 8:
        return array.tobytes()
    with np.errstate(all="ignore"):
        return array.astype("f4").astype(array.dtype).tobytes()


@elements("v3-integers-through-float64", "64-bit integers are exact", "i", "u")
def _(array, document):
    if array.itemsize != 8:
        return array.tobytes()
    with np.errstate(all="ignore"):
        return array.astype("f8").astype(array.dtype).tobytes()


@in_chunks("v3-bool-as-255", "true is stored as 1", "v3-data-types/bool")
def _(value, document, key):
    return (
        value.replace(b"\1", b"\xff")
        if document.get("data_type") == "bool" and only_bytes(document)
        else value
    )


@in_chunks("v3-raw-swapped", "raw elements have no byte order", "v3-data-types/raw")
def _(value, document, key):
    name = str(document.get("data_type"))
    if not re.fullmatch(r"r\d+", name) or not only_bytes(document):
        return value
    size = int(name[1:]) // 8
    return b"".join(value[at : at + size][::-1] for at in range(0, len(value), size))


def grid_of(document):
    grid = document.get("chunk_grid", {})
    return grid.get("configuration", {}).get("chunk_shape") if isinstance(grid, dict) else None


def places(key):
    return [int(it) for it in re.findall(r"\d+", key)]


@in_chunks("v3-edge-chunks-truncated", "chunks at the edge have the full shape", "v3-chunks")
def _(value, document, key):
    dtype, lengths = dtype_of(document), grid_of(document)
    at = places(key)
    if dtype is None or not lengths or len(at) != len(lengths):
        return value
    array = np.frombuffer(value, dtype).reshape(lengths)
    part = tuple(
        slice(0, n - k * length)
        for n, k, length in zip(document["shape"], at, lengths, strict=True)
    )
    return array[part].tobytes()


@in_chunks("v3-chunks-in-fortran-order", "elements are in C order", "v3-chunks")
def _(value, document, key):
    dtype, lengths = dtype_of(document), grid_of(document)
    if dtype is None or not lengths:
        return value
    return np.frombuffer(value, dtype).reshape(lengths).tobytes("F")


@in_chunks("v3-last-chunk-forgotten", "every chunk is stored", "v3-chunks")
def _(value, document, key):
    lengths, at = grid_of(document), places(key)
    if not lengths or not at or len(at) != len(lengths):
        return value
    last = [-(-n // length) - 1 for n, length in zip(document["shape"], lengths, strict=True)]
    return None if at == last and any(at) else value


def erased_if(name, clause, is_empty, hint="v3-data-types"):
    """A writer that does not store chunks that it takes for empty."""

    @in_chunks(name, clause, hint)
    def _(value, document, key):
        dtype = dtype_of(document)
        if dtype is None:
            return value
        return None if is_empty(np.frombuffer(value, dtype), document["fill_value"]) else value


erased_if(
    "v3-negative-zeros-taken-for-empty",
    "-0.0 is not the fill value 0.0",
    lambda array, fill: (
        array.dtype.kind in "fc"
        and not isinstance(fill, str)
        and fill in (0, [0, 0])
        and not array.any()
    ),
)
erased_if(
    "v3-zeros-taken-for-empty",
    "0.0 is not the fill value -0.0",
    lambda array, fill: (
        array.dtype.kind == "f"
        and isinstance(fill, float)
        and math.copysign(1, fill) < 0
        and not array.any()
    ),
)
erased_if(
    "v3-nans-taken-for-empty",
    "a NaN with other bits is not the fill value",
    lambda array, fill: array.dtype.kind == "f" and fill == "NaN" and bool(np.isnan(array).all()),
)
erased_if(
    "v3-hex-nans-taken-for-empty",
    "the NaN is not the fill value with other bits",
    lambda array, fill: (
        array.dtype.kind == "f" and str(fill).startswith("0x7f") and bool(np.isnan(array).all())
    ),
)
erased_if(
    "v3-zeros-always-taken-for-empty",
    "only the fill value is not stored",
    lambda array, fill: not array.any(),
    "v3-chunks",
)
erased_if(
    "v3-first-element-decides-emptiness",
    "a chunk is empty if all elements are the fill value",
    lambda array, fill: array.dtype.kind in "iu" and array[0] == fill,
    "v3-chunks",
)
erased_if(
    "v3-real-part-decides-emptiness",
    "the imaginary part counts",
    lambda array, fill: array.dtype.kind == "c" and not array.real.any(),
)


def coded(name, codec, clause, hint, last_only=True):
    """Register a function (value, configuration) for chunks of which a codec is the last one."""

    def register(function):
        @in_chunks(name, clause, hint)
        def _(value, document, key):
            codecs = chain(document)
            if not codecs or codecs[-1][0] != codec:
                return value
            return function(value, codecs[-1][1])

        return function

    return register


@coded("v3-gzip-as-zlib", "gzip", "gzip is the container of RFC 1952", "gzip")
def _(value, configuration):
    return zlib.compress(zlib.decompress(value, 31))


@coded("v3-gzip-as-deflate", "gzip", "gzip is the container of RFC 1952", "gzip")
def _(value, configuration):
    packer = zlib.compressobj(5, zlib.DEFLATED, -15)
    return packer.compress(zlib.decompress(value, 31)) + packer.flush()


@coded("v3-gzip-trailing-bytes", "gzip", "nothing follows the last member", "gzip")
def _(value, configuration):
    return value + b"\0\0"


@coded("v3-gzip-level-ignored", "gzip", "level 0 does not compress", "gzip")
def _(value, configuration):
    return gzip(zlib.decompress(value, 31), 9) if configuration["level"] == 0 else value


@coded("v3-gzip-never-compresses", "gzip", "level 9 compresses", "gzip")
def _(value, configuration):
    return gzip(zlib.decompress(value, 31), 0)


@coded("v3-gzip-crc-zero", "gzip", "the checksum of RFC 1952 is stored", "gzip")
def _(value, configuration):
    return value[:-8] + bytes(4) + value[-4:]


@coded("v3-zstd-checksum-flag-missing", "zstd", "checksum true stores a checksum", "zstd")
def _(value, configuration):
    return zstd.compress(zstd.decompress(value), configuration.get("level", 0), False)


@coded("v3-zstd-checksum-always", "zstd", "checksum false stores no checksum", "zstd")
def _(value, configuration):
    return zstd.compress(zstd.decompress(value), configuration.get("level", 0), True)


@coded("v3-zstd-without-magic-number", "zstd", "frames have the magic number of RFC 8878", "zstd")
def _(value, configuration):
    return value[4:]


@coded("v3-zstd-trailing-bytes", "zstd", "nothing follows the frames", "zstd")
def _(value, configuration):
    return value + b"\0"


SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


def reblosc(value, configuration, **other):
    from numcodecs.blosc import compress

    given = configuration | other
    blosc.set_nthreads(1)
    return compress(
        blosc.decompress(value), given["cname"].encode(), given["clevel"], SHUFFLES[given["shuffle"]],
        given["blocksize"], given.get("typesize", 1),
    )  # fmt: skip


@coded("v3-blosc-typesize-one", "blosc", "the header has the typesize", "blosc")
def _(value, configuration):
    return reblosc(value, configuration, typesize=1)


@coded("v3-blosc-shuffle-forgotten", "blosc", "the header has the shuffle", "blosc")
def _(value, configuration):
    return reblosc(value, configuration, shuffle="noshuffle")


@coded("v3-blosc-bitshuffle-as-shuffle", "blosc", "the header has the bit shuffle", "blosc")
def _(value, configuration):
    return (
        reblosc(value, configuration, shuffle="shuffle")
        if configuration["shuffle"] == "bitshuffle"
        else value
    )


@coded("v3-blosc-other-cname", "blosc", "the header has the compressor", "blosc")
def _(value, configuration):
    return reblosc(
        value, configuration, cname="zlib" if configuration["cname"] != "zlib" else "zstd"
    )


@coded("v3-blosc-blocksize-ignored", "blosc", "the header has the block size", "blosc")
def _(value, configuration):
    return reblosc(value, configuration, blocksize=0 if configuration["blocksize"] else 512)


@coded("v3-blosc-level-zero", "blosc", "clevel above 0 compresses", "blosc")
def _(value, configuration):
    return reblosc(value, configuration, clevel=0)


@coded("v3-blosc-compressed-size-wrong", "blosc", "the header has the compressed size", "blosc")
def _(value, configuration):
    return value + b"\0"


@coded("v3-crc32c-big-endian", "crc32c", "the checksum is little-endian", "crc32c")
def _(value, configuration):
    return value[:-4] + value[-4:][::-1]


@coded("v3-crc32c-is-crc32", "crc32c", "the polynomial is that of CRC-32C", "crc32c")
def _(value, configuration):
    return value[:-4] + struct.pack("<I", zlib.crc32(value[:-4]))


@coded("v3-crc32c-first", "crc32c", "the checksum follows the data", "crc32c")
def _(value, configuration):
    return value[-4:] + value[:-4]


@coded("v3-crc32c-not-inverted", "crc32c", "the checksum is inverted", "crc32c")
def _(value, configuration):
    return value[:-4] + bytes(it ^ 0xFF for it in value[-4:])


@coded("v3-crc32c-missing", "crc32c", "the checksum is stored", "crc32c")
def _(value, configuration):
    return value[:-4]


@in_chunks(
    "v3-transpose-inverse", "the encoded dimension i is the decoded one order[i]", "transpose"
)
def _(value, document, key):
    codecs = chain(document)
    if [it for it, _ in codecs] != ["transpose", "bytes"]:
        return value
    order = codecs[0][1]["order"]
    lengths = grid_of(document)
    item = np.dtype(f"V{len(value) // int(np.prod(lengths))}")
    array = np.frombuffer(value, item).reshape([lengths[n] for n in order])
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return np.ascontiguousarray(array.transpose(inverse).transpose(inverse)).tobytes()


@in_chunks("v3-transpose-forgotten", "chunks are transposed", "transpose")
def _(value, document, key):
    codecs = chain(document)
    if not codecs or codecs[0][0] != "transpose" or codecs[-1][0] != "bytes" or len(codecs) != 2:
        return value
    order = codecs[0][1]["order"]
    lengths = grid_of(document)
    item = np.dtype(f"V{len(value) // int(np.prod(lengths))}")
    array = np.frombuffer(value, item).reshape([lengths[n] for n in order])
    inverse = sorted(range(len(order)), key=order.__getitem__)
    return np.ascontiguousarray(array.transpose(inverse)).tobytes()


@in_chunks("v3-two-transposes-swapped", "transposes are applied in order", "")
def _(value, document, key):
    codecs = chain(document)
    if [it for it, _ in codecs] != ["transpose", "transpose", "bytes"]:
        return value
    first, second = (it["order"] for _, it in codecs[:2])
    lengths = grid_of(document)
    item = np.dtype(f"V{len(value) // int(np.prod(lengths))}")
    once = [lengths[n] for n in first]
    array = np.frombuffer(value, item).reshape([once[n] for n in second])
    decoded = array.transpose(np.argsort(second)).transpose(np.argsort(first))
    return np.ascontiguousarray(decoded.transpose(second).transpose(first)).tobytes()


@in_chunks("v3-codecs-applied-in-reverse", "bytes codecs are applied in order", "v3-codecs/chain")
def _(value, document, key):
    codecs = chain(document)
    if [it for it, _ in codecs] != ["bytes", "gzip", "crc32c"]:
        return value
    return gzip(crc32c(zlib.decompress(value[:-4], 31)))


# --- version 3: shards ---


def shards(name, clause, last="sharding_indexed"):
    """Register a function (shard, layout) for shards without other codecs."""

    def register(function):
        @in_chunks(name, clause, "v3-codecs/sharding")
        def _(value, document, key):
            codecs = chain(document)
            if len(codecs) != 1 or codecs[0][0] != "sharding_indexed":
                return value
            return function(value, Layout(value, codecs[0][1], grid_of(document)))

        return function

    return register


class Layout:
    """The index of a shard, and how to write it again."""

    def __init__(self, value, configuration, lengths):
        self.configuration = configuration
        self.counts = [n // k for n, k in zip(lengths, configuration["chunk_shape"], strict=True)]
        count = int(np.prod(self.counts))
        index = chain({"codecs": configuration["index_codecs"]})
        self.order = ">" if dict(index)["bytes"].get("endian") == "big" else "<"
        self.checked = any(name == "crc32c" for name, _ in index)
        self.at_start = configuration.get("index_location") == "start"
        self.simple = {name for name, _ in index} <= {"bytes", "crc32c"}
        size = 16 * count
        full = size + (4 if self.checked else 0)
        start = 0 if self.at_start else len(value) - full
        self.entries = (
            np.frombuffer(value[start : start + size], f"{self.order}u8")
            .reshape(-1, 2)
            .astype("u8")
        )
        self.body = value[full:] if self.at_start else value[: len(value) - full]
        self.size = full

    def write(self, entries=None, *, at_start=None, order=None, checked=None, body=None):
        at_start = self.at_start if at_start is None else at_start
        entries = self.entries if entries is None else entries
        index = entries.astype(f"{order or self.order}u8").tobytes()
        if self.checked if checked is None else checked:
            index = crc32c(index)
        body = self.body if body is None else body
        return index + body if at_start else body + index


@shards("v3-shard-index-location-wrong", "the index is where index_location says")
def _(value, layout):
    shift = layout.size * (-1 if layout.at_start else 1)
    entries = layout.entries.copy()
    entries[entries[:, 0] != EMPTY, 0] += np.uint64(shift % 2**64)
    return layout.write(entries, at_start=not layout.at_start)


@shards("v3-shard-index-byte-order", "the index has the byte order of its codec")
def _(value, layout):
    return layout.write(order=">" if layout.order == "<" else "<")


@shards("v3-shard-index-without-checksum", "the index has the checksum of its codec")
def _(value, layout):
    return layout.write(checked=False)


@shards("v3-shard-index-always-with-checksum", "the index has only the codecs that are listed")
def _(value, layout):
    return layout.write(checked=True)


@shards("v3-shard-index-checksum-wrong", "the checksum is that of the index")
def _(value, layout):
    if not layout.checked:
        return value
    good = layout.write()
    place = layout.size - 1 if layout.at_start else len(good) - 1
    return good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]


@shards("v3-shard-empty-entries-zero", "empty inner chunks have 2**64 - 1 twice")
def _(value, layout):
    entries = layout.entries.copy()
    entries[entries == EMPTY] = 0
    return layout.write(entries)


@shards("v3-shard-empty-entries-half", "empty inner chunks have 2**64 - 1 twice")
def _(value, layout):
    entries = layout.entries.copy()
    entries[entries[:, 0] == EMPTY, 1] = 0
    return layout.write(entries)


@shards("v3-shard-empty-entries-signed", "empty inner chunks have 2**64 - 1, not 2**63 - 1")
def _(value, layout):
    entries = layout.entries.copy()
    entries[entries == EMPTY] = 2**63 - 1
    return layout.write(entries)


@shards("v3-shard-index-in-fortran-order", "the index is in C order")
def _(value, layout):
    entries = layout.entries.reshape(*layout.counts, 2)
    axes = [*reversed(range(len(layout.counts))), len(layout.counts)]
    return layout.write(np.ascontiguousarray(entries.transpose(axes)).reshape(-1, 2))


@shards("v3-shard-offsets-behind-the-index", "offsets are from the start of the shard")
def _(value, layout):
    if not layout.at_start:
        return value
    entries = layout.entries.copy()
    entries[entries[:, 0] != EMPTY, 0] -= np.uint64(layout.size)
    return layout.write(entries)


@shards("v3-shard-ends-instead-of-lengths", "entries have a length, not an end")
def _(value, layout):
    entries = layout.entries.copy()
    some = entries[:, 0] != EMPTY
    entries[some, 1] += entries[some, 0]
    return layout.write(entries)


@shards("v3-shard-index-columns-swapped", "the offset is first")
def _(value, layout):
    return layout.write(layout.entries[:, ::-1])


@shards("v3-shard-empty-inner-chunks-stored", "empty inner chunks need not be stored")
def _(value, layout):
    entries, body = layout.entries.copy(), layout.body
    empty = entries[:, 0] == EMPTY
    if not empty.any() or empty.all():
        return value
    lengths = set(entries[~empty, 1].tolist())
    if len(lengths) != 1:
        return value
    (length,) = lengths
    item = np.dtype("<i4")  # the fill value of the cases about it
    for number in np.flatnonzero(empty):
        entries[number] = (len(body) + (layout.size if layout.at_start else 0), length)
        body += np.full(length // 4, layout.configuration.get("fill", 0), item).tobytes()
    return layout.write(entries, body=body)


@shards("v3-shard-inner-chunks-interchanged", "each entry is that of its inner chunk")
def _(value, layout):
    return layout.write(layout.entries[::-1])


@shards("v3-shard-last-inner-chunk-lost", "every inner chunk is stored")
def _(value, layout):
    entries = layout.entries.copy()
    if (entries[:, 0] == EMPTY).sum() >= len(entries) - 1:
        return value
    entries[np.flatnonzero(entries[:, 0] != EMPTY)[-1]] = EMPTY
    return layout.write(entries)


# --- version 2 ---

for member in (
    "zarr_format",
    "shape",
    "chunks",
    "dtype",
    "compressor",
    "fill_value",
    "order",
    "filters",
):
    drop(v2, member, f"v2-without-{member}", f".zarray must have {member}")


@v2("v2-separator-omitted", "dimension_separator is stored if it is a slash")
def _(document):
    return without(document, "dimension_separator")


@v2("v2-format-three", "zarr_format is 2")
def _(document):
    return {**document, "zarr_format": 3}


@v2("v2-dtype-name", "dtype is a NumPy type string")
def _(document):
    return {**document, "dtype": {"<i4": "int32"}.get(str(document["dtype"]), document["dtype"])}


@v2("v2-dtype-without-byte-order", "the byte order is stored")
def _(document):
    dtype = document["dtype"]
    return {**document, "dtype": dtype[1:]} if isinstance(dtype, str) and dtype[0] in "<>" else None


@v2("v2-dtype-always-little", "the byte order is that of the chunks")
def _(document):
    dtype = document["dtype"]
    return {**document, "dtype": dtype.replace(">", "<")} if isinstance(dtype, str) else None


@v2("v2-dtype-unit-lost", "the unit of a date is stored", "v2/written")
def _(document):
    dtype = document["dtype"]
    return {**document, "dtype": dtype.partition("[")[0]} if isinstance(dtype, str) else None


@v2("v2-dtype-fields-reordered", "fields are in order", "record")
def _(document):
    dtype = document["dtype"]
    return {**document, "dtype": dtype[::-1]} if isinstance(dtype, list) else None


@v2("v2-chunks-reversed", "chunks are in the order of the dimensions")
def _(document):
    return {**document, "chunks": document["chunks"][::-1]}


@v2("v2-order-always-c", "order is that of the chunks")
def _(document):
    return {**document, "order": "C"}


@v2("v2-compressor-without-id", "a compressor has an id")
def _(document):
    found = document["compressor"]
    return {**document, "compressor": without(found, "id")} if found else None


@v2("v2-compressor-empty", "no compressor is null")
def _(document):
    return {**document, "compressor": {}} if document["compressor"] is None else None


@v2("v2-compressor-level-default", "the level is stored as given")
def _(document):
    found = document["compressor"]
    return found and {
        **document,
        "compressor": {**found, **({"level": 1} if "level" in found else {})},
    }


@v2("v2-compressor-shuffle-name", "the shuffle of Blosc is a number")
def _(document):
    found = document["compressor"]
    return found and {
        **document,
        "compressor": {**found, **({"shuffle": "shuffle"} if "shuffle" in found else {})},
    }


@v2("v2-compressor-dropped", "the compressor is stored")
def _(document):
    return {**document, "compressor": None}


@v2("v2-filters-dropped", "filters are stored", "v2/written/filter")
def _(document):
    return {**document, "filters": None}


@v2("v2-filters-reversed", "filters are in the order of encoding")
def _(document):
    return document["filters"] and {**document, "filters": document["filters"][::-1]}


@v2("v2-filter-dtype-lost", "the configuration of a filter is stored")
def _(document):
    found = document["filters"]
    return found and {**document, "filters": [without(it, "dtype", "astype") for it in found]}


@v2("v2-fill-null-as-zero", "null is not 0")
def _(document):
    return {**document, "fill_value": 0} if document["fill_value"] is None else None


@v2("v2-fill-zero-as-null", "0 is not null")
def _(document):
    return {**document, "fill_value": None} if document["fill_value"] == 0 else None


@v2("v2-fill-nan-token", "NaN is a string")
def _(document):
    return {**document, "fill_value": math.nan} if document["fill_value"] == "NaN" else None


@v2("v2-fill-infinity-sign-lost", "-Infinity is not Infinity")
def _(document):
    return {**document, "fill_value": "Infinity"} if document["fill_value"] == "-Infinity" else None


@v2("v2-fill-negative-zero-lost", "-0.0 is not 0.0")
def _(document):
    fill = document["fill_value"]
    return {**document, "fill_value": 0.0} if isinstance(fill, float) and fill == 0 else None


@v2("v2-fill-integer-as-float", "integers are exact")
def _(document):
    fill = document["fill_value"]
    return {**document, "fill_value": int(float(fill))} if type(fill) is int else None


@v2("v2-fill-rounded", "floats are exact")
def _(document):
    fill = document["fill_value"]
    return {**document, "fill_value": float(f"{fill:.6g}")} if type(fill) is float else None


def v2_kind(document, *kinds):
    dtype = document["dtype"]
    kind = "V" if isinstance(dtype, list) else dtype[1]
    return kind in kinds


@v2("v2-fill-bytes-as-text", "fill values of bytes are base64", "v2/")
def _(document):
    fill = document["fill_value"]
    if not v2_kind(document, "S", "V") or not isinstance(fill, str):
        return None
    return {**document, "fill_value": base64.b64decode(fill).decode("latin-1")}


@v2("v2-fill-base64-url-safe", "base64 is the standard alphabet", "v2/")
def _(document):
    fill = document["fill_value"]
    if not v2_kind(document, "S", "V") or not isinstance(fill, str):
        return None
    return {**document, "fill_value": base64.urlsafe_b64encode(base64.b64decode(fill)).decode()}


@v2("v2-fill-base64-without-padding", "base64 is padded", "v2/")
def _(document):
    fill = document["fill_value"]
    return (
        {**document, "fill_value": fill.rstrip("=")}
        if v2_kind(document, "S", "V") and isinstance(fill, str)
        else None
    )


@v2("v2-fill-record-swapped", "records are encoded in the stored byte order", "v2/")
def _(document):
    fill = document["fill_value"]
    if not isinstance(document["dtype"], list) or not isinstance(fill, str):
        return None
    return {**document, "fill_value": base64.b64encode(base64.b64decode(fill)[::-1]).decode()}


@v2("v2-attributes-in-zarray", "attributes are in .zattrs")
def _(document):
    return {**document, "attributes": {}}


@fault("v2-attributes-dropped", ".zattrs is written", "v2/")
def _(store, request):
    for key in [it for it in store if it.endswith(".zattrs")]:
        del store[key]


@fault("v2-document-at-the-root", "the key of .zarray has the path of the array", "v2/")
def _(store, request):
    for key in [it for it in store if it.endswith("/.zarray")]:
        store[".zarray"] = store.pop(key)


@fault("v2-no-group-above", "all groups above an array have .zgroup", "v2/")
def _(store, request):
    for key in [
        it for it in store if it.endswith(".zgroup") and it not in request["stored_before"]
    ]:
        del store[key]


@fault("v2-group-format-missing", ".zgroup has zarr_format", "v2/")
def _(store, request):
    for key in [it for it in store if it.endswith(".zgroup")]:
        store.put(key, {})


def v2_renamed(name, clause):
    def register(function):
        @renamed(name, clause, "v2/")
        def _(key, document):
            return function(key) if document.get("zarr_format") == 2 else key

        return function

    return register


v2_renamed("v2-key-with-c", "keys have no prefix")(lambda key: f"c/{key}")
v2_renamed("v2-key-slash-ignored", "the separator is that of the metadata")(
    lambda key: key.replace("/", ".")
)
v2_renamed("v2-key-period-ignored", "the default separator is a period")(
    lambda key: key.replace(".", "/")
)
v2_renamed("v2-key-reversed", "coordinates are in order")(
    lambda key: key[::-1] if re.fullmatch(r"\d[./]\d", key) else key
)


def v2_plain(document):
    return (
        document.get("zarr_format") == 2
        and document.get("compressor") is None
        and not document.get("filters")
    )


@in_chunks("v2-big-endian-written-little", "chunks have the byte order of the dtype", "v2/")
def _(value, document, key):
    if (
        not v2_plain(document)
        or not isinstance(document["dtype"], str)
        or document["dtype"][0] != ">"
        or document["dtype"][1] == "U"
    ):
        return value
    return np.frombuffer(value, document["dtype"]).byteswap().tobytes()


@in_chunks("v2-fortran-order-ignored", "order F reverses the dimensions", "v2/")
def _(value, document, key):
    if not v2_plain(document) or document["order"] != "F" or not isinstance(document["dtype"], str):
        return value
    return np.frombuffer(value, document["dtype"]).reshape(document["chunks"], order="F").tobytes()


@in_chunks("v2-edge-chunks-truncated", "chunks at the edge have the full shape", "v2/")
def _(value, document, key):
    at = places(key)
    if (
        not v2_plain(document)
        or not isinstance(document["dtype"], str)
        or len(at) != len(document["chunks"])
    ):
        return value
    array = np.frombuffer(value, document["dtype"]).reshape(document["chunks"])
    part = tuple(
        slice(0, n - k * c)
        for n, k, c in zip(document["shape"], at, document["chunks"], strict=True)
    )
    return array[part].tobytes()


def v2_compressed(name, identifier, clause):
    def register(function):
        @in_chunks(name, clause, "v2/")
        def _(value, document, key):
            found = document.get("compressor") if document.get("zarr_format") == 2 else None
            return function(value, found) if found and found.get("id") == identifier else value

        return function

    return register


@v2_compressed("v2-zlib-as-gzip", "zlib", "zlib is the container of RFC 1950")
def _(value, found):
    return gzip(zlib.decompress(value))


@v2_compressed("v2-gzip-as-zlib", "gzip", "gzip is the container of RFC 1952")
def _(value, found):
    return zlib.compress(zlib.decompress(value, 31))


@v2_compressed("v2-blosc-shuffle-ignored", "blosc", "chunks are shuffled as the metadata says")
def _(value, found):
    return reblosc(
        value,
        {
            "cname": found["cname"],
            "clevel": found["clevel"],
            "shuffle": "noshuffle",
            "blocksize": 0,
            "typesize": value[3],
        },
    )


@v2_compressed("v2-blosc-typesize-one", "blosc", "the element size is that of the dtype")
def _(value, found):
    shuffle = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle", -1: "shuffle"}[found["shuffle"]]
    return reblosc(
        value,
        {
            "cname": found["cname"],
            "clevel": found["clevel"],
            "shuffle": shuffle,
            "blocksize": 0,
            "typesize": 1,
        },
    )


@v2_compressed("v2-blosc-other-cname", "blosc", "the compressor is that of the metadata")
def _(value, found):
    return reblosc(
        value,
        {
            "cname": "zlib" if found["cname"] != "zlib" else "zstd",
            "clevel": found["clevel"],
            "shuffle": "shuffle",
            "blocksize": 0,
            "typesize": value[3],
        },
    )


@v2_compressed("v2-lz4-without-size", "lz4", "the size precedes the block")
def _(value, found):
    return value[4:]


@in_chunks("v2-delta-forgotten", "filters are applied", "v2/")
def _(value, document, key):
    filters = document.get("filters") if document.get("zarr_format") == 2 else None
    if (
        not filters
        or filters[0].get("id") != "delta"
        or document["compressor"] is not None
        or len(filters) > 1
    ):
        return value
    return (
        np.cumsum(np.frombuffer(value, document["dtype"]), dtype=document["dtype"])
        .astype(document["dtype"])
        .tobytes()
    )


# --- the draft of version 3 ---

for member in (
    "shape",
    "data_type",
    "chunk_grid",
    "chunk_memory_layout",
    "fill_value",
    "attributes",
):
    drop(
        draft, member, f"draft-without-{member}", f"array metadata of the draft must have {member}"
    )


@fault("draft-entry-point-missing", "a hierarchy has an entry point", "v3-draft")
def _(store, request):
    if request["zarr_format"] == 0 and "zarr.json" not in request["stored_before"]:
        store.pop("zarr.json", None)


def entry(name, clause, change):
    @fault(f"draft-entry-{name}", clause, "v3-draft")
    def _(store, request):
        if request["zarr_format"] == 0 and "zarr.json" not in request["stored_before"]:
            store.put("zarr.json", change(json.loads(store["zarr.json"])))


entry("format-number", "zarr_format is a URI", lambda it: {**it, "zarr_format": 3})
entry(
    "format-of-2021",
    "zarr_format is the URI of the core specification",
    lambda it: {**it, "zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"},
)
entry(
    "without-encoding", "metadata_encoding is required", lambda it: without(it, "metadata_encoding")
)
entry(
    "encoding-uri", "metadata_encoding is an object", lambda it: {**it, "metadata_encoding": "json"}
)
entry("without-extensions", "extensions is required", lambda it: without(it, "extensions"))
entry(
    "without-suffix",
    "the suffix is stored",
    lambda it: {**it, "metadata_encoding": {"type": "json"}},
)


def moved(name, clause, change):
    @fault(f"draft-{name}", clause, "v3-draft")
    def _(store, request):
        if request["zarr_format"] == 0:
            for key in [it for it in store if it not in request["stored_before"]]:
                store[change(key)] = store.pop(key)


moved(
    "documents-below-root",
    "documents are below meta/",
    lambda it: it.replace("meta/", "meta/root/", 1) if it.startswith("meta/") else it,
)
moved(
    "chunks-below-root",
    "chunks are below data/",
    lambda it: it.replace("data/", "data/root/", 1) if it.startswith("data/") else it,
)
moved(
    "chunk-keys-of-version-3",
    "keys are c0/0, not c/0/0",
    lambda it: re.sub(r"/c(\d)", r"/c/\1", it),
)
moved("chunk-keys-without-c", "keys begin with c", lambda it: re.sub(r"/c(\d)", r"/\1", it))
moved(
    "chunk-separator",
    "the separator is that of the grid",
    lambda it: re.sub(r"(c\d)\.(\d)", r"\1/\2", it),
)
moved(
    "suffix-dropped",
    "documents have the suffix of the entry point",
    lambda it: it.removesuffix(".json") if it.startswith("meta/") else it,
)


@fault("draft-suffix-always-json", "documents have the suffix of the entry point", "written/suffix")
def _(store, request):
    if request["zarr_format"] == 0:
        for key in [
            it for it in store if it.startswith("meta/") and it not in request["stored_before"]
        ]:
            if not key.endswith(".json"):
                store[re.sub(r"\.(array|group)\.\w+$", r".\1.json", key)] = store.pop(key)


@fault("draft-implied-groups-stored", "groups above need not be stored", "v3-draft")
def _(store, request):
    parent = request["path"].rpartition("/")[0]
    if request["zarr_format"] == 0 and parent:
        store[f"meta/{parent}.group.json"] = b"{}"


@draft("draft-separator-missing", "chunk_grid has a separator", "v3-draft")
def _(document):
    return {**document, "chunk_grid": without(document["chunk_grid"], "separator")}


@draft("draft-grid-type-missing", "chunk_grid has a type", "v3-draft")
def _(document):
    return {**document, "chunk_grid": without(document["chunk_grid"], "type")}


@draft("draft-layout-always-c", "the layout is that of the chunks", "v3-draft")
def _(document):
    return {**document, "chunk_memory_layout": "C"}


@draft("draft-codecs-named", "codecs have the URI of their type", "v3-draft")
def _(document):
    if not document.get("codecs"):
        return None
    return {
        **document,
        "codecs": [{**it, "type": it["type"].split("/")[-2]} for it in document["codecs"]],
    }


@draft("draft-codecs-dropped", "codecs are stored", "v3-draft")
def _(document):
    return without(document, "codecs")


@draft("draft-data-type-typestr", "data types have names", "v3-draft")
def _(document):
    return {**document, "data_type": "<i4"} if document["data_type"] == "int32" else None


@draft("draft-fill-value-null", "fill_value is stored as given", "v3-draft")
def _(document):
    return {**document, "fill_value": None}


@draft("draft-transformers-dropped", "storage transformers are stored", "v3-draft")
def _(document):
    return without(document, "storage_transformers")


@draft("draft-unknown-member", "array metadata has no other members", "v3-draft")
def _(document):
    return {**document, "node_type": "array"}


def draft_chunks(name, clause):
    def register(function):
        @fault(f"draft-{name}", clause, "v3-draft")
        def _(store, request):
            if request["zarr_format"] == 0:
                for key in [
                    it
                    for it in store
                    if it.startswith("data/") and it not in request["stored_before"]
                ]:
                    store[key] = function(store[key], request["document"])

        return function

    return register


@draft_chunks("big-endian", "without codecs, elements are little-endian")
def _(value, document):
    if (
        document.get("codecs")
        or document.get("storage_transformers")
        or document["data_type"] != "int32"
    ):
        return value
    return np.frombuffer(value, "<i4").byteswap().tobytes()


@draft_chunks("shard-index-with-checksum", "the index of the draft has no checksum")
def _(value, document):
    return value + bytes(4) if document.get("storage_transformers") else value


@draft_chunks("gzip-as-zlib", "gzip is the container of RFC 1952")
def _(value, document):
    codecs = document.get("codecs") or ()
    if len(codecs) != 1 or "gzip" not in codecs[0]["type"]:
        return value
    return zlib.compress(zlib.decompress(value, 31))


# --- changes of what is stored ---


@fault(
    "update-drops-unknown-members",
    "members that are not understood are kept",
    operations=("update",),
)
def _(store, request):
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
    }
    for key, document in list(store.documents("zarr.json")):
        store.put(key, {name: it for name, it in document.items() if name in known})


@fault("update-replaces-attributes", "other attributes are kept", operations=("update",))
def _(store, request):
    for key, document in list(store.documents("zarr.json")):
        store.put(key, {**document, "attributes": {"harness": 1}})


@fault("update-replaces-zattrs", "other attributes are kept", "v2/", operations=("update",))
def _(store, request):
    for key in [it for it in store if it.endswith(".zattrs")]:
        store.put(key, {"harness": 1})


@fault("update-drops-names", "dimension_names are kept", operations=("update",))
def _(store, request):
    for key, document in list(store.documents("zarr.json")):
        store.put(key, without(document, "dimension_names"))


@fault("update-respells-hex-fill", "the fill value is kept", operations=("update",))
def _(store, request):
    for key, document in list(store.documents("zarr.json")):
        if str(document.get("fill_value")).startswith("0x"):
            store.put(key, {**document, "fill_value": "NaN"})


@fault("update-drops-must-understand", "must_understand flags are kept", operations=("update",))
def _(store, request):
    def walk(item):
        if isinstance(item, list):
            return [walk(it) for it in item]
        return (
            without({k: walk(v) for k, v in item.items()}, "must_understand")
            if isinstance(item, dict)
            else item
        )

    for key, document in list(store.documents("zarr.json")):
        store.put(key, walk(document))


@fault("update-removes-chunks", "chunks are kept", operations=("update",))
def _(store, request):
    for key in store.chunks():
        del store[key]


@fault("erase-leaves-chunks", "chunks of an erased node are removed", operations=("erase",))
def _(store, request):
    for key, value in request["stored_before"].items():
        if key.startswith(request["path"] + "/") and not is_document(key):
            store[key] = value


@fault(
    "erase-leaves-descendants", "descendants of an erased node are removed", operations=("erase",)
)
def _(store, request):
    for key, value in request["stored_before"].items():
        if (
            key.startswith(request["path"] + "/")
            and key.count("/") > request["path"].count("/") + 1
            and is_document(key)
        ):
            store[key] = value


@fault("erase-takes-names-with-the-same-start", "siblings are kept", operations=("erase",))
def _(store, request):
    for key in [it for it in store if it.startswith(request["path"])]:
        del store[key]


@fault("erase-takes-the-parent", "the parent is kept", operations=("erase",))
def _(store, request):
    parent = request["path"].rpartition("/")[0]
    store.pop(f"{parent}/zarr.json" if parent else "zarr.json", None)


@fault("create-removes-siblings", "other nodes are kept")
def _(store, request):
    for key in request["stored_before"]:
        if is_document(key) and not request["path"].startswith(key.rpartition("/")[0]):
            store.pop(key, None)


@fault(
    "resize-leaves-chunks",
    "elements outside of the new shape are removed",
    "resize",
    operations=("resize",),
)
def _(store, request):
    for key, value in request["stored_before"].items():
        if not is_document(key):
            store.setdefault(key, value)


@fault(
    "resize-removes-too-much",
    "elements within the new shape are kept",
    "resize",
    operations=("resize",),
)
def _(store, request):
    for key in store.chunks()[-1:]:
        del store[key]


@fault(
    "resize-keeps-the-old-shape", "the metadata has the new shape", "resize", operations=("resize",)
)
def _(store, request):
    for key, value in request["stored_before"].items():
        if is_document(key):
            store[key] = value


@fault("resize-drops-attributes", "attributes are kept", "resize", operations=("resize",))
def _(store, request):
    for key, document in list(store.documents("zarr.json")):
        store.put(key, without(document, "attributes"))


@fault(
    "resize-keeps-elements-in-cut-chunks",
    "elements beyond the new shape read as the fill value when the array grows",
    "resize",
    operations=("resize",),
)
def _(store, request):
    for key, value in request["stored_before"].items():
        if not is_document(key) and key in store:
            store[key] = value


@fault(
    "part-write-fills-neighbours",
    "other elements of a chunk are kept",
    "write",
    operations=("write",),
)
def _(store, request):
    for key, value in store.items():
        if (
            not is_document(key)
            and request["stored_before"].get(key, value) != value
            and len(value) % 4 == 0
        ):
            old = np.frombuffer(request["stored_before"][key], "<i4")
            new = np.frombuffer(value, "<i4").copy()
            if len(old) == len(new):
                new[old == new] = 0
                store[key] = new.tobytes()


@fault("part-write-removes-other-chunks", "other chunks are kept", "write", operations=("write",))
def _(store, request):
    for key, value in request["stored_before"].items():
        if not is_document(key) and store.get(key) == value:
            del store[key]


@fault(
    "part-write-loses-inner-chunks",
    "other inner chunks of a shard are kept",
    "write",
    operations=("write",),
)
def _(store, request):
    document, _ = array_of(store, request)
    codecs = chain(document or {})
    if len(codecs) == 1 and codecs[0][0] == "sharding_indexed":
        for key in store.chunks():
            layout = Layout(store[key], codecs[0][1], grid_of(document))
            before = request["stored_before"].get(key)
            if before is not None and before != store[key]:
                entries = layout.entries.copy()
                entries[0] = EMPTY
                store[key] = layout.write(entries)


@fault("part-write-does-nothing", "elements are written", "write", operations=("write",))
def _(store, request):
    store.clear()
    store.update(request["stored_before"])


@fault("part-write-rewrites-metadata", "metadata is not changed", "write", operations=("write",))
def _(store, request):
    for key, document in list(store.documents("zarr.json", ".zarray")):
        store.put(key, without(document, "attributes", "filters"))


@fault(
    "write-of-fill-value-keeps-old-chunk",
    "chunks that become the fill value change",
    "write",
    operations=("write",),
)
def _(store, request):
    for key, value in request["stored_before"].items():
        if not is_document(key):
            store.setdefault(key, value)
