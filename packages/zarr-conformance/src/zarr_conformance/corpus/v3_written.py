"""Arrays and groups of version 3 that implementations write; the stored bytes are judged."""

from __future__ import annotations

from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.corpus.case import Accept, Case, Node, Reject, Values
from zarr_conformance.corpus.encode import document, raw, shard
from zarr_conformance.corpus.metadata import OMITTED, array, group, regular
from zarr_conformance.corpus.written_elements import (
    ATTRIBUTES,
    COMPLEX,
    FLOATS,
    INTEGERS,
    LARGE_INTEGERS,
    bool_fills,
    complex_fills,
    float_fills,
    integer_fills,
    raw_fills,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_conformance.corpus.written_elements import Fill

_FORMS = {
    "number": "v3-data-types.fill-float-number",
    "infinity": "v3-data-types.fill-float-infinity",
    "nan": "v3-data-types.fill-float-nan",
    "hex": "v3-data-types.fill-float-hex",
    "complex": "v3-data-types.fill-complex",
}
_PERMUTATIONS = ((0, 1), (1, 0), *permutations(range(3)), *permutations(range(4)))
_COMPRESSORS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "gzip": ({"name": "gzip", "configuration": {"level": 6}}, ()),
    "zstd": (
        {"name": "zstd", "configuration": {"level": 3, "checksum": True}},
        ("codec:zstd",),
    ),
    "blosc": (
        {
            "name": "blosc",
            "configuration": {
                "cname": "lz4",
                "clevel": 5,
                "shuffle": "shuffle",
                "typesize": 4,
                "blocksize": 0,
            },
        },
        (),
    ),
    "crc32c": ({"name": "crc32c"}, ()),
}


def cases() -> Iterator[Case]:
    """Yield the cases."""
    yield from _fill_values()
    yield from _gzip()
    yield from _zstd()
    yield from _blosc()
    yield from _transposes()
    yield from _chains()
    yield from _shards()
    yield from _empty_inner_chunks()
    yield from _keys()
    yield from _shapes()
    yield from _attributes()
    yield from _dimension_names()
    yield from _nodes()


def _bytes(endian: str | None = "little") -> dict[str, Any]:
    return {"name": "bytes", "configuration": {"endian": endian}} if endian else {"name": "bytes"}


def created(
    name: str,
    clauses: tuple[str, ...],
    summary: str,
    metadata: dict[str, Any],
    data: bytes,
    path: str = "",
    needs: tuple[str, ...] = (),
    stored: dict[str, bytes] | None = None,
) -> Case:
    """Return a case that creates an array and writes all elements."""
    return Case(
        f"v3-core/written/{name}",
        clauses,
        summary,
        "create",
        Accept(Node(values=Values(data), stored=stored)),
        path=path,
        needs=needs,
        document=metadata,
    )


# --- data types and fill values ---


def _fills(name: str) -> list[Fill]:
    if name == "bool":
        return bool_fills()
    if name in INTEGERS:
        return integer_fills(name)
    if name in FLOATS:
        return float_fills(name)
    return complex_fills(name) if name in COMPLEX else raw_fills(int(name[1:]) // 8)


def _fill_values() -> Iterator[Case]:
    raws = ("r8", "r16", "r24", "r64", "r128")
    for name in ("bool", *INTEGERS, *FLOATS, *COMPLEX, *raws):
        is_single = name in ("bool", "int8", "uint8", *raws)
        needs = ("data_type:float16",) if name == "float16" else ()
        needs = ("data_type:raw",) if name in raws else needs
        for endian, fill in product((None,) if is_single else ("little", "big"), _fills(name)):
            clause = {"bool": "v3-data-types.fill-bool"}.get(name, "v3-data-types.fill-integer")
            clauses: tuple[str, ...] = (
                "v3-core.array.fill-value",
                "v3-core.array.fill-value-recorded",
                "v3-codecs.bytes.representation",
                _FORMS.get(fill.kind, clause),
                f"v3-data-types.{name}",
            )
            yield created(
                f"{name}/{endian or 'no-endian'}-{fill.name}",
                # Raw bits are optional.
                ("v3-core.data-types.raw",) if name in raws else clauses,
                f"An array of {name} is written with this fill value; only bitwise equal elements "
                "are the fill value.",
                array(
                    shape=[8],
                    data_type=name,
                    fill_value=fill.value,
                    codecs=[_bytes(endian)],
                ),
                fill.data,
                needs=needs,
            )


# --- compressors ---


def _waves(dtype: str, count: int = 256) -> Any:
    """Return elements that compressors make much smaller."""
    return (np.arange(count) // 64 + 1).astype(dtype)


def _compressed(
    name: str,
    clauses: tuple[str, ...],
    codec: dict[str, Any],
    dtype: str = "int32",
    needs: tuple[str, ...] = (),
) -> Case:
    values = _waves(dtype)
    endian = None if values.dtype.itemsize == 1 else "little"
    configuration = ", ".join(f"{key} {value}" for key, value in codec["configuration"].items())
    return created(
        name,
        (*clauses, "v3-core.codecs.encode"),
        f"Chunks of {dtype} are compressed with {codec['name']} as the metadata says: "
        f"{configuration}.",
        array(
            shape=[256],
            data_type=dtype,
            chunk_grid=regular(128),
            codecs=[_bytes(endian), codec],
        ),
        raw(values),
        needs=needs,
    )


def _gzip() -> Iterator[Case]:
    for level, dtype in product(range(10), ("uint8", "int32", "float64")):
        clauses = tuple(f"v3-codecs.gzip.{item}" for item in ("level", "format", "algorithm"))
        if level == 0:
            clauses += ("v3-codecs.gzip.level-zero",)
        codec = {"name": "gzip", "configuration": {"level": level}}
        yield _compressed(f"gzip/level-{level}-{dtype}", clauses, codec, dtype)


def _zstd() -> Iterator[Case]:
    levels = (-7, -1, 0, 1, 3, 9, 19, 22)
    for level, checksum, dtype in product(levels, (False, True), ("uint8", "int32", "float64")):
        codec = {"name": "zstd", "configuration": {"level": level, "checksum": checksum}}
        yield _compressed(
            f"zstd/level-{level}-{'checksum' if checksum else 'plain'}-{dtype}".replace("--", "-m"),
            ("ext-codecs.zstd.level", "ext-codecs.zstd.checksum"),
            codec,
            dtype,
            ("codec:zstd",),
        )


def _blosc() -> Iterator[Case]:
    names = ("lz4", "lz4hc", "blosclz", "zstd", "zlib")
    shuffles = ("noshuffle", "shuffle", "bitshuffle")
    types = {1: "uint8", 2: "int16", 4: "int32", 8: "float64"}
    clauses = tuple(
        f"v3-codecs.blosc.{item}"
        for item in ("format", "cname", "clevel", "shuffle", "typesize", "blocksize")
    )
    for cname, clevel, shuffle, size in product(names, (0, 1, 5, 9), shuffles, types):
        codec = {
            "name": "blosc",
            "configuration": {
                "cname": cname,
                "clevel": clevel,
                "shuffle": shuffle,
                "typesize": size,
                "blocksize": 0,
            },
        }
        more = ("v3-codecs.blosc.clevel-zero",) if clevel == 0 else ()
        yield _compressed(
            f"blosc/{cname}-{clevel}-{shuffle}-{size}", (*clauses, *more), codec, types[size]
        )
    for cname, blocksize, typesize in product(("zstd",), (128, 256), (1, 2, 4)):
        codec = {
            "name": "blosc",
            "configuration": {
                "cname": cname,
                "clevel": 5,
                "shuffle": "shuffle",
                "typesize": typesize,
                "blocksize": blocksize,
            },
        }
        yield _compressed(f"blosc/{cname}-blocks-{blocksize}-{typesize}", clauses, codec)


# --- chains ---


def _counting(shape: tuple[int, ...], dtype: str = "int32") -> Any:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)


def _order(*order: int) -> dict[str, Any]:
    return {"name": "transpose", "configuration": {"order": list(order)}}


def _transposes() -> Iterator[Case]:
    shapes = {2: ((3, 5), (2, 3)), 3: ((3, 4, 5), (2, 3, 4)), 4: ((2, 3, 4, 5), (2, 2, 3, 4))}
    clauses = ("v3-codecs.transpose.shape", "v3-codecs.transpose.order", "v3-core.codecs.order")
    for order, endian in product(_PERMUTATIONS, ("little", "big")):
        shape, lengths = shapes[len(order)]
        yield created(
            f"transpose/{''.join(map(str, order))}-{endian}",
            clauses,
            f"Chunks are written with the dimensions in the order {list(order)}.",
            array(
                shape=list(shape),
                chunk_grid=regular(*lengths),
                codecs=[_order(*order), _bytes(endian)],
            ),
            raw(_counting(shape)),
        )
    for first, second in product(permutations(range(3)), repeat=2):
        yield created(
            f"transpose/{''.join(map(str, first))}-{''.join(map(str, second))}",
            clauses,
            "Two transpositions are applied in the order of the list.",
            array(
                shape=[3, 4, 5],
                chunk_grid=regular(2, 3, 4),
                codecs=[_order(*first), _order(*second), _bytes()],
            ),
            raw(_counting((3, 4, 5))),
        )


def _chains() -> Iterator[Case]:
    values = _counting((6, 8))
    for before, count in product((None, (1, 0)), (2, 3)):
        for names in permutations(_COMPRESSORS, count):
            needs = tuple(need for name in names for need in _COMPRESSORS[name][1])
            filters = [_order(*before)] if before else []
            yield created(
                f"chain/{'transpose-' if before else ''}{'-'.join(names)}",
                ("v3-core.codecs.order", "v3-core.codecs.kinds", "v3-core.codecs.encode"),
                f"bytes -> bytes codecs are applied in order: {', '.join(names)}.",
                array(
                    shape=[6, 8],
                    chunk_grid=regular(4, 4),
                    codecs=[*filters, _bytes(), *(_COMPRESSORS[item][0] for item in names)],
                ),
                raw(values),
                needs=needs,
            )
    for name, dtype in product(_COMPRESSORS, ("uint8", "int16", "float32", "complex128")):
        endian = None if dtype == "uint8" else "big"
        yield created(
            f"chain/{name}-{dtype}-big",
            ("v3-core.codecs.order", "v3-codecs.bytes.representation"),
            f"Elements of {dtype} are swapped, then encoded with {name}.",
            array(
                shape=[6, 8],
                data_type=dtype,
                fill_value=[0.0, 0.0] if dtype == "complex128" else 0,
                chunk_grid=regular(4, 4),
                codecs=[_bytes(endian), _COMPRESSORS[name][0]],
            ),
            raw(_counting((6, 8), dtype)),
            needs=_COMPRESSORS[name][1],
        )


# --- shards ---

_INDEX = [_bytes(), {"name": "crc32c"}]


def _sharding(
    *lengths: int,
    codecs: Any = None,
    index_codecs: Any = None,
    location: str | None = "end",
) -> dict[str, Any]:
    configuration: dict[str, Any] = {
        "chunk_shape": list(lengths),
        "codecs": [_bytes()] if codecs is None else codecs,
        "index_codecs": _INDEX if index_codecs is None else index_codecs,
    }
    if location is not None:
        configuration["index_location"] = location
    return {"name": "sharding_indexed", "configuration": configuration}


def _occupied(kind: str, shape: tuple[int, int]) -> Any:
    """Return elements of which inner chunks of (2, 2) are the fill value 0."""
    values = _counting(shape)
    if kind == "some":
        values[:2, 2:] = 0
        values[4:, :2] = 0
    elif kind == "one":
        values[:] = 0
        values[2:4, 4:6] = 9
    elif kind == "almost":
        values[:] = 0
        values[3, 3] = 1
    return values


def _shards() -> Iterator[Case]:
    chains: dict[str, tuple[list[Any], tuple[str, ...]]] = {
        "bytes": ([_bytes()], ()),
        "big": ([_bytes("big")], ()),
        "transpose": ([_order(1, 0), _bytes()], ()),
        **{name: ([_bytes(), codec], needs) for name, (codec, needs) in _COMPRESSORS.items()},
    }
    indexes = {
        "little-checked": _INDEX,
        "big-checked": [_bytes("big"), {"name": "crc32c"}],
        "little": [_bytes()],
        "big": [_bytes("big")],
    }
    clauses = tuple(
        f"v3-codecs.sharding.{item}"
        for item in ("index", "offset", "empty", "index-location", "index-codecs", "codecs")
    )
    for (chain, (codecs, needs)), (index, index_codecs), location, kind in product(
        chains.items(), indexes.items(), ("start", "end"), ("full", "some", "one", "almost")
    ):
        values = _occupied(kind, (6, 8))
        yield created(
            f"sharding/{chain}-{index}-{location}-{kind}",
            clauses,
            f"A shard: inner chunks {kind}, codecs {chain}, index {index} at the {location}.",
            array(
                shape=[6, 8],
                chunk_grid=regular(6, 8),
                codecs=[
                    _sharding(2, 2, codecs=codecs, index_codecs=index_codecs, location=location)
                ],
            ),
            raw(values),
            needs=needs,
        )
    shapes = (
        ((5,), (4,), (2,)),
        ((7, 5), (4, 4), (2, 4)),
        ((7, 5), (4, 6), (4, 2)),
        ((3, 4, 5), (2, 4, 4), (1, 2, 4)),
        ((3, 4, 5), (3, 4, 5), (3, 2, 1)),
        ((1, 9), (2, 8), (1, 8)),
    )
    for number, (shape, lengths, inner) in enumerate(shapes):
        for location in ("start", "end", None):
            yield created(
                f"sharding/shape-{number}-{location or 'default'}",
                (*clauses, "v3-codecs.sharding.beyond", "v3-chunks.regular.border"),
                f"An array of shape {shape} in shards of {lengths} with inner chunks of {inner}.",
                array(
                    shape=list(shape),
                    chunk_grid=regular(*lengths),
                    codecs=[_sharding(*inner, location=location)],
                ),
                raw(_counting(shape)),
            )
    for location, inner_location in product(("start", "end"), repeat=2):
        nested = _sharding(2, 2, location=inner_location)
        for kind in ("full", "some", "one"):
            yield created(
                f"sharding/nested-{location}-{inner_location}-{kind}",
                clauses,
                f"Shards in shards, with indexes at the {location} and the {inner_location}.",
                array(
                    shape=[8, 8],
                    chunk_grid=regular(8, 8),
                    codecs=[_sharding(4, 4, codecs=[nested], location=location)],
                ),
                raw(_occupied(kind, (8, 8))),
            )
    for name, fills in (("float32", float_fills("float32")), ("float64", float_fills("float64"))):
        for fill in fills:
            yield created(
                f"sharding/{name}-{fill.name}",
                (*clauses, "v3-core.array.fill-value-used"),
                "Inner chunks are empty only if all elements are bitwise the fill value.",
                array(
                    shape=[8],
                    data_type=name,
                    fill_value=fill.value,
                    chunk_grid=regular(8),
                    codecs=[_sharding(2)],
                ),
                fill.data,
            )
    for name, outer in (("gzip", _COMPRESSORS["gzip"]), ("crc32c", _COMPRESSORS["crc32c"])):
        yield created(
            f"sharding/then-{name}",
            ("v3-core.codecs.order", "v3-core.codecs.kinds"),
            f"Whole shards are encoded with {name}.",
            array(shape=[4, 4], chunk_grid=regular(4, 4), codecs=[_sharding(2, 2), outer[0]]),
            raw(_counting((4, 4))),
        )
    yield created(
        "sharding/after-transpose",
        ("v3-core.codecs.order", "v3-codecs.transpose.shape"),
        "A transposed chunk is divided into inner chunks.",
        array(
            shape=[4, 6],
            chunk_grid=regular(4, 6),
            codecs=[_order(1, 0), _sharding(3, 2)],
        ),
        raw(_counting((4, 6))),
    )


def _empty_inner_chunks() -> Iterator[Case]:
    """Yield cases of which the shard has no empty inner chunks, which writers may leave out."""
    values = _occupied("some", (6, 4))
    inner = {
        n: raw(np.ascontiguousarray(values[row : row + 2, column : column + 2]))
        for n, (row, column) in enumerate(product((0, 2, 4), (0, 2)))
        if values[row : row + 2, column : column + 2].any()
    }
    for location in ("start", "end"):
        yield created(
            f"sharding/empty-left-out-{location}",
            ("v3-codecs.sharding.empty-left-out",),
            "Inner chunks of only the fill value are not stored.",
            array(
                shape=[6, 4],
                chunk_grid=regular(6, 4),
                codecs=[_sharding(2, 2, location=location)],
            ),
            raw(values),
            stored={"c/0/0": shard(inner, 6, index_location=location)},
        )


# --- keys and shapes ---


def _keys() -> Iterator[Case]:
    shapes: tuple[tuple[int, ...], ...] = ((), (3,), (12,), (3, 2), (2, 1, 3), (2, 2, 2, 2))
    for name, separator, shape, path in product(
        ("default", "v2"), ("/", ".", None), shapes, ("", "a", "a/b.c/d")
    ):
        encoding: Any = {"name": name}
        if separator is not None:
            encoding["configuration"] = {"separator": separator}
        which = {"/": "slash", ".": "period", None: "omitted"}[separator]
        end = "separator-default" if separator is None else "key"
        end = end if shape else "no-dimensions"
        yield created(
            f"keys/{name}-{which}-{'x'.join(map(str, shape)) or 'scalar'}-{path.count('/') + bool(path)}",
            (
                f"v3-chunks.{name}.{end}",
                "v3-core.keys.array-data" if path else "v3-core.keys.root-array-data",
                "v3-core.keys.node-document" if path else "v3-core.keys.root-document",
            ),
            f"Chunks of an array of shape {shape} at {'/' + path!r} are written to their keys.",
            array(
                shape=list(shape),
                chunk_grid=regular(*(1 for _ in shape)),
                chunk_key_encoding=encoding,
            ),
            raw(_counting(shape)),
            path,
            needs=("chunk_key_encoding:v2",) if name == "v2" else (),
        )


def _shapes() -> Iterator[Case]:
    for shape, lengths in (
        ((1,), (1,)),
        ((1,), (7,)),
        ((7,), (7,)),
        ((7,), (3,)),
        ((7,), (6,)),
        ((3, 3), (2, 2)),
        ((3, 3), (5, 1)),
        ((2, 7), (1, 4)),
        ((3, 2, 4), (2, 3, 3)),
        ((2, 3, 2, 3), (1, 2, 2, 2)),
    ):
        for fill in (0, -1):
            yield created(
                f"shapes/{'x'.join(map(str, shape))}-in-{'x'.join(map(str, lengths))}-{abs(fill)}",
                (
                    "v3-chunks.regular.border",
                    "v3-chunks.regular.place",
                    "v3-core.array.shape",
                    "v3-core.array.chunk-shape",
                ),
                f"An array of shape {shape} is written in chunks of {lengths}, all of them full.",
                array(shape=list(shape), chunk_grid=regular(*lengths), fill_value=fill),
                raw(_counting(shape)),
            )
    for shape in ((0,), (0, 3), (2, 0)):
        yield created(
            f"shapes/{'x'.join(map(str, shape))}",
            ("v3-core.hierarchy.empty-dimension",),
            f"An array of shape {shape} has no chunks.",
            array(shape=list(shape), chunk_grid=regular(*(2 for _ in shape))),
            b"",
        )


# --- attributes and names ---


def _attributes() -> Iterator[Case]:
    for kind, value in ATTRIBUTES.items():
        large = ("v3-core.metadata.large-integers",) if kind in LARGE_INTEGERS else ()
        for node, metadata in (("array", array), ("group", group)):
            yield Case(
                f"v3-core/written/attributes/{kind}-{node}",
                large or (f"v3-core.{node}.attributes-any", f"v3-core.{node}.attributes"),
                f"An attribute of {'an' if node == 'array' else 'a'} {node} is written exactly.",
                "create",
                Accept(),
                document=metadata(attributes={"it": value, "other": [value]}),
            )
        for node, metadata in (("array", array), ("group", group)):
            yield Case(
                f"v3-core/attributes/{kind}-{node}",
                large or (f"v3-core.{node}.attributes-any",),
                "Attribute values are read exactly.",
                "open",
                Accept(Node(attributes={"it": value})),
                {"zarr.json": document(metadata(attributes={"it": value}))},
            )
        yield Case(
            f"v3-core/written/attributes/{kind}-kept",
            large or ("v3-core.array.attributes-any",),
            "Setting another attribute keeps the value exactly.",
            "update",
            Accept(
                Node(
                    documents={
                        "zarr.json": {"attributes": {"harness": 1, "it": value, "o": [value]}}
                    }
                )
            ),
            {"zarr.json": document(array(attributes={"it": value, "o": [value]}))},
        )
    for kind, name in (
        ("empty", ""),
        ("space", "a b"),
        ("slash", "a/b"),
        ("unicode", "größe \U0001f30d"),
        ("reserved", "__zarr"),
        ("number", "1"),
    ):
        yield Case(
            f"v3-core/written/attributes/name-{kind}",
            ("v3-core.array.attributes-any",),
            "An attribute may have any name.",
            "create",
            Accept(),
            document=array(attributes={name: 1}),
        )


def _dimension_names() -> Iterator[Case]:
    for kind, names in (
        ("distinct", ["x", "y", "z"]),
        ("equal", ["x", "x", "x"]),
        ("null", ["x", None, "z"]),
        ("nulls", [None, None, None]),
        ("empty", ["", "y", None]),
        ("all-empty", ["", "", ""]),
        ("unicode", ["größe", "日", "\U0001f30d"]),
        ("spaces", [" ", "a b", "c "]),
        ("digits", ["0", "1", "2"]),
        ("reversed", ["z", "y", "x"]),
        ("omitted", OMITTED),
    ):
        yield created(
            f"dimension-names/{kind}",
            ("v3-core.array.dimension-names", "v3-core.array.dimension-names-null"),
            "dimension_names are written as given; null is not an empty name.",
            array(shape=[2, 3, 4], chunk_grid=regular(2, 3, 4), dimension_names=names),
            raw(_counting((2, 3, 4))),
        )


# --- nodes ---


def _nodes() -> Iterator[Case]:
    there = {
        "zarr.json": document(group()),
        "a/zarr.json": document(array()),
        "a/c/0": raw(np.array([1, 2], "<i4")),
        "ab/zarr.json": document(array(attributes={"kept": 0.1})),
        "ab/c/1": raw(np.array([3, 4], "<i4")),
        "g/zarr.json": document(group(attributes={"kept": 2**60})),
    }
    for kind, path in (("beside", "b"), ("below-a-group", "g/a"), ("deep", "g/h/i/a")):
        yield Case(
            f"v3-core/written/nodes/{kind}",
            ("v3-core.storage.exists", "v3-core.stores.one-value"),
            "Creating a node keeps all other nodes and their chunks.",
            "create",
            Accept(Node(stored=there, values=Values(raw(np.arange(1, 5, dtype="<i4"))))),
            there,
            path,
            document=array(),
        )
    for kind, path, metadata in (
        ("array", "a/b", array()),
        ("group", "a/b", group()),
        ("deep-array", "a/b/c", array()),
        ("deep-group", "a/b/c/d", group()),
    ):
        yield Case(
            f"v3-core/written/nodes/below-an-array-{kind}",
            ("v3-core.hierarchy.array-has-no-children",),
            "A node cannot be created below an array.",
            "create",
            Reject("other", "metadata"),
            there,
            path,
            document=metadata,
        )
