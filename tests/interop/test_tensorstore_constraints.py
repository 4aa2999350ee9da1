"""Constraints on existing arrays, each alone and several at once: the same verdicts as TensorStore."""

import json
import math
import random

import numpy as np
import pytest
import zarr_core as zarr
from zarr_compat import check_units
from zarr_core.errors import MetadataMismatchError

ts = pytest.importorskip("tensorstore")

PAIRS = 200
UNITS = ["nm", "4 nm", "2.5 um", "s", ""]
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CRC = {"name": "crc32c"}
FILLS = {
    "uint8": [0, 255, 7],
    "int32": [0, -5, 7],
    "float32": [0.0, -0.0, 1.5, "NaN", "Infinity", "0x7fc00001"],
    "float64": [0.0, 2.5, "NaN", "-Infinity"],
    "bool": [False, True],
    "complex64": [[0.0, 0.0], [1.5, "NaN"]],
}


def compressor(rng):
    name = rng.choice(["gzip", "zstd", "blosc", "crc32c"])
    if name == "gzip":
        return {"name": name, "configuration": {"level": rng.choice([1, 5, 8])}}
    if name == "zstd":
        level, checksum = rng.choice([0, 3]), rng.random() < 0.5
        return {"name": name, "configuration": {"level": level, "checksum": checksum}}
    if name == "blosc":
        members = {
            "cname": rng.choice(["lz4", "zstd"]),
            "clevel": rng.choice([3, 5]),
            "shuffle": "shuffle",
        }
        return {"name": name, "configuration": {**members, "typesize": 4, "blocksize": 0}}
    return CRC


def chain(rng, ndim, endian):
    codecs = []
    if ndim > 1 and rng.random() < 0.4:
        order = rng.sample(range(ndim), ndim)
        codecs.append({"name": "transpose", "configuration": {"order": order}})
    codecs.append({"name": "bytes", **({"configuration": {"endian": endian}} if endian else {})})
    codecs += [compressor(rng) for _ in range(rng.choice([0, 1, 1, 2]))]
    return codecs


def existing(rng):
    """The metadata of an array that TensorStore can open."""
    ndim = rng.choice([1, 2, 3])
    data_type = rng.choice(list(FILLS))
    inner = [rng.choice([2, 3]) for _ in range(ndim)]
    chunk = [length * rng.choice([1, 2]) for length in inner]
    endian = None if data_type in ("uint8", "bool") else rng.choice(["little", "little", "big"])
    codecs = chain(rng, ndim, endian)
    if rng.random() < 0.35:
        index = [BYTES, CRC]
        location = rng.choice(["start", "end"])
        members = {
            "chunk_shape": inner,
            "codecs": codecs,
            "index_codecs": index,
            "index_location": location,
        }
        codecs = [{"name": "sharding_indexed", "configuration": members}]
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [length * rng.choice([3, 5]) for length in chunk],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": rng.choice(
            [
                {"name": "default"},
                {"name": "default", "configuration": {"separator": "/"}},
                {"name": "default", "configuration": {"separator": "."}},
                {"name": "v2", "configuration": {"separator": "/"}},
                {"name": "v2"},
            ]
        ),
        "fill_value": rng.choice(FILLS[data_type]),
        "codecs": codecs,
        "attributes": {"units": "m", "valid": {"min": 0, "max": 9}, "count": 3},
    }
    if rng.random() < 0.5:
        document["dimension_names"] = rng.sample(["x", "y", None, ""], ndim)
    return document


def other(rng, value):
    """A different value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value[:-1], other(rng, value[-1])]
    return {"little": "big", "big": "little", "start": "end", "end": "start", "lz4": "zstd",
            "zstd": "lz4", "shuffle": "noshuffle"}[value]  # fmt: skip


def partial_codecs(rng, codecs):
    """A chain that the given one satisfies, or in some cases not."""
    result = []
    for codec in codecs:
        name, configuration = codec["name"], codec.get("configuration", {})
        is_serializer = name in ("bytes", "sharding_indexed")
        if is_serializer and rng.random() < 0.3:
            continue  # the array -> bytes codec is unconstrained
        if name == "transpose":
            order = configuration["order"]
            if order == [*reversed(range(len(order)))] and rng.random() < 0.5:
                order = "F"
            elif rng.random() < 0.2:
                order = order[1:] + order[:1]
            result.append({"name": name, "configuration": {"order": order}})
            continue
        given = {}
        for member, value in configuration.items():
            if rng.random() < 0.5:
                continue
            if member in ("codecs", "index_codecs"):
                given[member] = partial_codecs(rng, value)
            else:
                given[member] = other(rng, value) if rng.random() < 0.15 else value
        if not is_serializer and rng.random() < 0.08:
            name, given = rng.choice([n for n in ("gzip", "zstd", "crc32c") if n != name]), {}
        if given:
            result.append({"name": name, "configuration": given})
        else:
            result.append(name if rng.random() < 0.5 else {"name": name})
    if rng.random() < 0.08:
        result.append("crc32c")
    return result


def changed(rng, value):
    """The value, or in half of all cases another one."""
    return value if rng.random() < 0.5 else other(rng, value)


def layout_of(document):
    """The lengths of the chunks and of the shards, which are equal without sharding."""
    write = document["chunk_grid"]["configuration"]["chunk_shape"]
    codec = document["codecs"][0]
    inner = codec["configuration"]["chunk_shape"] if codec["name"] == "sharding_indexed" else None
    return inner or write, write if inner else None


def shape(rng, document):
    given = changed(rng, document["shape"])
    if rng.random() < 0.2:
        given = given[:-1]
    return {"schema": {"domain": {"shape": given}}}, {"shape": given}


def rank(rng, document):
    given = rng.choice([1, 2, 3])
    return {"rank": given}, {"metadata": {"shape": [None] * given}}


def dtype(rng, document):
    given = document["data_type"] if rng.random() < 0.5 else rng.choice(list(FILLS))
    return {"dtype": given}, {"dtype": given}


def chunks(rng, document):
    given = changed(rng, layout_of(document)[0])
    return {"schema": {"chunk_layout": {"read_chunk": {"shape": given}}}}, {"chunks": given}


def shards(rng, document):
    write = layout_of(document)[1]
    if write is None:
        return None
    # A shard contains whole chunks.
    given = write if rng.random() < 0.5 else [2 * length for length in write]
    return {"schema": {"chunk_layout": {"write_chunk": {"shape": given}}}}, {"shards": given}


def codecs(rng, document):
    given = partial_codecs(rng, document["codecs"])
    return {"metadata": {"codecs": given}}, {"metadata": {"codecs": given}}


def order(rng, document):
    ndim = len(document["shape"])
    given = rng.sample(range(ndim), ndim)
    return {"schema": {"chunk_layout": {"inner_order": given}}}, {"order": given}


def fill_value(rng, document):
    given = rng.choice(FILLS[document["data_type"]])
    spec = {"metadata": {"fill_value": given, "data_type": document["data_type"]}}
    if isinstance(given, str) and given.startswith("0x"):
        given = np.uint32(int(given, 16)).view("f4")
    elif isinstance(given, list):
        given = complex(*map(float, given))
    elif isinstance(given, str):
        given = float(given)
    return spec, {"fill_value": given}


def attributes(rng, document):
    given = {
        name: changed(rng, value) if name == "count" else value
        for name, value in document["attributes"].items()
        if rng.random() < 0.6
    }
    if rng.random() < 0.2:
        given["valid"] = {"min": 0}
    return {"metadata": {"attributes": given}}, {"attributes": given}


def dimension_names(rng, document):
    names = document.get("dimension_names", [None] * len(document["shape"]))
    given = names if rng.random() < 0.5 else [*names[:-1], rng.choice(["x", "other", "", None])]
    return {"metadata": {"dimension_names": given}}, {"dimension_names": given}


def units(rng, document):
    ndim = len(document["shape"])
    stored = document["attributes"].setdefault(
        "dimension_units", [rng.choice([*UNITS, None]) for _ in range(ndim)]
    )
    given = [
        unit if rng.random() < 0.7 else rng.choice([*UNITS, None]) for unit in stored
    ]  # fmt: skip
    if len(given) > 1 and rng.random() < 0.1:
        given = given[:-1]
    return {"schema": {"dimension_units": given}}, {"dimension_units": given}


def chunk_key_encoding(rng, document):
    given = {"name": rng.choice(["default", "v2"])}
    if rng.random() < 0.7:
        given["configuration"] = {"separator": rng.choice("/.")}
    return {"metadata": {"chunk_key_encoding": given}}, {"chunk_key_encoding": given}


def chunk_layout(rng, document):
    """Lengths of which some are free, hard or soft; or a number of elements."""
    read, write = layout_of(document)
    form = rng.choice(["read", "read", "write", "write", "soft", "elements", "aspect_ratio"])
    if form == "elements":
        given = math.prod(read) + rng.choice([0, 1, 100])
        spec = {"read_chunk": {"elements": given}}
        return {"schema": {"chunk_layout": spec}}, {"chunks": zarr.ChunkLayout(elements=given)}
    if form == "aspect_ratio":
        given = [rng.choice([1.0, 2.0]) for _ in read]
        spec = {"read_chunk": {"aspect_ratio": given}}
        layout = zarr.ChunkLayout(aspect_ratio=tuple(given))
        return {"schema": {"chunk_layout": spec}}, {"chunks": layout}
    if form == "write" and write is None:
        return None
    lengths = [*changed(rng, write if form == "write" else read)]
    free = rng.randrange(len(lengths))
    if rng.random() < 0.5:
        lengths[free] = 0
    layout = zarr.ChunkLayout(
        shape=tuple(length or "auto" for length in lengths), soft=form == "soft"
    )
    if form == "soft":
        return {"schema": {"chunk_layout": {"read_chunk": {"shape_soft_constraint": lengths}}}}, {
            "chunks": layout
        }
    spec = {f"{form}_chunk": {"shape": lengths}}
    return {"schema": {"chunk_layout": spec}}, {"shards" if form == "write" else "chunks": layout}


KINDS = [
    shape, rank, dtype, chunks, shards, codecs, order, fill_value, attributes, dimension_names,
    units, chunk_key_encoding, chunk_layout,
]  # fmt: skip
POINTERS = {
    "shape": "/shape", "rank": "/shape", "dtype": "/data_type", "fill_value": "/fill_value",
    "attributes": "/attributes", "dimension_names": "/dimension_names", "units": "/attributes",
    "chunk_key_encoding": "/chunk_key_encoding", "codecs": "/codecs", "order": "/codecs",
}  # fmt: skip


def generated(kind):
    rng = random.Random(kind.__name__)
    while True:
        document = existing(rng)
        pair = kind(rng, document)
        if pair is not None:
            yield document, *pair


def refusal(kvstore, options):
    try:
        ts.open({"driver": "zarr3", "kvstore": kvstore, **options}, open=True, read=True).result()
    except ValueError as error:
        return str(error)
    return ""


def problems(document, options):
    """The problems of an array; None for a constraint that no array satisfies."""
    store = zarr.MemoryStore({"zarr.json": json.dumps(document).encode()})
    try:
        units = options.pop("dimension_units", None)
        array = zarr.open_array(store, "r", **options)
        if units is not None:
            check_units(array, units)
    except MetadataMismatchError as error:
        return error.problems
    except (TypeError, ValueError):
        return None
    return []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_verdicts_are_those_of_tensorstore(kind, tmp_path):
    refused = 0
    pairs = generated(kind)
    for number in range(PAIRS):
        document, theirs, ours = next(pairs)
        place = tmp_path / str(number)
        place.mkdir()
        (place / "zarr.json").write_text(json.dumps(document))
        reason = refusal(f"file://{place}/", theirs)
        found = problems(document, ours)
        assert (found != []) == bool(reason), (document, theirs, ours, reason, found)
        refused += bool(reason)
        for problem in found or ():
            assert problem.pointer.startswith(POINTERS.get(kind.__name__, "/c")), problem
    assert PAIRS // 10 <= refused <= PAIRS - PAIRS // 10


TOGETHER = [shape, codecs, fill_value, attributes, dimension_names, chunk_key_encoding]


def test_every_difference_of_several_members_is_named(tmp_path):
    rng = random.Random(20240607)
    counts = [0] * 4
    for number in range(PAIRS):
        document = existing(rng)
        place = tmp_path / str(number)
        place.mkdir()
        (place / "zarr.json").write_text(json.dumps(document))
        given, expected = {}, set()
        for kind in rng.sample(TOGETHER, 3):
            theirs, ours = kind(rng, document)
            given |= theirs.get("metadata", ours)
            if refusal(f"file://{place}/", theirs):
                expected.add(POINTERS[kind.__name__])
        reason = refusal(f"file://{place}/", {"metadata": given})
        assert bool(reason) == bool(expected), (document, given, reason)
        found = problems(document, {"metadata": given})
        if found is None:  # the given shape and dimension names differ in rank
            assert "/shape" in expected
            continue
        pointers = [problem.pointer for problem in found]
        assert len({*pointers}) == len(pointers)
        assert {f"/{pointer.split('/')[1]}" for pointer in pointers} == expected, (document, given)
        counts[len(expected)] += 1
    assert min(counts[:3]) >= PAIRS // 10
