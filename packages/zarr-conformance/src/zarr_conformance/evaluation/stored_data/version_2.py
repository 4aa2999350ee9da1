"""A strict reader of arrays of version 2: types of fixed size, common filters and compressors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.evaluation.stored_data import compressed
from zarr_conformance.evaluation.stored_data.elements import type_of_version_2
from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError
from zarr_conformance.evaluation.stored_data.version_3 import assemble

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_conformance.evaluation.stored_data.elements import ElementType

    Array = np.ndarray[Any, Any]
    Octets = np.ndarray[Any, np.dtype[np.uint8]]
    Shape = tuple[int, ...]


def read_array(stored: Mapping[str, bytes], prefix: str, document: Mapping[str, Any]) -> bytes:
    """Return all elements of an array: in C order, little-endian.

    Parameters and errors as for version 3; ``document`` is ``.zarray``.
    """
    kind, big = type_of_version_2(document["dtype"])
    lengths = tuple(document["chunks"])
    fill = bytes(kind.size) if document["fill_value"] is None else kind.fill(document["fill_value"])
    separator = document.get("dimension_separator", ".")
    if separator not in (".", "/"):
        raise StoredDataError(f"dimension_separator is {separator!r}")
    return assemble(
        tuple(document["shape"]),
        lengths,
        fill,
        lambda at: stored.get(prefix + (separator.join(map(str, at)) or "0")),
        lambda data: _decode_chunk(document, data, lengths, kind, big=big),
    )


def _decode_chunk(
    document: Mapping[str, Any], data: bytes, lengths: Shape, kind: ElementType, *, big: bool
) -> Octets:
    if document["compressor"] is not None:
        data = _decode_bytes(document["compressor"], data, document["dtype"])
    for filter_ in reversed(document["filters"] or ()):
        data = _decode_filter(filter_, data, document["dtype"])
    order = document["order"]
    if order not in ("C", "F"):
        raise StoredDataError(f"order is {order!r}")
    return kind.decode(data, lengths, big=big, order=order)


def _decode_bytes(codec: Any, data: bytes, dtype: Any) -> bytes:
    """Decode a compressor, or a filter for bytes."""
    if not isinstance(codec, dict) or not isinstance(codec.get("id"), str):
        raise StoredDataError(f"the codec {codec!r} has no id")
    parameters = {name: value for name, value in codec.items() if name != "id"}
    match codec["id"]:
        case "zlib":
            return compressed.decode_zlib(data, parameters.get("level"))
        case "gzip":
            return compressed.decode_gzip(data, parameters.get("level"))
        case "zstd":
            return compressed.decode_zstd(data, bool(parameters.get("checksum", False)))
        case "bz2":
            return compressed.decode_bz2(data, parameters.get("level"))
        case "lzma":
            return compressed.decode_lzma(data, parameters)
        case "lz4":
            return compressed.decode_lz4(data)
        case "crc32":
            return compressed.decode_crc32(data)
        case "adler32":
            return compressed.decode_adler32(data)
        case "blosc":
            return _decode_blosc(parameters, data, dtype)
        case other:
            raise UnknownExtensionError(other)


def _decode_blosc(parameters: Mapping[str, Any], data: bytes, dtype: Any) -> bytes:
    typesize = type_of_version_2(dtype)[0].size
    return compressed.decode_blosc(
        data,
        parameters.get("cname", "lz4"),
        parameters.get("clevel", 5),
        compressed.blosc_shuffle(parameters.get("shuffle", 1), typesize),
        typesize,
        parameters.get("blocksize", 0),
    )


def _decode_filter(codec: Any, data: bytes, dtype: Any) -> bytes:
    """Decode a filter."""
    if not isinstance(codec, dict) or not isinstance(codec.get("id"), str):
        raise StoredDataError(f"the filter {codec!r} has no id")
    match codec["id"]:
        case "delta":
            return _decode_delta(codec, data)
        case "fixedscaleoffset":
            return _decode_fixed_scale_offset(codec, data)
        case "shuffle":
            size = codec.get("elementsize", 4)
            count = len(data) // size
            whole = np.frombuffer(data[: count * size], np.uint8).reshape(size, count)
            return whole.T.tobytes() + data[count * size :]
        case "packbits":
            unpacked = np.unpackbits(np.frombuffer(data[1:], np.uint8))
            return unpacked[: len(unpacked) - data[0]].tobytes()
        case _:
            return _decode_bytes(codec, data, dtype)


def _number_dtype(codec: Mapping[str, Any], member: str, default: Any = None) -> np.dtype[Any]:
    name = codec.get(member, default)
    try:
        if not isinstance(name, str) or name[0] not in "<>|":
            raise TypeError
        return np.dtype(name)
    except TypeError:
        raise StoredDataError(f"{codec['id']}: {member} is {name!r}, not a type string") from None


def _elements(name: str, data: bytes, dtype: np.dtype[Any]) -> Array:
    if len(data) % dtype.itemsize:
        raise StoredDataError(f"{name}: {len(data)} bytes of elements with {dtype.itemsize}")
    return np.frombuffer(data, dtype)


def _decode_delta(codec: Mapping[str, Any], data: bytes) -> bytes:
    decoded = _number_dtype(codec, "dtype")
    differences = _elements("delta", data, _number_dtype(codec, "astype", codec.get("dtype")))
    with np.errstate(all="ignore"):
        return np.cumsum(differences, dtype=decoded.newbyteorder("=")).astype(decoded).tobytes()


def _decode_fixed_scale_offset(codec: Mapping[str, Any], data: bytes) -> bytes:
    decoded = _number_dtype(codec, "dtype")
    encoded = _number_dtype(codec, "astype", codec.get("dtype"))
    values = _elements("fixedscaleoffset", data, encoded)
    restored = values / codec["scale"] + codec["offset"]
    return bytes(restored.astype(decoded).tobytes())
