"""Members of ``attributes.json`` that describe an array."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
)

from zarr_formats.metadata_error import metadata_error
from zarr_formats.n5.compression import compression_of
from zarr_formats.typestr import create_data_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

_SIZES = {
    **{f"{sign}int{8 * size}": size for sign in ("u", "") for size in (1, 2, 4, 8)},
    "float32": 4,
    "float64": 8,
}
# zarr-python 2 also writes these; other libraries do not read them.
_ADDITIONAL_SIZES = {"bool": 1, "float16": 2}
_LARGEST_LENGTH = 0x7FFF_FFFF  # of a block, in Java
_LARGEST_BLOCK = 1 << 31  # bytes; specification, item 7

_TYPES = "u?int8, u?int16, u?int32, u?int64, float32 or float64"


def unknown_type(name: str) -> str:
    """Return why a data type is not supported; empty if it is."""
    if name in _SIZES or name in _ADDITIONAL_SIZES:
        return ""
    if name in ("string", "object"):
        return f"{name!r} (serialized Java objects) is not supported"
    return f"must be {_TYPES}, not {name!r}"


def item_size(name: str) -> int:
    """Return the size of an element of a supported data type."""
    return _SIZES.get(name) or _ADDITIONAL_SIZES[name]


def elements(name: str) -> ExtensionDefinition:
    """Return the codec of the elements of a data type."""
    return ExtensionDefinition("bytes", {} if item_size(name) == 1 else {"endian": "big"})


def zero(name: str) -> JSON:
    """Return the fill value of a data type, which is always zero."""
    return False if name == "bool" else 0.0 if name.startswith("float") else 0


def data_type(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the member ``dataType``."""
    name = metadata.data_type.name
    if name not in _SIZES:
        raise metadata_error("/data_type", f"N5 supports {_TYPES}, not {name!r}")
    return {"dataType": name}


def block_size(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the member ``blockSize``."""
    grid = metadata.chunk_grid
    if grid.name != "regular":
        raise metadata_error("/chunk_grid", f"N5 supports only regular grids, not {grid.name!r}")
    lengths: Any = grid.configuration["chunk_shape"]
    size = prod(lengths) * _SIZES.get(metadata.data_type.name, 1)
    if any(length > _LARGEST_LENGTH for length in lengths) or size > _LARGEST_BLOCK:
        raise metadata_error(
            "/chunk_grid/configuration/chunk_shape",
            f"a block of N5 has at most {_LARGEST_BLOCK} bytes, but {lengths} has {size}",
        )
    return {"blockSize": [*reversed(lengths)]}


def compression(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the member ``compression``, for an ``n5.block`` or for plain codecs."""
    pointer, codecs = "/codecs", list(metadata.codecs)
    if codecs and codecs[0].name == "n5.block":
        inner: Any = codecs[0].configuration.get("codecs", ["bytes"])
        if len(codecs) > 1:
            raise metadata_error("/codecs/1", "N5 does not support codecs after n5.block")
        pointer = "/codecs/0/configuration/codecs"
        codecs = [ExtensionDefinition.from_json(item) for item in inner]
    if not codecs or codecs[0].name != "bytes":
        name = repr(codecs[0].name) if codecs else "missing"
        raise metadata_error(
            f"{pointer}/0", f'N5 supports only the codec "bytes" here; it is {name}'
        )
    if len(codecs) > 2:
        raise metadata_error(f"{pointer}/2", "N5 supports at most one compressor")
    try:
        return {"compression": compression_of(codecs[1] if len(codecs) > 1 else None)}
    except ValueError as error:
        raise metadata_error(f"{pointer}/1", str(error)) from error


def no_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Raise if the fill value is not zero."""
    made = create_data_type(metadata.data_type)
    try:
        value = made.fill_value_from_json(metadata.fill_value)
    except ValueError as error:
        raise metadata_error("/fill_value", str(error)) from error
    if any(value.tobytes()):
        raise metadata_error("/fill_value", f"must be zero in N5, not {metadata.fill_value!r}")
    return {}


def no_other_keys(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Raise if the chunk keys are not those of N5."""
    name = metadata.chunk_key_encoding.name
    if name != "n5":
        raise metadata_error("/chunk_key_encoding", f'must be "n5" in N5, not {name!r}')
    return {}
