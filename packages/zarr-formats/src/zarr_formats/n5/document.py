"""The document ``attributes.json``, as metadata of an array or group.

Specification: N5 file-system specification, items 2 to 4.  Members that describe the array
stand beside the attributes of the user.  Lengths are in the order of N5, which is the
opposite of ours: so the elements of a block are in C order.  TensorStore keeps labels of
dimensions in the member ``axes``; it is an attribute, and gives the names of dimensions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    GroupMetadata,
    MetadataValidationError,
    Problem,
    json_pointer,
    package_schema,
)

from zarr_formats.n5 import fitting
from zarr_formats.n5.compression import OLD_TYPES, codec_of
from zarr_formats.revision import Part, revise

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

VERSION = "2.0.0"
"""The oldest version that has all that is written here; older readers refuse newer ones."""

_OF_ARRAYS = ("dimensions", "blockSize", "dataType")
_COMPRESSION = ("compression", "compressionType")
_RESERVED = ("n5", *_OF_ARRAYS, *_COMPRESSION)


def is_array(document: Mapping[str, JSON]) -> bool:
    """Whether a document is an array's: one that lacks a member is damaged, not a group's."""
    return len(document.keys() & set(_OF_ARRAYS)) > 1


# --- arrays ---


def read_array(document: dict[str, JSON], where: str) -> ArrayMetadata:
    """Read the document of an array.

    Raises
    ------
    MetadataValidationError
        If it is wrong; with every problem.
    """
    problems = package_schema("zarr_formats", "format", "n5.array").problems(document)
    checked: Mapping[str, Any] = document
    if not problems:
        problems = _inconsistencies(checked)
    if problems:
        raise MetadataValidationError(where, problems)
    data_type = checked["dataType"]
    attributes = _attributes(document)
    compression = checked.get("compression") or {"type": checked["compressionType"]}
    compressor = codec_of(compression, fitting.item_size(data_type))
    inner: list[JSON] = [fitting.elements(data_type).to_json()]
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
        fill_value=fitting.zero(data_type),
        dimension_names=_dimension_names(attributes.get("axes"), len(checked["dimensions"])),
        attributes=attributes,
        document={"attributes.json": document},
    )


def write_array(metadata: ArrayMetadata, where: str) -> dict[str, JSON]:
    """The document of an array; what was read and not changed is as it was.

    Raises
    ------
    MetadataValidationError
        If N5 has no words for it.
    """
    raw, old = _read_again(metadata, where)
    known = old.attributes if isinstance(old, ArrayMetadata) else {}
    parts = [
        Part(("shape",), ("dimensions",), lambda new: {"dimensions": [*reversed(new.shape)]}),
        Part(("data_type",), ("dataType",), fitting.data_type),
        Part(("chunk_grid",), ("blockSize",), fitting.block_size),
        Part(("codecs",), _COMPRESSION, fitting.compression),
        Part(("attributes",), tuple(known), lambda new: _checked(new.attributes, known)),
        Part(("dimension_names",), (), lambda new: _axes(new, known)),
        Part(("fill_value",), (), fitting.no_fill_value),
        Part(("chunk_key_encoding",), (), fitting.no_other_keys),
        *fitting.WITHOUT_WORDS,
    ]
    return revise(raw, old if isinstance(old, ArrayMetadata) else None, metadata, parts, where)


def _inconsistencies(document: Mapping[str, Any]) -> list[Problem]:
    """What the schema cannot say."""
    problems = []
    ndim, count = len(document["dimensions"]), len(document["blockSize"])
    if count != ndim:
        problems.append(Problem("/blockSize", f"has {count} lengths, /dimensions has {ndim}"))
    if reason := fitting.unknown_type(document["dataType"]):
        problems.append(Problem("/dataType", reason))
    if "compression" not in document and document.get("compressionType") not in OLD_TYPES:
        shown = f"must be one of {', '.join(OLD_TYPES)}, not {document.get('compressionType')!r}"
        problems.append(
            Problem("/compressionType", shown)
            if "compressionType" in document
            else Problem("/compression", "is missing")
        )
    return problems


# --- groups ---


def read_group(document: dict[str, JSON]) -> GroupMetadata:
    """Read the document of a group: it has attributes alone."""
    attributes = {name: value for name, value in document.items() if name != "n5"}
    return GroupMetadata(attributes=attributes, document={"attributes.json": document})


def write_group(metadata: GroupMetadata, where: str) -> dict[str, JSON] | None:
    """The document of a group; None for one that had none, and needs none.

    Raises
    ------
    MetadataValidationError
        If N5 has no words for it.
    """
    if metadata.document is not None and not metadata.document and not metadata.attributes:
        return None
    raw, old = _read_again(metadata, where)
    known = {} if old is None else old.attributes
    problems = [
        Problem(json_pointer(name), "N5 has no such member of a group")
        for name in metadata.additional_fields
    ]
    if metadata.consolidated is not None:
        problems.append(
            Problem("/consolidated_metadata", "N5 has no copies of documents in a group")
        )
    if problems:
        raise MetadataValidationError(where, problems)
    try:
        attributes = _checked(metadata.attributes, known)
    except MetadataValidationError as error:
        raise MetadataValidationError(where, error.problems) from None
    kept = {name: attributes.get(name, value) for name, value in (raw or {}).items()}
    gone = known.keys() - attributes.keys()
    return {name: value for name, value in kept.items() if name not in gone} | attributes


# --- both ---


def _read_again(
    metadata: ArrayMetadata | GroupMetadata, where: str
) -> tuple[dict[str, JSON] | None, ArrayMetadata | GroupMetadata | None]:
    """The document that metadata were read from, and what it said."""
    raw = (metadata.document or {}).get("attributes.json")
    if not isinstance(raw, dict):
        return None, None
    return raw, read_array(raw, where) if is_array(raw) else read_group(raw)


def _attributes(document: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: value for name, value in document.items() if name not in _RESERVED}


def _checked(attributes: Mapping[str, JSON], known: Mapping[str, JSON]) -> dict[str, JSON]:
    """Attributes of the user, none of which may be taken for a member of an array."""
    problems = [
        Problem(
            f"/attributes{json_pointer(name)}",
            f"{name!r} is what N5 calls a member of its own; choose another name",
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
        message = "the attribute 'axes', where N5 has the names of dimensions, says otherwise"
        raise MetadataValidationError("", [Problem("/dimension_names", message)])
    return {"axes": [name or "" for name in reversed(names)]}
