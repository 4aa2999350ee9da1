"""A strict reader of arrays of version 3: core data types, grid, key encodings and codecs.

It raises an error for everything that a specification does not permit, where readers for
users may be lenient.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.evaluation.stored_data import compressed
from zarr_conformance.evaluation.stored_data.elements import (
    ElementType,
    integer_bytes,
    split,
    type_of_version_3,
)
from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Octets = np.ndarray[Any, np.dtype[np.uint8]]
    Shape = tuple[int, ...]

EMPTY = 2**64 - 1
_INDEX_TYPE = ElementType(8, ((0, 8),), integer_bytes(8, signed=False))


def read_array(stored: Mapping[str, bytes], prefix: str, document: Mapping[str, Any]) -> bytes:
    """Return all elements of an array: in C order, little-endian.

    Parameters
    ----------
    stored : mapping of str to bytes
        The contents of the store.
    prefix : str
        The prefix of the chunk keys.
    document : mapping
        The metadata document, as ``parse_json`` returns it.

    Raises
    ------
    StoredDataError
        If a chunk does not match the metadata.
    UnknownExtensionError
        If the metadata names an extension that this reader does not know.
    """
    kind = type_of_version_3(document["data_type"])
    shape = tuple(document["shape"])
    name, grid = split(document["chunk_grid"])
    if name != "regular":
        raise UnknownExtensionError(name)
    lengths = tuple(grid["chunk_shape"])
    fill = kind.fill(document["fill_value"])
    if document.get("storage_transformers"):
        raise UnknownExtensionError("storage transformers")
    key = key_function(document["chunk_key_encoding"])
    codecs = document["codecs"]
    return assemble(
        shape,
        lengths,
        fill,
        lambda at: stored.get(prefix + key(at)),
        lambda data: decode_chunk(codecs, data, lengths, kind, fill),
    )


def assemble(
    shape: Shape,
    lengths: Shape,
    fill: bytes,
    get: Callable[[Shape], bytes | None],
    decode: Callable[[bytes], Octets],
) -> bytes:
    """Return the elements of the chunks of a regular grid; ``get`` returns None for missing ones."""
    result = filled(shape, fill)
    if len(shape) != len(lengths) or any(length < 1 for length in lengths):
        raise StoredDataError(f"chunks of shape {lengths} for an array of shape {shape}")
    for at in np.ndindex(*chunk_counts(shape, lengths)):
        data = get(at)
        if data is None:
            continue
        try:
            chunk = decode(data)
        except StoredDataError as error:
            raise StoredDataError(f"chunk {at}: {error}") from error
        target = tuple(slice(n * k, (n + 1) * k) for n, k in zip(at, lengths, strict=True))
        part = result[target]
        part[...] = chunk[tuple(slice(0, n) for n in part.shape[:-1])]
    return result.tobytes()


def chunk_counts(shape: Shape, lengths: Shape) -> Shape:
    """Return the number of chunks along each dimension."""
    return tuple(-(-size // length) for size, length in zip(shape, lengths, strict=True))


def filled(shape: Sequence[int], fill: bytes) -> Octets:
    """Return an array of one element as bytes."""
    element = np.frombuffer(fill, np.uint8)
    return np.broadcast_to(element, (*shape, len(fill))).copy()


def key_function(definition: Any) -> Callable[[Sequence[int]], str]:
    """Return the function from chunk coordinates to the key of a chunk."""
    name, configuration = split(definition)
    if unknown := configuration.keys() - {"separator"}:
        raise StoredDataError(f"a chunk key encoding with {sorted(unknown)}")
    separator = configuration.get("separator", "." if name == "v2" else "/")
    if separator not in ("/", "."):
        raise StoredDataError(f"the separator {separator!r}")
    if name == "default":
        return lambda at: separator.join(("c", *map(str, at)))
    if name == "v2":
        return lambda at: separator.join(map(str, at)) or "0"
    raise UnknownExtensionError(name)


# --- codecs ---


def decode_chunk(
    codecs: Iterable[Any], data: bytes, shape: Shape, kind: ElementType, fill: bytes
) -> Octets:
    """Decode a chunk or an inner chunk."""
    chain = [split(codec) for codec in codecs]
    serial = next(
        (n for n, codec in enumerate(chain) if codec[0] in ("bytes", "sharding_indexed")), None
    )
    if serial is None:
        raise UnknownExtensionError(str([name for name, _ in chain]))
    for name, configuration in reversed(chain[serial + 1 :]):
        data = decode_bytes(name, configuration, data)
    orders = []
    for name, configuration in chain[:serial]:
        if name != "transpose":
            raise UnknownExtensionError(name)
        order = configuration["order"]
        if not isinstance(order, list) or sorted(order) != list(range(len(shape))):
            raise StoredDataError(f"transpose: {order!r} is not a permutation of the dimensions")
        orders.append(order)
        shape = tuple(shape[n] for n in order)
    name, configuration = chain[serial]
    if name == "bytes":
        chunk = kind.decode(data, shape, big=_is_big(configuration, kind))
    else:
        chunk = _decode_shard(configuration, data, shape, kind, fill)
    for order in reversed(orders):
        chunk = chunk.transpose([*np.argsort(order), chunk.ndim - 1])
    return chunk


def _is_big(configuration: Mapping[str, Any], kind: ElementType) -> bool:
    endian = configuration.get("endian")
    if endian not in (("little", "big") if kind.has_byte_order else ("little", "big", None)):
        raise StoredDataError(f"bytes: endian is {endian!r}")
    return bool(endian == "big")


def decode_bytes(name: str, configuration: Mapping[str, Any], data: bytes) -> bytes:
    """Decode a bytes -> bytes codec; its header must match its configuration."""
    if name == "gzip":
        return compressed.decode_gzip(data, _required(name, configuration, "level"))
    if name == "zstd":
        level, checked = (_required(name, {"checksum": False, **configuration}, item)
                          for item in ("level", "checksum"))  # fmt: skip
        del level  # it is not stored in frames
        return compressed.decode_zstd(data, checked)
    if name == "crc32c":
        return compressed.decode_crc32c(data)
    if name == "blosc":
        cname, clevel, shuffle, blocksize = (
            _required(name, configuration, item)
            for item in ("cname", "clevel", "shuffle", "blocksize")
        )
        if shuffle not in compressed.BLOSC_SHUFFLES:
            raise StoredDataError(f"blosc: shuffle is {shuffle!r}")
        typesize = configuration.get("typesize", 1)
        if shuffle != "noshuffle":
            typesize = _required(name, configuration, "typesize")
        number = compressed.BLOSC_SHUFFLES[shuffle]
        return compressed.decode_blosc(data, cname, clevel, number, typesize, blocksize)
    raise UnknownExtensionError(name)


def _required(name: str, configuration: Mapping[str, Any], member: str) -> Any:
    if member not in configuration:
        raise StoredDataError(f"{name}: {member} is missing")
    return configuration[member]


def _decode_shard(
    configuration: Mapping[str, Any], data: bytes, shape: Shape, kind: ElementType, fill: bytes
) -> Octets:
    lengths = tuple(_required("sharding_indexed", configuration, "chunk_shape"))
    index_codecs = _required("sharding_indexed", configuration, "index_codecs")
    codecs = _required("sharding_indexed", configuration, "codecs")
    location = configuration.get("index_location", "end")
    if location not in ("start", "end"):
        raise StoredDataError(f"sharding_indexed: index_location is {location!r}")
    if len(lengths) != len(shape) or any(
        size % length for size, length in zip(shape, lengths, strict=True)
    ):
        raise StoredDataError(f"sharding_indexed: chunk_shape {lengths} in shards of {shape}")
    counts = chunk_counts(shape, lengths)
    size = 16 * prod(counts) + 4 * sum(split(codec)[0] == "crc32c" for codec in index_codecs)
    if len(data) < size:
        raise StoredDataError(f"the shard has {len(data)} bytes, its index {size}")
    at_start = location == "start"
    encoded = data[:size] if at_start else data[len(data) - size :]
    try:
        entries = decode_chunk(index_codecs, encoded, (*counts, 2), _INDEX_TYPE, bytes(8))
    except StoredDataError as error:
        raise StoredDataError(f"shard index: {error}") from error
    index = np.ascontiguousarray(entries).view("<u8")[..., 0]
    low, high = (size, len(data)) if at_start else (0, len(data) - size)

    def inner(coords: Shape) -> bytes | None:
        offset, length = (int(item) for item in index[coords])
        if offset == length == EMPTY:
            return None
        if offset < low or offset + length > high:
            raise StoredDataError(
                f"shard index: inner chunk {coords} is at {offset} with {length} bytes, "
                f"but inner chunks are between {low} and {high}"
            )
        return data[offset : offset + length]

    elements = assemble(
        shape, lengths, fill, inner, lambda item: decode_chunk(codecs, item, lengths, kind, fill)
    )
    return np.frombuffer(elements, np.uint8).reshape(*shape, kind.size)
