"""Conversion of ``attributes.json`` to metadata of arrays and groups.

Specification: N5 file-system specification, items 2 to 4.  The document contains the
members that describe the array and the attributes of the user.  Dimensions are in reverse
order, so the elements of a block are in C order.  The member ``axes``, in which TensorStore
stores the labels of dimensions, is an attribute and defines the dimension names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    GroupMetadata,
    Location,
    MetadataValidationError,
    ValidationProblem,
    json_pointer,
    package_schema,
)

from zarr_formats.metadata_error import metadata_error
from zarr_formats.n5 import array_members
from zarr_formats.n5.compression import OLD_TYPES, codec_of
from zarr_formats.revision import Part, revise, unsupported, unsupported_problems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

VERSION = "2.0.0"
"""The oldest version with all features that are written; old readers reject newer versions."""

_OF_ARRAYS = ("dimensions", "blockSize", "dataType")
_COMPRESSION = ("compression", "compressionType")
_RESERVED = ("n5", *_OF_ARRAYS, *_COMPRESSION)


def is_array(document: Mapping[str, JSON]) -> bool:
    """Whether a document is that of an array, possibly with a missing member."""
    return len(document.keys() & set(_OF_ARRAYS)) > 1


# --- arrays ---


def read_array(document: dict[str, JSON], location: Location) -> ArrayMetadata:
    """Read the document of an array; an error contains all problems."""
    problems = package_schema("zarr_formats", "format", "n5.array").problems(document)
    checked: Mapping[str, Any] = document
    if not problems:
        problems = _inconsistencies(checked)
    if problems:
        raise MetadataValidationError(location, problems)
    data_type = checked["dataType"]
    attributes = _attributes(document)
    compression = checked.get("compression") or {"type": checked["compressionType"]}
    compressor = codec_of(compression, array_members.item_size(data_type))
    inner: list[JSON] = [array_members.elements(data_type).to_json()]
    if compressor is not None:
        inner.append(compressor.to_json())
    return ArrayMetadata(
        shape=tuple(reversed(checked["dimensions"])),
        data_type=ExtensionDefinition(data_type, spelling=data_type),
        chunk_grid=ExtensionDefinition(
            "regular", {"chunk_shape": [*reversed(checked["blockSize"])]}
        ),
        chunk_key_encoding=ExtensionDefinition("n5"),
        codecs=(ExtensionDefinition("n5.block", {"codecs": inner}),),
        fill_value=array_members.zero(data_type),
        dimension_names=_dimension_names(attributes.get("axes"), len(checked["dimensions"])),
        attributes=attributes,
        document={"attributes.json": document},
    )


def write_array(metadata: ArrayMetadata, location: Location) -> dict[str, JSON]:
    """Return the document of an array; unchanged members are kept as they were read."""
    raw, old = _read_again(metadata, location)
    known = old.attributes if isinstance(old, ArrayMetadata) else {}
    parts = [
        Part(("shape",), ("dimensions",), lambda new: {"dimensions": [*reversed(new.shape)]}),
        Part(("data_type",), ("dataType",), array_members.data_type),
        Part(("chunk_grid",), ("blockSize",), array_members.block_size),
        Part(("codecs",), _COMPRESSION, array_members.compression),
        Part(("attributes",), tuple(known), lambda new: _checked(new.attributes, known)),
        Part(("dimension_names",), (), lambda new: _axes(new, known)),
        Part(("fill_value",), (), array_members.no_fill_value),
        Part(("chunk_key_encoding",), (), array_members.no_other_keys),
        unsupported(
            "N5", "additional_fields", "storage_transformers", "data_type_fallbacks",
            "chunk_memory_layout",
        ),
    ]  # fmt: skip
    return revise(raw, old if isinstance(old, ArrayMetadata) else None, metadata, parts, location)


def _inconsistencies(document: Mapping[str, Any]) -> list[ValidationProblem]:
    """Return problems that the schema does not detect."""
    problems = []
    ndim, count = len(document["dimensions"]), len(document["blockSize"])
    if count != ndim:
        problems.append(
            ValidationProblem("/blockSize", f"has {count} items, but /dimensions has {ndim}")
        )
    if reason := array_members.unknown_type(document["dataType"]):
        problems.append(ValidationProblem("/dataType", reason))
    if "compression" not in document and document.get("compressionType") not in OLD_TYPES:
        shown = f"must be one of {', '.join(OLD_TYPES)}, not {document.get('compressionType')!r}"
        problems.append(
            ValidationProblem("/compressionType", shown)
            if "compressionType" in document
            else ValidationProblem("/compression", "is missing")
        )
    return problems


# --- groups ---


def read_group(document: dict[str, JSON]) -> GroupMetadata:
    """Read the document of a group, which contains only attributes."""
    attributes = {name: value for name, value in document.items() if name != "n5"}
    return GroupMetadata(attributes=attributes, document={"attributes.json": document})


def write_group(metadata: GroupMetadata, location: Location) -> dict[str, JSON] | None:
    """Return the document of a group, or None if none is needed."""
    if metadata.document is not None and not metadata.document and not metadata.attributes:
        return None
    raw, old = _read_again(metadata, location)
    known = {} if old is None else old.attributes
    problems = unsupported_problems("N5", metadata, "additional_fields")
    if metadata.consolidated is not None:
        problems.append(
            ValidationProblem("/consolidated_metadata", "N5 does not support consolidated metadata")
        )
    if problems:
        raise MetadataValidationError(location, problems)
    try:
        attributes = _checked(metadata.attributes, known)
    except MetadataValidationError as error:
        raise MetadataValidationError(location, error.problems) from None
    kept = {name: attributes.get(name, value) for name, value in (raw or {}).items()}
    gone = known.keys() - attributes.keys()
    return {name: value for name, value in kept.items() if name not in gone} | attributes


# --- both ---


def _read_again(
    metadata: ArrayMetadata | GroupMetadata, location: Location
) -> tuple[dict[str, JSON] | None, ArrayMetadata | GroupMetadata | None]:
    """Return the document from which metadata was read, and read it again."""
    raw = (metadata.document or {}).get("attributes.json")
    if not isinstance(raw, dict):
        return None, None
    return raw, read_array(raw, location) if is_array(raw) else read_group(raw)


def _attributes(document: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in document.items() if name not in _RESERVED}


def _checked(attributes: Mapping[str, JSON], known: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the attributes; raise if a name is reserved for members of arrays."""
    problems = [
        ValidationProblem(
            f"/attributes{json_pointer(name)}",
            f"{name!r} is reserved by N5; choose another name",
        )
        for name in attributes
        if name in _RESERVED and name not in known
    ]
    if problems:
        raise MetadataValidationError("", problems)
    return dict(attributes)


def _dimension_names(axes: JSON, ndim: int) -> tuple[str | None, ...] | None:
    if not isinstance(axes, list) or len(axes) != ndim:
        return None
    names = [name for name in axes if isinstance(name, str)]
    if len(names) != ndim or not any(names):
        return None
    return tuple(name or None for name in reversed(names))


def _axes(metadata: ArrayMetadata, known: Mapping[str, JSON]) -> dict[str, JSON]:
    names = metadata.dimension_names
    axes = metadata.attributes.get("axes")
    if names is None or _dimension_names(axes, metadata.ndim) == names:
        return {}
    if axes is not None and axes is not known.get("axes"):
        message = "does not match the attribute 'axes', in which N5 stores dimension names"
        raise metadata_error("/dimension_names", message)
    return {"axes": [name or "" for name in reversed(names)]}
