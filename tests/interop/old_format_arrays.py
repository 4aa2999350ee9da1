"""Arrays that tests create in the older formats: elements and arguments."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from recording import ramp, structured

SHAPE, CHUNKS = (5, 4), (2, 3)
LARGER, LARGER_CHUNKS = (np.arange(200, dtype="<i4").reshape(10, 20) * 3) % 100, (8, 12)
NUMBERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")
ATTRIBUTES = {"title": "Höhen \U0001f30d", "large": 2**60 + 1, "nested": {"list": [1.5, None]}}
Cases = dict[str, tuple[np.ndarray, dict[str, Any]]]


def named(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def objects(*rows: Any) -> np.ndarray:
    values = np.empty(len(rows), object)
    for index, row in enumerate(rows):
        values[index] = row
    return values


def numbers(orders: str = "<>", more: tuple[str, ...] = ()) -> Cases:
    return {
        f"{'big' if order == '>' else 'little'}_{kind}": (ramp(order + kind, SHAPE), {})
        for order in orders
        for kind in (*NUMBERS, *more)
    }


def shapes(orders: str = "CF", *, empty: bool = True, scalar: bool = True) -> Cases:
    cases: Cases = {}
    for order in orders:
        for shape, chunks in (
            ((), ()),
            ((7,), (3,)),
            ((3, 4, 5), (2, 2, 3)),
            ((0, 3), (1, 2)),
            ((2, 3), (5, 7)),
        ):
            if (shape or scalar) and (0 not in shape or empty):
                name = "_".join(["shape", order, *map(str, shape)])
                cases[name] = ramp("<i4", shape), {"order": order, "chunks": chunks}
    return cases


COMPRESSORS = {
    "none": None,
    "gzip": named("gzip", level=5),
    "zstd": named("zstd", level=3, checksum=False),
    "zlib": named("numcodecs.zlib", level=5),
    "bz2": named("numcodecs.bz2", level=5),
    "lzma": named("numcodecs.lzma", preset=1),
    "lz4": named("numcodecs.lz4", acceleration=1),
}


def compressed(*names: str, **further: Any) -> Cases:
    """Arrays with some of the compressors, or all, and with further ones."""
    compressors = {name: COMPRESSORS[name] for name in names or COMPRESSORS} | further
    return {
        f"compressed_{name}": (LARGER, {"compressors": each, "chunks": LARGER_CHUNKS})
        for name, each in compressors.items()
    }


def kinds(*dtypes: str, **options: Any) -> Cases:
    """Arrays of data types that are not numbers."""
    cases: Cases = {}
    for dtype in dtypes:
        word = dtype.translate({ord(letter): "_" for letter in "|<>[]"})
        name = ("big" if dtype[0] == ">" else "kind") + word
        cases[name] = ramp(dtype, SHAPE), options
    return cases


def blosc(name: str = "blosc", **more: Any) -> dict[str, Any]:
    return {
        f"blosc_{cname}_{shuffle}": named(
            name, cname=cname, clevel=5, shuffle=shuffle, typesize=4, blocksize=0, **more
        )
        for cname in ("lz4", "blosclz", "zlib", "zstd")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    }


def filled(*kinds: str) -> Cases:
    fills = {
        "nan": ("<f4", np.nan),
        "inf": ("<f8", -np.inf),
        "tenth": ("<f8", 0.1),
        "least": ("<i8", -(2**63)),
        "most": ("<u8", 2**64 - 1),
        "true": ("|b1", True),
        "complex": ("<c8", 1.5 - 2j),
        "bytes": ("|S4", b"ab"),
        "text": ("<U3", "Ωz"),
        "time": ("<M8[s]", np.datetime64(86400, "s")),
    }
    cases: Cases = {}
    for name in kinds or fills:
        dtype, fill = fills[name]
        # Only the fill value: no chunk is stored.
        cases[f"fill_{name}"] = np.full(SHAPE, fill, dtype), {"fill_value": fill}
    return cases


def version_2() -> Cases:
    cases = numbers(more=("f2", "c8", "c16")) | shapes() | filled()
    cases |= kinds("|b1", "|S5", "<U4", ">U4", "|V3", "<M8[ns]", ">M8[D]", "<M8[25s]", "<m8[us]")
    plain = np.dtype([("x", "<i4"), ("y", ">f8"), ("name", "S3")])
    nested = np.dtype([("foo", "<f4"), ("bar", [("baz", "<f4"), ("qux", "<i4")])])
    subarray = np.dtype([("x", "<f4"), ("z", "<i2", (2, 2))])
    for name, dtype in (("plain", plain), ("nested", nested), ("subarray", subarray)):
        cases[f"structure_{name}"] = structured(dtype, SHAPE), {}
    cases["slash"] = ramp("<i4", SHAPE), {"chunk_key_encoding": named("v2", separator="/")}
    cases |= compressed(**blosc())
    filters = {
        "delta": named("numcodecs.delta", dtype="<i4"),
        "fixedscaleoffset": named(
            "numcodecs.fixedscaleoffset", offset=3, scale=1, dtype="<i4", astype="<i2"
        ),
        "astype": named("numcodecs.astype", encode_dtype="<i2", decode_dtype="<i4"),
    }
    for name, filter_ in filters.items():
        options = {"filters": [filter_], "compressors": named("numcodecs.zlib", level=1)}
        cases[f"filter_{name}"] = LARGER, {**options, "chunks": LARGER_CHUNKS}
    packed = {"filters": [named("numcodecs.packbits")], "compressors": None}
    cases["filter_packbits"] = ramp("?", SHAPE), packed
    checked = [named("numcodecs.shuffle", elementsize=4), named("numcodecs.crc32")]
    cases["filter_shuffle_crc32"] = LARGER, {"compressors": checked, "chunks": LARGER_CHUNKS}
    texts = np.array(["", "a", "Ω\U0001f30d", "x" * 20, "5"], object)
    cases["text"] = texts, {"dtype": "string", "chunks": (3,)}
    cases["bytes"] = objects(b"", b"a", b"\xff", b"4", b"5"), {"dtype": "bytes", "chunks": (3,)}
    things = objects("text", 1, None, [1, {"a": 2.5}], True)
    for name in ("json2", "msgpack2"):
        serializer = named(f"numcodecs.{name}")
        options = {"dtype": "v2.object", "serializer": serializer, "chunks": (3,)}
        cases[f"object_{name}"] = things, options
    arrays = objects(*(np.arange(size, dtype="<i4") for size in (1, 3, 2, 5, 4)))
    serializer = named("numcodecs.vlen-array", dtype="<i4")
    options = {"dtype": "v2.object", "serializer": serializer, "chunks": (3,)}
    cases["object_arrays"] = arrays, options
    return cases


def version_1() -> Cases:
    cases = numbers(more=("f2", "c8", "c16")) | shapes(empty=False, scalar=False)
    cases |= filled("nan", "inf", "tenth", "least", "most", "true", "text")
    # Its Blosc does not support dates.
    zlib = {"compressors": named("numcodecs.zlib", level=1)}
    cases |= kinds("|b1", "|S5", "<U4", "<M8[ns]", "<m8[s]", **zlib)
    raw = named("numcodecs.lzma", format=3, filters=[{"id": 33, "preset": 1}])
    # Its Blosc contains another version of Zstandard.
    usual = {name: each for name, each in blosc().items() if "zstd" not in name}
    cases |= compressed("none", "zlib", "bz2", "lzma", lzma_raw=raw, **usual)
    fields = [("x", "<i4"), ("y", "<f8"), ("name", "S3"), ("in", [("z", "u1")])]
    cases["structure"] = structured(np.dtype(fields), SHAPE), {}
    return cases


def draft_2021() -> Cases:
    cases = numbers(more=("f2", "c8", "c16")) | shapes()
    cases |= filled("nan", "inf", "tenth", "least", "most", "true", "complex")
    cases |= kinds("|b1", "|S5", "<U4", "<M8[ns]", "<m8[s]")
    cases |= compressed(shuffle=named("numcodecs.shuffle", elementsize=4), **blosc())
    options = {"filters": [named("numcodecs.delta", dtype="<i4")], "compressors": None}
    cases["filter_delta"] = LARGER, {**options, "chunks": LARGER_CHUNKS}
    plain = np.dtype([("x", "<i4"), ("y", "<f8")])
    cases["structure"] = structured(plain, SHAPE), {}
    texts = np.array(["", "a", "Ω\U0001f30d", "x" * 20, "5"], object)
    cases["text"] = texts, {"dtype": "string", "chunks": (3,)}
    for in_shard in ((2, 2), (1, 3), (5, 5)):
        transformer = named("sharding", type="indexed", chunks_per_shard=list(in_shard))
        name = "shards_" + "_".join(map(str, in_shard))
        cases[name] = ramp("<i4", (9, 7)), {"metadata": {"storage_transformers": [transformer]}}
    for order, separator, shards in product("CF", "/.", (None, (6, 3))):
        name = f"layout_{order}_{'slash' if separator == '/' else 'dot'}_{shards and 'shards'}"
        key = {"name": "default", "separator": separator}
        options = {"order": order, "shards": shards, "chunk_key_encoding": key, "chunks": (3, 3)}
        cases[name] = ramp(">i4", (5, 7)), options
    return cases


def n5() -> Cases:
    cases = numbers("<") | shapes("C", empty=False, scalar=False)
    further = {
        "xz": named("numcodecs.lzma", preset=1, format=1),
        "lz4": named("n5.lz4", acceleration=1),
    }
    cases |= compressed("none", "gzip", "zstd", "zlib", "bz2", **further, **blosc())
    return cases
