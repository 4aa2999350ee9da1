"""Arrays of every data type, codec, chunk grid and chunk key encoding, for the tests with other libraries."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    ExtensionDefinition,
    create_extension,
)
from zarr_core.registry.resolve import find_class

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BITS = {
    "float6_e2m3fn": 6, "float6_e3m2fn": 6, "float4_e2m1fn": 4,
    "int2": 2, "int4": 4, "uint2": 2, "uint4": 4,
}  # fmt: skip
"""Bits of an element, or of each of its two parts, that are fewer than its bytes have."""


@dataclass(frozen=True)
class Form:
    """One array.

    Parameters
    ----------
    label : str
        The difference from other arrays of the extension.
    options : dict
        Arguments of ``create_array`` except the shape.
    values : array
        The elements; shape of the array.
    bits : int
        Number of significant bits of each byte.
    same_bytes : bool
        Whether all writers store the same bytes.
    lossless : bool
        Whether reading returns the written elements.
    spelling : str
        An alias of the data type, which is not written.
    """

    label: str
    options: dict[str, Any]
    values: np.ndarray = field(repr=False)
    bits: int = 8
    same_bytes: bool = True
    lossless: bool = True
    spelling: str = ""

    def create(self, place: Path) -> zarr_core.Array:
        """Create the array, without its elements."""
        array = zarr_core.create_array(place, shape=self.values.shape, **self.options)
        if self.spelling:
            document = json.loads((place / "zarr.json").read_text())
            (place / "zarr.json").write_text(json.dumps(document | {"data_type": self.spelling}))
            array = zarr_core.open_array(place, mode="r+")
        return array


def forms(kind: str, name: str) -> list[Form]:
    """Return every array that is tested for an extension."""
    return list({"data_type": _types, "codec": _codecs}.get(kind, _layouts)(name))


# --- data types ---

SHAPE = (5, 7)
TYPES: dict[str, Any] = {
    "r*": "r24",
    "numpy.datetime64": {"unit": "us", "scale_factor": 10},
    "numpy.timedelta64": {"unit": "s", "scale_factor": 1},
    "fixed_length_utf32": {"length_bytes": 16},
    "null_terminated_bytes": {"length_bytes": 5},
    "raw_bytes": {"length_bytes": 3},
    "struct": {
        "fields": [
            {"name": "id", "data_type": "int32"},
            {
                "name": "at",
                "data_type": {
                    "name": "numpy.datetime64",
                    "configuration": {"unit": "s", "scale_factor": 1},
                },
            },
            {"name": "x", "data_type": "float64"},
        ]
    },
}
"""Another name, or the configuration."""
OF_ANY_LENGTH = ("string", "bytes", "variable_length_bytes")


def _types(name: str) -> Iterator[Form]:
    special = TYPES.get(name)
    definition = {"name": name, "configuration": special} if isinstance(special, dict) else special
    definition = definition or name
    numpy_dtype = create_extension(
        "data_type", ExtensionDefinition.from_json(definition)
    ).numpy_dtype
    bits = BITS.get(name.removeprefix("complex_"), 8)
    values = elements(numpy_dtype, name, bits)
    options = {"dtype": definition, "fill_value": values[2, 2], "chunks": (2, 3)}
    values[:2, :3] = values[2, 2]  # a chunk that is not stored
    if name in OF_ANY_LENGTH:
        yield Form("plain", options | {"compressors": None}, values)
        yield Form("compressed", options | {"compressors": [_gzip()]}, values, same_bytes=False)
        return
    # Differences between writers without effect: byte order of single bytes, sign extension.
    orders = ("little", "big") if _has_order(numpy_dtype) else (None,)
    same_bytes = name not in ("int2", "int4")
    spelling = name if name in ("complex_float32", "complex_float64") else ""
    for order in orders:
        configuration = {} if order is None else {"configuration": {"endian": order}}
        more = {"serializer": {"name": "bytes", **configuration}, "compressors": None}
        yield Form(order or "plain", options | more, values, bits, same_bytes, spelling=spelling)
    shards = {"chunks": (2, 2), "shards": (4, 4), "compressors": None}
    yield Form("shards", options | shards, values, bits, same_bytes=False, spelling=spelling)


def _has_order(dtype: np.dtype[Any]) -> bool:
    parts = [dtype[name] for name in dtype.names] if dtype.names else [dtype]
    return any(part.itemsize > 1 and part.kind not in "SV" for part in parts) or (
        dtype.kind == "V" and dtype.itemsize == 2 and dtype.name == "bfloat16"
    )


def elements(dtype: np.dtype[Any], name: str, bits: int = 8) -> np.ndarray:
    """Return mostly different elements, including unusual ones."""
    size = int(np.prod(SHAPE))
    if dtype.kind in "TUO" or name == "string":
        texts = ["aä𝄞\0z"[n % 5 :] * (n % 3) for n in range(size)]
        if dtype.kind == "O":
            values = np.empty(size, object)
            values[:] = [text.encode() for text in texts]
            return values.reshape(SHAPE)
        return np.array(texts, dtype).reshape(SHAPE)
    if dtype.kind == "b":
        return (np.arange(size) % 3 == 0).reshape(SHAPE)
    octets = np.frombuffer(np.random.default_rng(7).bytes(size * dtype.itemsize), "u1")
    return (octets & ((1 << bits) - 1)).view(dtype).reshape(SHAPE).copy()


# --- codecs ---

NUMBERS = np.cumsum(np.sin(np.arange(210)), dtype="f8").reshape(14, 15) * 100 + 1000
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}

# dtype, configuration; optional: the differences between writers.
OTHER_BYTES = "other bytes"
LOSSY = (
    "astype", "bitround", "cast_value", "delta", "fixedscaleoffset", "quantize", "scale_offset",
    "zfp", "zfpy",
)  # fmt: skip
CODECS: dict[str, list[tuple[Any, ...]]] = {
    "bytes": [("i4", {"endian": "little"}), ("i4", {"endian": "big"}), ("u1", {})],
    "blosc": [
        ("i4", {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}),
        ("f8", {"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "typesize": 8, "blocksize": 0},
         OTHER_BYTES),
        ("u1", {"cname": "zlib", "clevel": 1, "shuffle": "bitshuffle", "typesize": 1, "blocksize": 0},
         OTHER_BYTES),
    ],
    "gzip": [("i4", {"level": 5}, OTHER_BYTES), ("i4", {"level": 0}, OTHER_BYTES)],
    "zstd": [
        ("i4", {"level": 3, "checksum": False}, OTHER_BYTES),
        ("i4", {"level": -5, "checksum": True}, OTHER_BYTES),
    ],
    "crc32c": [("i4", {})],
    "transpose": [("i4", {"order": [1, 0]})],
    "sharding_indexed": [
        ("i4", {
            "chunk_shape": [7, 5], "codecs": [LITTLE], "index_location": location,
            "index_codecs": [LITTLE, {"name": "crc32c"}],
        }, OTHER_BYTES)
        for location in ("end", "start")
    ],
    "vlen-utf8": [("string", {})],
    "vlen-bytes": [("bytes", {}), ("variable_length_bytes", {})],
    "bitround": [("f4", {"keepbits": 7}), ("i4", {"keepbits": 3}), ("c16", {"keepbits": 9})],
    "cast_value": [
        ("f8", {"data_type": "int16", "rounding": "nearest-even", "out_of_range": "clamp"}),
        ("f8", {"data_type": "float32", "rounding": "towards-zero"}),
    ],
    "conditional": [("i4", {"codecs": [{"name": "crc32c"}]})],
    "packbits": [("?", {}), ("u2", {"last_bit": 11}), ("?", {"padding_encoding": "last_byte"})],
    "reshape": [("i4", {"shape": [[0, 1]]}), ("i4", {"shape": [[0], 5, -1]})],
    "scale_offset": [("f4", {"offset": 5, "scale": 0.1}), ("i4", {"offset": 100})],
    "zfp": [
        ("f8", {"mode": "reversible"}),
        ("f4", {"mode": "fixed_accuracy", "tolerance": 0.05}),
        ("f8", {"mode": "fixed_rate", "rate": 10.5}),
        ("i4", {"mode": "fixed_precision", "precision": 19}),
    ],
    "n5_default": [
        ("i4", {"codecs": [
            {"name": "transpose", "configuration": {"order": [1, 0]}},
            {"name": "bytes", "configuration": {"endian": "big"}},
            {"name": "gzip", "configuration": {"level": 1}},
        ]}, OTHER_BYTES),
    ],
    "numcodecs.adler32": [("i4", {"location": "start"})],
    "numcodecs.astype": [("f8", {"encode_dtype": "<f4", "decode_dtype": "<f8"})],
    "numcodecs.bitround": [("f4", {"keepbits": 7})],
    "numcodecs.blosc": [
        ("i4", {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}),
        ("f8", {"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}, OTHER_BYTES),
    ],
    "numcodecs.bz2": [("i4", {"level": 5})],
    "numcodecs.crc32": [("i4", {"location": "start"}), ("i4", {"location": "end"})],
    "numcodecs.crc32c": [("i4", {"location": "end"}), ("i4", {"location": "start"})],
    "numcodecs.delta": [
        ("i4", {"dtype": "<i4", "astype": "<i4"}), ("i4", {"dtype": "<i4", "astype": "<i2"}),
    ],
    "numcodecs.fixedscaleoffset": [
        ("f8", {"offset": 900, "scale": 10, "dtype": "<f8", "astype": "<u2"}),
        ("f8", {"offset": 1.5, "scale": 0.5, "dtype": "<f8", "astype": "<f8"}),
    ],
    "numcodecs.fletcher32": [("i4", {})],
    "numcodecs.gzip": [("i4", {"level": 4}, OTHER_BYTES)],
    "numcodecs.jenkins_lookup3": [("i4", {"initval": 0}), ("i4", {"initval": 5})],
    "numcodecs.lz4": [("i4", {"acceleration": 1})],
    "numcodecs.lzma": [
        ("i4", {"format": 1, "check": -1, "preset": None, "filters": None}),
        ("i4", {"format": 1, "check": 4, "preset": 2, "filters": None}),
    ],
    "numcodecs.packbits": [("?", {})],
    "numcodecs.pcodec": [
        ("f8", {"level": 8, "mode_spec": "auto", "delta_spec": "auto"}),
        ("i2", {"level": 3, "mode_spec": "classic"}),
    ],
    "numcodecs.quantize": [("f8", {"digits": 2, "dtype": "<f8"})],
    "numcodecs.shuffle": [("i4", {"elementsize": 4}), ("f8", {"elementsize": 2})],
    "numcodecs.zfpy": [("f8", {"mode": 4, "tolerance": 0.01}), ("f4", {"mode": 2, "rate": 12})],
    "numcodecs.zlib": [("i4", {"level": 1}, OTHER_BYTES), ("i4", {"level": 9}, OTHER_BYTES)],
    "numcodecs.zstd": [("i4", {"level": 3}, OTHER_BYTES)],
}  # fmt: skip


def _codecs(name: str) -> Iterator[Form]:
    cls = find_class("codec", name)
    for number, (dtype, configuration, *other) in enumerate(CODECS[name], 1):
        definition = {"name": name, "configuration": configuration}
        chunks = (14, 15) if name == "sharding_indexed" else (7, 5)
        options: dict[str, Any] = {"dtype": dtype, "chunks": chunks, "compressors": None}
        if issubclass(cls, ArrayToArrayCodec):
            serializer = {"name": "bytes"} if dtype == "?" else LITTLE
            options |= {"filters": [definition], "serializer": serializer}
        elif issubclass(cls, ArrayToBytesCodec):
            options |= {"serializer": definition}
        else:
            options |= {"compressors": [definition]}
        lossless = not name.endswith(LOSSY)
        yield Form(str(number), options, _numbers(dtype), same_bytes=not other, lossless=lossless)


@functools.cache
def _numbers(dtype: str) -> np.ndarray:
    if dtype in OF_ANY_LENGTH:
        numpy_dtype = create_extension("data_type", ExtensionDefinition(dtype)).numpy_dtype
        return np.tile(elements(numpy_dtype, dtype), (3, 3))[:14, :15]
    if dtype == "?":
        return NUMBERS > 1100
    return NUMBERS.astype(dtype) if dtype != "u1" else (NUMBERS % 251).astype("u1")


# --- grids, keys ---

LAYOUTS: dict[str, list[dict[str, Any]]] = {
    "regular": [{"chunks": (4, 6)}],
    "rectilinear": [{"chunks": [[3, 4, 7], [10, 5]]}, {"chunks": [[7, 7], 4]}],
    "default": [
        {"chunks": (4, 6), "chunk_key_encoding": {"name": "default", "configuration": {"separator": s}}}
        for s in "/."
    ],
    "v2": [
        {"chunks": (4, 6), "chunk_key_encoding": {"name": "v2", "configuration": {"separator": s}}}
        for s in "/."
    ],
    "fanout": [
        {"chunks": (4, 6), "chunk_key_encoding": {"name": "fanout", "configuration": {"max_children": 100}}}
    ],
    "suffix": [
        {"chunks": (4, 6), "chunk_key_encoding": {
            "name": "suffix",
            "configuration": {"suffix": ".tiff", "base_encoding": {"name": "default"}},
        }}
    ],
    "template": [
        {"chunks": (4, 6), "chunk_key_encoding": {
            "name": "template", "configuration": {"format": "images/{-1}/{*:04}.raw", "separator": "_"},
        }}
    ],
}  # fmt: skip


def _layouts(name: str) -> Iterator[Form]:
    for number, options in enumerate(LAYOUTS[name], 1):
        values = NUMBERS.astype("i4")
        more = {"dtype": "i4", "compressors": None, "fill_value": -7}
        yield Form(str(number), more | options, values)


def _gzip() -> dict[str, Any]:
    return {"name": "gzip", "configuration": {"level": 5}}
