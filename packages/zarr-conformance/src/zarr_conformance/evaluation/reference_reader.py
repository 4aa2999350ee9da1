"""An independent reader for version 3, which reads the arrays that implementations write.

It is short and slow: core data types, the regular grid, both key encodings, core codecs.
"""

from __future__ import annotations

import re
import zlib
from importlib import import_module
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.checksum import checksum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Array = np.ndarray[Any, Any]


EMPTY = 2**64 - 1


class NotReadableError(Exception):
    """The stored chunks do not match their metadata."""


class UnknownExtensionError(Exception):
    """The metadata names an extension that is not in the core specification."""


def read_elements(stored: Mapping[str, bytes], path: str, document: Mapping[str, Any]) -> bytes:
    """Return all elements of an array.

    Parameters
    ----------
    stored : mapping of str to bytes
        The contents of the store.
    path : str
        The path of the array.
    document : mapping
        Its metadata document.

    Returns
    -------
    bytes
        In C order, little-endian.

    Raises
    ------
    NotReadableError
        If a chunk does not match the metadata.
    NotKnownError
        If the metadata names an extension that is not in the core specification.
    """
    dtype = _dtype(_name(document["data_type"]))
    shape = tuple(document["shape"])
    name, grid = _split(document["chunk_grid"])
    if name != "regular":
        raise UnknownExtensionError(name)
    lengths = tuple(grid["chunk_shape"])
    fill = _fill(document["fill_value"], dtype)
    result = np.full(shape, fill, dtype)
    counts = [-(-size // length) for size, length in zip(shape, lengths, strict=True)]
    prefix = f"{path}/" if path else ""
    for coords in np.ndindex(*counts):
        data = stored.get(prefix + _key(document["chunk_key_encoding"], coords))
        if data is None:
            continue
        chunk = _decode_chunk(document["codecs"], data, lengths, dtype, fill)
        target = tuple(slice(n * k, (n + 1) * k) for n, k in zip(coords, lengths, strict=True))
        index: Any = (*target, ...)  # a view even without dimensions
        part = result[index]
        part[...] = chunk[tuple(slice(0, n) for n in part.shape)]
    return result.tobytes()


def _decode_chunk(codecs: Sequence[Any], data: bytes, shape: Any, dtype: Any, fill: Any) -> Array:
    """Decode a chunk."""
    chain = [_split(it) for it in codecs]
    serial = next((n for n, it in enumerate(chain) if it[0] in ("bytes", "sharding_indexed")), None)
    if serial is None:
        raise UnknownExtensionError(str(codecs))
    for name, configuration in reversed(chain[serial + 1 :]):
        data = _decode_bytes(name, configuration, data)
    orders = []
    for name, configuration in chain[:serial]:
        if name != "transpose":
            raise UnknownExtensionError(name)
        orders.append(configuration["order"])
        shape = tuple(shape[n] for n in configuration["order"])
    name, configuration = chain[serial]
    if name == "bytes":
        order = ">" if configuration.get("endian") == "big" else "<"
        if len(data) != prod(shape) * dtype.itemsize:
            raise NotReadableError(f"{len(data)} bytes for a chunk of shape {shape}")
        chunk = np.frombuffer(data, dtype.newbyteorder(order)).astype(dtype).reshape(shape)
    else:
        chunk = _shard(configuration, data, shape, dtype, fill)
    for order in reversed(orders):
        chunk = chunk.transpose(np.argsort(order))
    return chunk


def _shard(configuration: Any, data: bytes, shape: Any, dtype: Any, fill: Any) -> Array:
    lengths = configuration["chunk_shape"]
    counts = tuple(size // length for size, length in zip(shape, lengths, strict=True))
    size = 16 * prod(counts)
    size += sum(4 for it in configuration["index_codecs"] if _name(it) == "crc32c")
    at_start = configuration.get("index_location", "end") == "start"
    stored = data[:size] if at_start else data[-size:]
    index = _decode_chunk(configuration["index_codecs"], stored, (*counts, 2), np.dtype("<u8"), 0)
    chunk = np.full(shape, fill, dtype)
    for coords in np.ndindex(*counts):
        offset, length = (int(it) for it in index[coords])
        if offset == length == EMPTY:
            continue
        if offset + length > len(data):
            raise NotReadableError(f"inner chunk {coords} ends after the end of the shard")
        inner = _decode_chunk(
            configuration["codecs"], data[offset : offset + length], lengths, dtype, fill
        )
        target = tuple(slice(n * k, (n + 1) * k) for n, k in zip(coords, lengths, strict=True))
        chunk[target] = inner
    return chunk


def _decode_bytes(name: str, configuration: Any, data: bytes) -> bytes:
    """Decode a bytes -> bytes codec."""
    try:
        if name == "gzip":
            return zlib.decompress(data, wbits=31)
        if name == "zstd":
            return bytes(import_module("numcodecs.zstd").decompress(data))
        if name == "blosc":
            return bytes(import_module("numcodecs.blosc").decompress(data))
    except (zlib.error, RuntimeError, ValueError) as error:
        raise NotReadableError(f"{name}: {error}") from error
    if name == "crc32c":
        if int.from_bytes(data[-4:], "little") != checksum(data[:-4]):
            raise NotReadableError("crc32c: the checksum does not match")
        return data[:-4]
    raise UnknownExtensionError(name)


def _key(definition: Any, coords: Sequence[int]) -> str:
    name, configuration = _split(definition)
    if name == "default":
        return str(configuration.get("separator", "/")).join(("c", *map(str, coords)))
    if name == "v2":
        return str(configuration.get("separator", ".")).join(map(str, coords)) or "0"
    raise UnknownExtensionError(name)


def _dtype(name: str) -> np.dtype[Any]:
    if bits := re.fullmatch(r"r([0-9]+)", name):
        return np.dtype(f"V{int(bits[1]) // 8}")
    if re.fullmatch(r"bool|u?int(8|16|32|64)|float(16|32|64)|complex(64|128)", name):
        return np.dtype(name).newbyteorder("<")
    raise UnknownExtensionError(name)


def _fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """Parse the JSON form of a fill value."""
    if dtype.kind == "V":
        return np.frombuffer(bytes(value), dtype)[0]
    if dtype.kind == "c":
        part = np.dtype(f"<f{dtype.itemsize // 2}")
        return np.array([_fill(it, part) for it in value], part).view(dtype)[0]
    if dtype.kind == "f" and isinstance(value, str) and value.startswith("0x"):
        return np.frombuffer(bytes.fromhex(value[2:])[::-1], dtype)[0]
    if value == "NaN":
        return _fill({2: "0x7e00", 4: "0x7fc00000", 8: "0x7ff8000000000000"}[dtype.itemsize], dtype)
    return dtype.type(float(value) if dtype.kind == "f" else value)


def _split(definition: Any) -> tuple[str, Any]:
    if isinstance(definition, str):
        return definition, {}
    return str(definition["name"]), definition.get("configuration", {})


def _name(definition: Any) -> str:
    return _split(definition)[0]
