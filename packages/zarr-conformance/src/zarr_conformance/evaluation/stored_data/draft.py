"""A strict reader of arrays of the draft of version 3 of December 2022."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_conformance.evaluation.stored_data import compressed
from zarr_conformance.evaluation.stored_data.elements import ElementType, type_of_version_3
from zarr_conformance.evaluation.stored_data.errors import StoredDataError, UnknownExtensionError
from zarr_conformance.evaluation.stored_data.version_3 import EMPTY, assemble

if TYPE_CHECKING:
    from collections.abc import Mapping

    Octets = np.ndarray[Any, np.dtype[np.uint8]]
    Shape = tuple[int, ...]

CODECS = "https://purl.org/zarr/spec/codecs/"
SHARDING = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"
MEMBERS = frozenset(
    {
        *("shape", "data_type", "chunk_grid", "chunk_memory_layout", "fill_value", "extensions"),
        *("attributes", "codecs", "storage_transformers"),
    }
)


def data_type(definition: Any) -> ElementType:
    """Return the data type of a document; its elements are little-endian unless a codec says so."""
    if not isinstance(definition, str):
        raise UnknownExtensionError(str(definition))
    if definition.startswith(("<", ">", "|")):
        raise StoredDataError(f"the data type {definition!r} is a type string, not a name")
    kind = type_of_version_3(definition)
    return replace(kind, fill=lambda value: _fill(kind, value))


def _fill(kind: ElementType, value: Any) -> bytes:
    """Convert a fill value, which may also be a string of all binary or hexadecimal digits."""
    if isinstance(value, list):
        value = ["Infinity" if item == "+Infinity" else item for item in value]
    if isinstance(value, str) and value.startswith(("0x", "0b")):
        digits, bits = value[2:], 4 if value.startswith("0x") else 1
        if len(digits) * bits != 8 * kind.size:
            raise StoredDataError(f"the fill value {value!r} does not have {8 * kind.size} bits")
        return int(digits, 1 << bits).to_bytes(kind.size, "little")
    return kind.fill("Infinity" if value == "+Infinity" else value)


def read_array(stored: Mapping[str, bytes], prefix: str, document: Mapping[str, Any]) -> bytes:
    """Return all elements of an array: in C order, little-endian.

    Parameters and errors as for version 3; ``prefix`` begins with ``data/``.
    """
    if unknown := document.keys() - MEMBERS:
        raise StoredDataError(f"unknown members {sorted(unknown)}")
    kind = data_type(document["data_type"])
    grid = document["chunk_grid"]
    if grid.keys() != {"type", "chunk_shape", "separator"} or grid["type"] != "regular":
        raise StoredDataError(f"the chunk grid {grid!r}")
    if grid["separator"] not in ("/", "."):
        raise StoredDataError(f"the separator {grid['separator']!r}")
    lengths = tuple(grid["chunk_shape"])
    fill_value = document["fill_value"]
    fill = bytes(kind.size) if fill_value is None else kind.fill(fill_value)

    def key(at: Shape) -> str:
        return f"{prefix}c{grid['separator'].join(map(str, at))}"

    counts = _chunks_per_shard(document)

    def get(at: Shape) -> bytes | None:
        if counts is None:
            return stored.get(key(at))
        shard = tuple(n // count for n, count in zip(at, counts, strict=True))
        data = stored.get(key(shard))
        within = tuple(n % count for n, count in zip(at, counts, strict=True))
        return None if data is None else _inner(data, counts, within)

    return assemble(
        tuple(document["shape"]),
        lengths,
        fill,
        get,
        lambda item: _decode(document, item, lengths, kind),
    )


def _chunks_per_shard(document: Mapping[str, Any]) -> Shape | None:
    """Return the configuration of the sharding storage transformer; None if there is none."""
    transformers = document.get("storage_transformers", ())
    if not transformers:
        return None
    if len(transformers) > 1 or transformers[0].get("extension") != SHARDING:
        raise UnknownExtensionError(
            str([transformer.get("extension") for transformer in transformers])
        )
    return tuple(transformers[0]["configuration"]["chunks_per_shard"])


def _inner(data: bytes, counts: Shape, at: Shape) -> bytes | None:
    """Return a chunk of a shard, whose index is at the end and has no checksum."""
    size = 16 * prod(counts)
    if len(data) < size:
        raise StoredDataError(f"the shard has {len(data)} bytes, its index {size}")
    index = np.frombuffer(data[len(data) - size :], "<u8").reshape(*counts, 2)
    offset, length = (int(item) for item in index[at])
    if offset == length == EMPTY:
        return None
    if offset + length > len(data) - size:
        raise StoredDataError(f"shard index: chunk {at} is at {offset} with {length} bytes")
    return data[offset : offset + length]


def _decode(document: Mapping[str, Any], data: bytes, lengths: Shape, kind: ElementType) -> Octets:
    big = False
    for codec in reversed(document.get("codecs", ())):
        uri, configuration = codec.get("type"), codec.get("configuration", {})
        if not isinstance(uri, str) or "://" not in uri:
            raise StoredDataError(f"the type {uri!r} of a codec is not a URI")
        name = uri.removeprefix(CODECS).partition("/")[0]
        if name == "gzip":
            data = compressed.decode_gzip(data, configuration["level"])
        elif name == "blosc":
            data = compressed.decode_blosc(
                data,
                configuration["cname"],
                configuration["clevel"],
                compressed.blosc_shuffle(configuration["shuffle"], kind.size),
                kind.size,
                configuration["blocksize"],
            )
        elif name == "endian":
            big = configuration["endian"] == "big"
        else:
            raise UnknownExtensionError(uri)
    layout = document["chunk_memory_layout"]
    if layout not in ("C", "F"):
        raise UnknownExtensionError(str(layout))
    return kind.decode(data, lengths, big=big, order=layout)
