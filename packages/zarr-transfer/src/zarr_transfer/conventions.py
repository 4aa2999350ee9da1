"""The conventions of xarray: names of dimensions and missing values, by field or attribute."""

from __future__ import annotations

import struct
from base64 import standard_b64decode, standard_b64encode
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ZarrError, create_extension, strictjson

from zarr_transfer.elements import same_fill_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON, ArrayMetadata, DataType, Format


DIMENSIONS = "_ARRAY_DIMENSIONS"
"""The attribute in which xarray stores dimension names in version 2."""

MASK = "_FillValue"
"""The attribute with the value that xarray masks, in version 3."""


def dimension_names(metadata: ArrayMetadata) -> tuple[str | None, ...]:
    """Return the dimension names of an array, from its metadata or the attribute."""
    names = stored_names(metadata)
    return (None,) * metadata.ndim if names is None else names


def stored_names(metadata: ArrayMetadata) -> tuple[str | None, ...] | None:
    """Return the dimension names of an array; None if it has neither the field nor the attribute."""
    names = metadata.dimension_names
    attribute = metadata.attributes.get(DIMENSIONS)
    if names is None and isinstance(attribute, list) and len(attribute) == metadata.ndim:
        names = tuple(name if isinstance(name, str) else None for name in attribute)
    return None if names is None else tuple(names)


def name_candidates(metadata: ArrayMetadata) -> Iterator[tuple[ArrayMetadata, str]]:
    """Iterate over dimension names as a field or an attribute, the best first, with notes."""
    names = metadata.dimension_names
    attribute = metadata.attributes.get(DIMENSIONS)
    listed = (
        isinstance(attribute, list)
        and len(attribute) == metadata.ndim
        and all(isinstance(name, str) for name in attribute)
    )
    rest = {name: value for name, value in metadata.attributes.items() if name != DIMENSIONS}
    if listed and (names is None or list(names) == attribute):
        assert isinstance(attribute, list)
        inside = metadata.replace(dimension_names=tuple(attribute), attributes=rest)
        note = f"the attribute {DIMENSIONS} becomes dimension_names"
        yield inside, "" if names is not None else note
        yield metadata.replace(dimension_names=None), ""
        return
    yield metadata, ""
    if names is None:
        return
    bare = metadata.replace(dimension_names=None)
    if attribute is None and all(name is not None for name in names):
        named = metadata.attributes | {DIMENSIONS: list(names)}
        yield bare.replace(attributes=named), f"dimension_names become the attribute {DIMENSIONS}"
    yield bare, f"the dimension names {list(names)} are lost"


def mask_of(metadata: ArrayMetadata, zarr_format: int | str) -> Any:
    """Return the element that xarray reads as a missing value; None if there is none.

    In version 2 it is the fill value if there is one, otherwise the attribute ``_FillValue``, as in
    version 3, where it is encoded by data type.
    ValueError if the attribute is not an element of it.
    """
    data_type = _data_type(metadata)
    if zarr_format == 2 and not metadata.fill_value_undefined:
        return data_type.fill_value_from_json(metadata.fill_value)
    value = metadata.attributes.get(MASK)
    if value is None:
        return None
    dtype = data_type.fill_value_from_json(metadata.fill_value).dtype
    return np.asarray(decode_mask(value, dtype), dtype)[()]


def follows_convention(metadata: ArrayMetadata) -> bool:
    """Whether all dimensions of an array have names, as xarray writes arrays."""
    names = stored_names(metadata)
    return names is not None and None not in names


def masks_nothing(value: Any) -> bool:
    """Whether a value is missing without a mask: NaN or NaT."""
    return np.asarray(value).dtype.kind in "fcmM" and bool(value != value)


def same_mask(one: Any, other: Any) -> bool:
    """Whether xarray masks the same elements; None, NaN and NaT mask nothing else."""
    some, others = (
        None if value is None or masks_nothing(value) else value for value in (one, other)
    )
    if some is None or others is None:
        return some is None and others is None
    return bool(some == others)


def by_convention(
    metadata: ArrayMetadata, old: ArrayMetadata, source: Format, dest: Format
) -> tuple[ArrayMetadata, str]:
    """Return metadata in which xarray masks the same elements as in the source, with a note."""
    try:
        if (source.name, dest.name) == ("v2", "v3"):
            return _to_version_3(metadata)
        if (source.name, dest.name) == ("v3", "v2"):
            return _to_version_2(metadata)
        if source.name == dest.name == "v3":
            return _with_data_type(metadata, old), ""
    except (ZarrError, ValueError, TypeError):  # such an attribute means nothing to xarray
        return metadata, ""
    return metadata, ""


def fill_value_changes(old: ArrayMetadata, new: ArrayMetadata) -> bool:
    """Whether missing chunks of an array would have another value, or an undefined one."""
    if old.fill_value_undefined:
        return False
    return new.fill_value_undefined or not strictjson.identical(old.fill_value, new.fill_value)


def _to_version_3(metadata: ArrayMetadata) -> tuple[ArrayMetadata, str]:
    """Return metadata of version 2 with the attribute of version 3, and a note."""
    value = mask_of(metadata, 2)
    if value is None:
        return metadata, ""
    shown = f"the fill value {metadata.fill_value!r}"
    if not follows_convention(metadata):
        note = f"{shown} is not masked by xarray in version 3, since dimensions have no names"
        return metadata, "" if masks_nothing(value) or not value else note
    attributes = {key: item for key, item in metadata.attributes.items() if key != MASK}
    encoded = None if value.dtype.kind in "SUTO" and not value else encode_mask(value)
    if encoded is None:
        note = f"{shown} is not masked by xarray in version 3, which has no mask for {value.dtype}"
        return metadata.replace(attributes=attributes), "" if masks_nothing(value) else note
    note = f"{shown}, which xarray masks in version 2, becomes the attribute {MASK}"
    changed = metadata.replace(attributes=attributes | {MASK: encoded})
    return changed, "" if masks_nothing(value) else note


def _to_version_2(metadata: ArrayMetadata) -> tuple[ArrayMetadata, str]:
    """Return metadata of version 3 with the fill value that xarray masks in version 2, and a note."""
    value, data_type = mask_of(metadata, 3), _data_type(metadata)
    old = data_type.fill_value_from_json(metadata.fill_value)
    if not follows_convention(metadata):
        note = (
            f"the attribute {MASK} is not used by xarray in version 2, which masks the fill value"
        )
        return metadata, note * (value is not None and not same_mask(value, old))
    if value is None:
        if metadata.fill_value_undefined or masks_nothing(old):
            return metadata, ""
        note = (
            f"the fill value {metadata.fill_value!r} becomes undefined, since xarray masks that of "
            "version 2"
        )
        return metadata.replace(fill_value_undefined=True), note
    attributes = {key: item for key, item in metadata.attributes.items() if key != MASK}
    fill = data_type.fill_value_to_json(value)
    changed = metadata.replace(fill_value=fill, fill_value_undefined=False, attributes=attributes)
    if same_fill_value(old, value):
        return changed.replace(fill_value=metadata.fill_value), ""
    note = (
        f"the attribute {MASK} becomes the fill value, {fill!r} instead of {metadata.fill_value!r}"
    )
    return changed, note


def _with_data_type(metadata: ArrayMetadata, old: ArrayMetadata) -> ArrayMetadata:
    """Return metadata of version 3 with the attribute encoded for another data type."""
    if metadata.data_type == old.data_type or MASK not in metadata.attributes:
        return metadata
    dtype = _data_type(metadata).fill_value_from_json(metadata.fill_value).dtype
    encoded = encode_mask(np.asarray(mask_of(old, 3)).astype(dtype)[()])
    return metadata.replace(attributes={**metadata.attributes, MASK: encoded})


def _data_type(metadata: ArrayMetadata) -> DataType:
    data_type: DataType | None = create_extension("data_type", metadata.data_type)
    assert data_type is not None, "data types are never ignored"
    return data_type


def encode_mask(value: Any) -> JSON:
    """Encode an element as xarray does in version 3; None for data types that it cannot mask."""
    kind = value.dtype.kind if hasattr(value, "dtype") else "O"
    if kind == "f":
        return _bits(value)
    if kind == "c":
        return [_bits(value.real), _bits(value.imag)]
    if kind == "S":
        return standard_b64encode(bytes(value)).decode()
    plain: JSON = value.item() if hasattr(value, "item") else value
    return plain if kind in "biuU" or isinstance(plain, str) else None


def decode_mask(value: JSON, dtype: np.dtype[Any]) -> Any:
    """Decode the attribute; other writers store plain numbers."""
    if dtype.kind == "f" and isinstance(value, str):
        return _number(value)
    if dtype.kind == "c" and isinstance(value, list):
        real, imaginary = map(_number, value)
        return complex(real, imaginary)
    if dtype.kind == "S" and isinstance(value, str):
        return standard_b64decode(value)
    return value


def _bits(value: Any) -> str:
    return standard_b64encode(struct.pack("<d", float(value))).decode()


def _number(value: Any) -> float:
    number: float = struct.unpack("<d", standard_b64decode(value))[0]
    return number
