"""Planted faults in writing, at least one for each comparison that the evaluation makes.

Each row has the name of a fault and a function that changes what was written.  The digests of
released cases keep the cases that were written for many more faults.
"""

import base64
import json
import math
import re
import struct
import zlib
from functools import partial

import numpy as np
from numcodecs import blosc, zstd
from planted_faults import (
    Fault,
    change,
    drop,
    each,
    flip,
    is_document,
    put,
    replaced,
    scalar,
    when,
    without,
)
from zarr_conformance.corpus.encode import crc32c, gzip

FAULTS = []
EMPTY = 2**64 - 1


def fault(name, function, hint="", operations=("create",)):
    """Plant a function that changes the store after an operation."""
    FAULTS.append(Fault(name, hint, after=function, operations=operations))


def in_documents(*names, operations=("create",)):
    """Return a function that plants a change of each metadata document with one of these names."""

    def plant(name, function, hint=""):
        def after(store, request):
            for key, document in list(store.documents(*names)):
                changed = function(document)
                # 1 and 1.0 are equal for Python.
                if json.dumps(changed) != json.dumps(document):
                    store.put(key, changed)

        fault(name, after, hint, operations)

    return plant


def in_chunks(name, function, hint="", operations=("create",)):
    """Plant a function (value, document, key) that returns the new value of each chunk, or None."""

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

    fault(name, after, hint, operations)


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


def in_keys(encoding, hint=""):
    """Return a function that plants a change of the keys of chunks with an encoding."""

    def plant(name, function):
        def after(store, request):
            document, prefix = array_of(store, request)
            if document is not None and encoding_of(document) == encoding:
                for key in store.chunks():
                    if key.startswith(prefix):
                        value = store.pop(key)
                        store[prefix + function(key[len(prefix) :])] = value

        fault(name, after, hint)

    return plant


def encoding_of(document):
    if document["zarr_format"] == 2:
        return "version 2"
    return document["chunk_key_encoding"]["name"]


def coordinates(key):
    return [int(digits) for digits in re.findall(r"\d+", key)]


# --- version 3: the members of the metadata ---

v3 = in_documents("zarr.json")


def is_group(document):
    return document.get("node_type") == "group"


def typed(document, types):
    name = document.get("data_type")
    return isinstance(name, str) and re.fullmatch(types, name) is not None


def fill(types, function):
    """A change of the fill value of these data types."""
    return lambda document: (
        {**document, "fill_value": function(document["fill_value"])}
        if typed(document, types)
        else document
    )


def float_fill(name, function):
    """Plant a change of the float, or of both parts of the complex number, that is a fill value."""
    parts = each(function)
    v3(
        f"v3-fill-{name}",
        fill(
            "(float|complex).*",
            lambda value: parts(value) if isinstance(value, list) else function(value),
        ),
    )


for member in ("zarr_format", "node_type", "shape", "data_type", "chunk_grid", "codecs", "fill_value", "chunk_key_encoding"):  # fmt: skip
    v3(f"v3-without-{member}", drop(member))
v3("v3-without-dimension-names", drop("dimension_names"), "names")
v3("v3-without-attributes", drop("attributes"), "attributes")
v3("v3-format-is-a-string", put(zarr_format="3"))
v3("v3-group-with-array-members", when(is_group, put(shape=[])))
v3("v3-grid-without-configuration", change("chunk_grid", drop("configuration")))
v3("v3-separator-omitted", change("chunk_key_encoding", drop("configuration")))
v3("v3-key-encoding-swapped", change("chunk_key_encoding", put(name="default")))
float_fill(
    "nan-payload-lost", scalar(str, lambda value: "NaN" if value.startswith("0x") else value)
)
float_fill("negative-zero-lost", lambda value: value or 0.0)
float_fill("infinity-as-number", replaced({"Infinity": 1.797e308}))
float_fill("nan-token", replaced({"NaN": math.nan}))
float_fill(
    "subnormal-flushed", scalar(float, lambda value: 0.0 if 0 < abs(value) < 2.3e-308 else value)
)
v3("v3-fill-integer-with-fraction", fill("u?int(8|16|32)", float))
v3("v3-fill-wraps", fill("uint8", lambda value: value - 256 if value >= 128 else value))
v3("v3-fill-bool-as-number", fill("bool", int))
v3("v3-fill-complex-real-only", fill("complex.*", lambda parts: parts[0]))
v3("v3-fill-raw-reversed", fill("r[0-9]+", flip))
v3("v3-fill-raw-as-number", fill("r[0-9]+", lambda value: 0))


def in_attributes(name, kind, function):
    """Plant a change of values of one type in attributes, for versions 2 and 3."""

    def walk(item):
        if isinstance(item, dict):
            return {key: walk(value) for key, value in item.items()}
        if isinstance(item, list):
            item = [walk(value) for value in item]
        return function(item) if type(item) is kind else item

    operations = ("create", "update")
    in_documents("zarr.json", operations=operations)(
        f"v3-attributes-{name}", change("attributes", walk), "attributes"
    )
    in_documents(".zattrs", operations=operations)(
        f"v2-attributes-{name}", walk, "v2/written/attributes"
    )


in_attributes(
    "characters-lost", str, lambda text: text.encode("ascii", "replace").decode()
)  # fmt: skip
in_attributes(
    "strings-as-numbers", str, lambda text: int(text) if text.isascii() and text.isdigit() else text
)


def in_text(name, function):
    """Plant a change of the text of each metadata document."""

    def after(store, request):
        for key, _document in list(store.documents("zarr.json")):
            store[key] = function(store[key].decode())

    fault(name, after)


in_text("v3-byte-order-mark", lambda text: text.encode("utf-8-sig"))
in_text("v3-metadata-utf-16", lambda text: text.encode("utf-16"))


def in_key_of_document(name, new_key):
    def after(store, request):
        key = f"{request['path']}/zarr.json"
        if request["path"] and key in store:
            store[new_key(request["path"])] = store.pop(key)

    fault(name, after)


in_key_of_document("v3-document-at-the-root", lambda path: "zarr.json")


# --- version 3: the keys of chunks ---


def temporary_key(store, request):
    document, prefix = array_of(store, request)
    if document is not None and document["zarr_format"] == 3:
        store[f"{prefix}c/.tmp-1"] = b"x"


in_default_keys = in_keys("default")
in_v2_keys = in_keys("v2")
in_default_keys("v3-key-without-c", lambda key: re.sub(r"^c[/.]", "", key))
in_v2_keys("v3-key-of-a-scalar-v2", lambda key: "c" if key == "0" else key)
fault("v3-temporary-key-left", temporary_key)


# --- version 3: the elements of chunks ---


def chain(document):
    return [
        (codec, {}) if isinstance(codec, str) else (codec["name"], codec.get("configuration", {}))
        for codec in document.get("codecs", ())
    ]


def codec_names(document):
    return [name for name, _ in chain(document)]


def only_bytes(document):
    """Whether chunks are the elements, in the byte order that is returned."""
    return codec_names(document) == ["bytes"] and isinstance(document.get("data_type"), str)


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


def grid_of(document):
    grid = document.get("chunk_grid", {})
    return grid.get("configuration", {}).get("chunk_shape") if isinstance(grid, dict) else None


def in_elements(name, kinds, function, hint="v3-data-types"):
    """Plant a change (array, endian) of the elements of chunks that have only the codec bytes."""

    def changed(value, document, key):
        dtype = dtype_of(document)
        if dtype is None or dtype.kind not in kinds:
            return value
        endian = chain(document)[0][1].get("endian")
        return function(np.frombuffer(value, dtype).copy(), endian).tobytes()

    in_chunks(name, changed, hint)


def swapped_if(endian):
    return lambda array, stored: array.byteswap() if stored == endian else array


def parts_of(array):
    """The floats, or the parts of the complex numbers, of an array."""
    size = array.itemsize // (2 if array.dtype.kind == "c" else 1)
    return array.view(f"{array.dtype.byteorder}f{size}")


def assigned(condition, value):
    """A change that assigns a value to the floats for which a condition is true."""

    def changed(array, endian):
        parts = parts_of(array)
        parts[condition(parts)] = value
        return array

    return changed


in_elements("v3-bytes-big-endian-written-little", "iufc", swapped_if("big"))
positive_zeros = assigned(lambda parts: parts == 0, 0)
in_elements("v3-negative-zero-lost", "f", positive_zeros)
in_elements("v3-nan-payload-lost", "f", assigned(np.isnan, np.nan))


def true_as_255(value, document, key):
    is_bool = document.get("data_type") == "bool" and only_bytes(document)
    return value.replace(b"\1", b"\xff") if is_bool else value


def within_shape(array, shape, chunk_shape, key):
    """The part of a chunk that lies within the shape of its array."""
    return array.reshape(chunk_shape)[
        tuple(
            slice(0, n - k * length)
            for n, k, length in zip(shape, coordinates(key), chunk_shape, strict=True)
        )
    ]


def truncated(value, document, key):
    dtype, lengths = dtype_of(document), grid_of(document)
    if dtype is None or not lengths or len(coordinates(key)) != len(lengths):
        return value
    return within_shape(np.frombuffer(value, dtype), document["shape"], lengths, key).tobytes()


def last_forgotten(value, document, key):
    lengths, at = grid_of(document), coordinates(key)
    if not lengths or not at or len(at) != len(lengths):
        return value
    last = [-(-n // length) - 1 for n, length in zip(document["shape"], lengths, strict=True)]
    return None if at == last and any(at) else value


in_chunks("v3-bool-as-255", true_as_255, "v3-data-types/bool")
in_chunks("v3-edge-chunks-truncated", truncated, "v3-chunks")
in_chunks("v3-last-chunk-forgotten", last_forgotten, "v3-chunks")


# --- version 3: the codecs of chunks ---


def last_codec(codec):
    """Return a function that plants a change (value, configuration) of what a codec encoded last."""

    def plant(name, function):
        def changed(value, document, key):
            codecs = chain(document)
            if not codecs or codecs[-1][0] != codec:
                return value
            return function(value, codecs[-1][1])

        in_chunks(f"v3-{codec}-{name}", changed, codec)

    return plant


def gunzip(value):
    return zlib.decompress(value, 31)


gzipped = last_codec("gzip")
gzipped("level-ignored", lambda value, given: value if given["level"] else gzip(gunzip(value), 9))
gzipped("never-compresses", lambda value, _: gzip(gunzip(value), 0))
gzipped("crc-zero", lambda value, _: value[:-8] + bytes(4) + value[-4:])


def recompress_zstd(value, given, checksum):
    return zstd.compress(zstd.decompress(value), given.get("level", 0), checksum)


zstandard = last_codec("zstd")
zstandard("checksum-flag-missing", partial(recompress_zstd, checksum=False))
zstandard("trailing-bytes", lambda value, _: value + b"\0")

SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}


def recompress_blosc(value, given, **other):
    from numcodecs.blosc import compress

    given = given | other
    blosc.set_nthreads(1)
    return compress(
        blosc.decompress(value), given["cname"].encode(), given["clevel"], SHUFFLES[given["shuffle"]],
        given["blocksize"], given.get("typesize", 1),
    )  # fmt: skip


def other_cname(value, given):
    return recompress_blosc(value, given, cname="zstd" if given["cname"] == "zlib" else "zlib")


def other_blocksize(value, given):
    return recompress_blosc(value, given, blocksize=0 if given["blocksize"] else 512)


blosced = last_codec("blosc")
blosced("typesize-one", partial(recompress_blosc, typesize=1))
blosced("shuffle-forgotten", partial(recompress_blosc, shuffle="noshuffle"))
blosced("blocksize-ignored", other_blocksize)
blosced("level-zero", partial(recompress_blosc, clevel=0))
blosced("compressed-size-wrong", lambda value, _: value + b"\0")

summed = last_codec("crc32c")
summed("is-crc32", lambda value, _: value[:-4] + struct.pack("<I", zlib.crc32(value[:-4])))
summed("missing", lambda value, _: value[:-4])


# --- version 3: shards ---


class Shard:
    """The index and the inner chunks of a shard, and how to write it again."""

    def __init__(self, value, configuration, lengths):
        self.counts = [n // k for n, k in zip(lengths, configuration["chunk_shape"], strict=True)]
        codecs = dict(chain({"codecs": configuration["index_codecs"]}))
        self.order = ">" if codecs["bytes"].get("endian") == "big" else "<"
        self.checked = "crc32c" in codecs
        self.at_start = configuration.get("index_location") == "start"
        index_size = 16 * math.prod(self.counts)
        self.size = index_size + (4 if self.checked else 0)
        start = 0 if self.at_start else len(value) - self.size
        index = value[start : start + index_size]
        self.entries = np.frombuffer(index, f"{self.order}u8").reshape(-1, 2).astype("u8")
        self.body = value[self.size :] if self.at_start else value[: len(value) - self.size]

    @property
    def stored(self):
        """Which inner chunks are not empty."""
        return self.entries[:, 0] != EMPTY

    def write(self, entries=None, *, at_start=None, order=None, checked=None, body=None):
        at_start = self.at_start if at_start is None else at_start
        entries = self.entries if entries is None else entries
        index = entries.astype(f"{order or self.order}u8").tobytes()
        if self.checked if checked is None else checked:
            index = crc32c(index)
        body = self.body if body is None else body
        return index + body if at_start else body + index


def in_shards(name, function):
    """Plant a change of shards without other codecs."""

    def changed(value, document, key):
        if codec_names(document) != ["sharding_indexed"]:
            return value
        return function(Shard(value, chain(document)[0][1], grid_of(document)))

    in_chunks(f"v3-shard-{name}", changed, "v3-codecs/sharding")


def in_entries(name, function):
    """Plant a function (entries, shard) that changes the entries of the index."""

    def changed(shard):
        entries = shard.entries.copy()
        function(entries, shard)
        return shard.write(entries)

    in_shards(name, changed)


def empty_as(value, column=slice(None)):
    def changed(entries, shard):
        entries[~shard.stored, column] = value

    return changed


def index_elsewhere(shard):
    shift = shard.size * (-1 if shard.at_start else 1)
    entries = shard.entries.copy()
    entries[shard.stored, 0] += np.uint64(shift % 2**64)
    return shard.write(entries, at_start=not shard.at_start)


def wrong_checksum(shard):
    good = bytearray(shard.write())
    if shard.checked:
        good[shard.size - 1 if shard.at_start else -1] ^= 1
    return good


def offsets_behind_index(entries, shard):
    if shard.at_start:
        entries[shard.stored, 0] -= np.uint64(shard.size)


def last_lost(entries, shard):
    if shard.stored.sum() > 1:
        entries[np.flatnonzero(shard.stored)[-1]] = EMPTY


in_shards("index-location-wrong", index_elsewhere)
in_shards("index-byte-order", lambda shard: shard.write(order=">" if shard.order == "<" else "<"))
in_shards("index-checksum-wrong", wrong_checksum)
in_entries("empty-entries-zero", empty_as(0))
in_entries("offsets-behind-the-index", offsets_behind_index)
in_entries("last-inner-chunk-lost", last_lost)


# --- version 2 ---

in_zarray = in_documents(".zarray")


def v2(name, function, hint="v2/"):
    """Plant a change of the metadata document of an array."""
    in_zarray(name, function, hint)


def v2_fill(name, function):
    """Plant a change of the fill value."""
    v2(f"v2-fill-{name}", change("fill_value", function))


def base64_fill(name, function):
    """Plant a change of the text that is the fill value of bytes or records."""

    def changed(document):
        dtype, text = document["dtype"], document["fill_value"]
        is_bytes = isinstance(dtype, list) or dtype[1] in "SV"
        if not is_bytes or not isinstance(text, str):
            return document
        return {**document, "fill_value": function(text, dtype)}

    v2(f"v2-fill-{name}", changed, "v2/")


for member in ("zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters"):  # fmt: skip
    v2(f"v2-without-{member}", drop(member))
v2("v2-separator-omitted", drop("dimension_separator"))
v2(
    "v2-dtype-unit-lost",
    change("dtype", scalar(str, lambda dtype: dtype.partition("[")[0])),
    "v2/written",
)
v2("v2-dtype-fields-reordered", change("dtype", scalar(list, flip)), "record")
v2("v2-compressor-without-id", change("compressor", drop("id")))
v2("v2-compressor-empty", when(lambda document: document["compressor"] is None, put(compressor={})))
v2_fill("zero-as-null", lambda fill: None if fill == 0 else fill)
base64_fill("bytes-as-text", lambda text, dtype: base64.b64decode(text).decode("latin-1"))
v2("v2-attributes-in-zarray", put(attributes={}))


def attributes_dropped(store, request):
    for key in [key for key in store if key.endswith(".zattrs")]:
        del store[key]


def document_at_root(store, request):
    for key in [key for key in store if key.endswith("/.zarray")]:
        store[".zarray"] = store.pop(key)


fault("v2-attributes-dropped", attributes_dropped, "v2/")
fault("v2-document-at-the-root", document_at_root, "v2/")
in_documents(".zgroup")("v2-group-format-missing", drop("zarr_format"), "v2/")


def in_elements_of_version_2(name, function):
    """Plant a change (array, document, key) of the elements of chunks that are not encoded."""

    def changed(value, document, key):
        if (
            document["zarr_format"] != 2
            or document["compressor"] is not None
            or document["filters"]
            or not isinstance(document["dtype"], str)
        ):
            return value
        array = np.frombuffer(value, document["dtype"])
        return function(array, document, key).tobytes()

    in_chunks(name, changed, "v2/")


def swapped_numbers(array, document, key):
    return array.byteswap() if re.match(">[^U]", document["dtype"]) else array


in_elements_of_version_2("v2-big-endian-written-little", swapped_numbers)


def compressed(codec, name, function):
    """Plant a change (value, configuration) of chunks with a compressor."""

    def changed(value, document, key):
        found = document["compressor"] if document["zarr_format"] == 2 else None
        return function(value, found) if found and found["id"] == codec else value

    in_chunks(f"v2-{codec}-{name}", changed, "v2/")


def blosc_of(value, found):
    """The configuration of Blosc for version 3."""
    shuffle = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle", -1: "shuffle"}[found["shuffle"]]
    return {**found, "shuffle": shuffle, "blocksize": 0, "typesize": value[3]}


compressed("zlib", "as-gzip", lambda value, _: gzip(zlib.decompress(value)))
compressed("gzip", "as-zlib", lambda value, _: zlib.compress(gunzip(value)))
compressed("blosc", "other-cname", lambda value, found: other_cname(value, blosc_of(value, found)))
compressed("lz4", "without-size", lambda value, _: value[4:])


def delta_forgotten(value, document, key):
    filters = document["filters"] if document["zarr_format"] == 2 else None
    if not filters or document["compressor"] is not None:
        return value
    if [given["id"] for given in filters] != ["delta"]:
        return value
    dtype = document["dtype"]
    return np.cumsum(np.frombuffer(value, dtype), dtype=dtype).astype(dtype).tobytes()


in_chunks("v2-delta-forgotten", delta_forgotten, "v2/")


# --- the draft of version 3 ---

in_draft = in_documents(".array.json")


def draft(name, function):
    in_draft(f"draft-{name}", function, "v3-draft")


def new_keys(store, request, start=""):
    """The keys that an operation in the draft has created."""
    if request["zarr_format"] != 0:
        return []
    return [key for key in store if key.startswith(start) and key not in request["stored_before"]]


def no_entry_point(store, request):
    for key in new_keys(store, request, "zarr.json"):
        del store[key]


def entry(name, function):
    """Plant a change of the entry point."""

    def after(store, request):
        for key in new_keys(store, request, "zarr.json"):
            store.put(key, function(json.loads(store[key])))

    fault(f"draft-entry-{name}", after, "v3-draft")


def moved(name, function, start="", hint="v3-draft"):
    """Plant a change of the keys with a prefix."""

    def after(store, request):
        for key in new_keys(store, request, start):
            store[function(key)] = store.pop(key)

    fault(f"draft-{name}", after, hint)


def implied_groups_stored(store, request):
    parent = request["path"].rpartition("/")[0]
    if request["zarr_format"] == 0 and parent:
        store[f"meta/{parent}.group.json"] = b"{}"


for member in ("shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value", "attributes"):  # fmt: skip
    in_draft(f"draft-without-{member}", drop(member))
fault("draft-entry-point-missing", no_entry_point, "v3-draft")
entry("format-number", put(zarr_format=3))
entry("without-encoding", drop("metadata_encoding"))
moved("documents-below-root", lambda key: key.replace("meta/", "meta/root/", 1), "meta/")
fault("draft-implied-groups-stored", implied_groups_stored, "v3-draft")
draft(
    "codecs-named",
    change("codecs", each(lambda codec: {**codec, "type": codec["type"].split("/")[-2]})),
)
draft("fill-value-null", put(fill_value=None))
draft("transformers-dropped", drop("storage_transformers"))
draft("unknown-member", put(node_type="array"))


def draft_chunks(name, function):
    """Plant a change (value, document) of chunks."""

    def after(store, request):
        for key in new_keys(store, request, "data/"):
            store[key] = function(store[key], request["document"])

    fault(f"draft-{name}", after, "v3-draft")


def gzip_as_zlib(value, document):
    codecs = document.get("codecs") or ()
    is_gzip = len(codecs) == 1 and "gzip" in codecs[0]["type"]
    return zlib.compress(gunzip(value)) if is_gzip else value


draft_chunks(
    "shard-index-with-checksum",
    lambda value, document: value + bytes(4 if document.get("storage_transformers") else 0),
)
draft_chunks("gzip-as-zlib", gzip_as_zlib)


# --- changes of what is stored ---

CORE_MEMBERS = {
    "zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
    "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers",
}  # fmt: skip


update = in_documents("zarr.json", operations=("update",))
update(
    "update-drops-unknown-members",
    lambda document: without(document, *set(document) - CORE_MEMBERS),
)
update("update-replaces-attributes", put(attributes={"harness": 1}))


def restored(condition):
    """A writer that keeps the old value of keys for which condition(key, path, store) is true."""

    def after(store, request):
        for key, value in request["stored_before"].items():
            if condition(key, request["path"], store):
                store[key] = value

    return after


def removed(condition):
    """A writer that removes keys for which condition(key, request, store) is true."""

    def after(store, request):
        for key in [key for key in store if condition(key, request, store)]:
            del store[key]

    return after


def is_chunk(key, request, store):
    return not is_document(key)


def is_removed_chunk(key, path, store):
    return not is_document(key) and key not in store


def is_parent(key, request, store):
    parent = request["path"].rpartition("/")[0]
    return key == (f"{parent}/zarr.json" if parent else "zarr.json")


fault("update-removes-chunks", removed(is_chunk), operations=("update",))
erase = partial(fault, operations=("erase",))
erase(
    "erase-leaves-chunks",
    restored(lambda key, path, store: key.startswith(f"{path}/") and not is_document(key)),
)
erase("erase-takes-the-parent", removed(is_parent))

resize = partial(fault, hint="resize", operations=("resize",))
resize("resize-leaves-chunks", restored(is_removed_chunk))
resize("resize-keeps-the-old-shape", restored(lambda key, path, store: is_document(key)))
resize(
    "resize-keeps-elements-in-cut-chunks",
    restored(lambda key, path, store: not is_document(key) and key in store),
)


def nothing_written(store, request):
    store.clear()
    store.update(request["stored_before"])


write = partial(fault, hint="write", operations=("write",))
write("part-write-does-nothing", nothing_written)
