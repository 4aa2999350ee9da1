"""What of an array N5 has words for, in the words of its document."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    MetadataValidationError,
    Problem,
    json_pointer,
    make_extension,
)

from zarr_formats.n5.compression import compression_of
from zarr_formats.revision import Part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_SIZES = {
    **{f"{sign}int{8 * size}": size for sign in ("u", "") for size in (1, 2, 4, 8)},
    "float32": 4,
    "float64": 8,
}
# zarr-python 2 writes these as well, and nobody else reads them.
_FURTHER_SIZES = {"bool": 1, "float16": 2}
_LARGEST_LENGTH = 0x7FFF_FFFF  # of a block, in Java
_LARGEST_BLOCK = 1 << 31  # bytes; specification, item 7

_TYPES = "u?int8, u?int16, u?int32, u?int64, float32 or float64"


def unknown_type(name: str) -> str:
    """Why arrays of a data type cannot be read; empty if they can."""
    if name in _SIZES or name in _FURTHER_SIZES:
        return ""
    if name in ("string", "object"):
        return f"{name!r} stands for serialised objects of Java, which cannot be read here"
    return f"must be {_TYPES}, not {name!r}"


def item_size(name: str) -> int:
    """Bytes of an element of a data type that is known."""
    return _SIZES.get(name) or _FURTHER_SIZES[name]


def elements(name: str) -> ExtensionDefinition:
    """The codec that lays out elements of a data type."""
    return ExtensionDefinition("bytes", {} if item_size(name) == 1 else {"endian": "big"})


def zero(name: str) -> JSON:
    """The fill value of every array of a data type."""
    return False if name == "bool" else 0.0 if name.startswith("float") else 0


def data_type(metadata: ArrayMetadata) -> dict[str, JSON]:
    """The member ``dataType``."""
    name = metadata.data_type.name
    if name not in _SIZES:
        raise _refusal("/data_type", f"N5 has {_TYPES}, not {name!r}")
    return {"dataType": name}


def block_size(metadata: ArrayMetadata) -> dict[str, JSON]:
    """The member ``blockSize``."""
    grid = metadata.chunk_grid
    if grid.name != "regular":
        raise _refusal("/chunk_grid", f"N5 has a regular grid only, not {grid.name!r}")
    lengths: Any = grid.configuration["chunk_shape"]
    size = prod(lengths) * _SIZES.get(metadata.data_type.name, 1)
    if any(length > _LARGEST_LENGTH for length in lengths) or size > _LARGEST_BLOCK:
        raise _refusal(
            "/chunk_grid/configuration/chunk_shape",
            f"a block of N5 has at most {_LARGEST_BLOCK} bytes, {lengths} would have {size}",
        )
    return {"blockSize": [*reversed(lengths)]}


def compression(metadata: ArrayMetadata) -> dict[str, JSON]:
    """The member ``compression``, for an ``n5.block`` or for plain codecs."""
    pointer, codecs = "/codecs", list(metadata.codecs)
    if codecs and codecs[0].name == "n5.block":
        inner: Any = codecs[0].configuration.get("codecs", ["bytes"])
        if len(codecs) > 1:
            raise _refusal("/codecs/1", "nothing comes after the blocks of N5")
        pointer = "/codecs/0/configuration/codecs"
        codecs = [ExtensionDefinition.from_json(item) for item in inner]
    if not codecs or codecs[0].name != "bytes":
        name = codecs[0].name if codecs else "nothing"
        raise _refusal(
            f"{pointer}/0", f'elements in N5 come from the codec "bytes" alone, not from {name!r}'
        )
    if len(codecs) > 2:
        raise _refusal(f"{pointer}/2", "N5 has one compression at most")
    try:
        return {"compression": compression_of(codecs[1] if len(codecs) > 1 else None)}
    except ValueError as error:
        raise _refusal(f"{pointer}/1", str(error)) from error


def no_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Refuse any fill value but zero, which is what readers of N5 show."""
    made = make_extension("data_type", metadata.data_type)
    assert made is not None, "data types are never left out"
    try:
        value = made.fill_value_from_json(metadata.fill_value)
    except ValueError as error:
        raise _refusal("/fill_value", str(error)) from error
    if any(value.tobytes()):
        raise _refusal("/fill_value", f"N5 has zero alone, not {metadata.fill_value!r}")
    return {}


def no_other_keys(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Refuse chunk keys other than those of N5."""
    name = metadata.chunk_key_encoding.name
    if name != "n5":
        raise _refusal("/chunk_key_encoding", f'N5 has the keys of "n5", not of {name!r}')
    return {}


def _no_further_members(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    if metadata.additional_fields:
        raise MetadataValidationError(
            "",
            [
                Problem(json_pointer(name), "N5 has no such member of an array")
                for name in metadata.additional_fields
            ],
        )
    return {}


def _no_transformers(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    if metadata.storage_transformers:
        raise _refusal("/storage_transformers", "N5 has no storage transformers")
    return {}


def _no_fallbacks(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    if metadata.data_type_fallbacks:
        raise _refusal("/data_type", "N5 has no fallbacks of data types")
    return {}


def _no_layout(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    if metadata.chunk_memory_layout is not None:
        raise _refusal("/chunk_memory_layout", "N5 has one arrangement of elements alone")
    return {}


WITHOUT_WORDS = (
    Part(("additional_fields",), (), _no_further_members),
    Part(("storage_transformers",), (), _no_transformers),
    Part(("data_type_fallbacks",), (), _no_fallbacks),
    Part(("chunk_memory_layout",), (), _no_layout),
)
"""What N5 has nothing for."""


def _refusal(pointer: str, message: str) -> MetadataValidationError:
    return MetadataValidationError("", [Problem(pointer, message)])
