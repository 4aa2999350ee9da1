"""Conversion of the documents of a version 2 node from and to metadata.

Specification: version 2, "Metadata", "Groups", "Attributes".  Unknown members
are ignored and preserved.
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
    package_schema,
)
from zarr_core.metadata.group import ConsolidatedMetadata

from zarr_formats.chain import object_codec, read_chain, write_chain, write_stored_dtype
from zarr_formats.fill import fill_from_v2, fill_to_v2
from zarr_formats.metadata_error import metadata_error
from zarr_formats.revision import (
    Part,
    revise,
    unsupported,
    unsupported_problems,
    write_chunks,
)
from zarr_formats.typestr import read_dtype
from zarr_formats.v2.consolidated import read_consolidated, write_consolidated
from zarr_formats.v2.nonstandard import standard_array

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

    from zarr_formats.typestr import Dtype

ARRAY, GROUP, ATTRIBUTES, CONSOLIDATED = ".zarray", ".zgroup", ".zattrs", ".zmetadata"


def read_array(
    document: JSON,
    attributes: JSON | None,
    location: Location,
    separator: str = ".",
) -> ArrayMetadata:
    """Read a ``.zarray``; one that is not valid, but has one meaning, in its valid form.

    ``attributes`` is the ``.zattrs``, None if it is not stored; ``separator`` is that of
    coordinates if the document does not contain it.  An error contains all problems.
    """
    try:
        return _read_array(document, attributes, location, separator)
    except MetadataValidationError as error:
        standard, notes = standard_array(document)
        try:
            return _read_array(standard, attributes, location, separator).replace(nonstandard=notes)
        except MetadataValidationError:
            raise error from None


def _read_array(
    document: JSON, attributes: JSON | None, location: Location, separator: str
) -> ArrayMetadata:
    """Read a valid ``.zarray``; parameters and errors as for :func:`read_array`."""
    problems: list[ValidationProblem] = []
    schema = package_schema("zarr_formats", "format", "v2.array")
    if not schema.accepts(document):
        problems += schema.problems(document)
    members: dict[str, Any] = document if isinstance(document, dict) else {}
    shape, chunks = members.get("shape"), members.get("chunks")
    if isinstance(shape, list) and isinstance(chunks, list) and len(shape) != len(chunks):
        problems.append(
            ValidationProblem(
                "/chunks", f"has {len(chunks)} dimensions, but the shape has {len(shape)}"
            )
        )
    dtype, codecs, fill = _read_elements(members, problems)
    if problems or dtype is None or fill is None:
        raise MetadataValidationError(location.document(ARRAY), problems)
    stored: dict[str, JSON] = {ARRAY: document}
    if attributes is not None:
        stored[ATTRIBUTES] = attributes
    return ArrayMetadata(
        shape=tuple(members["shape"]),
        data_type=dtype.data_type,
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": members["chunks"]}),
        chunk_key_encoding=ExtensionDefinition(
            "v2", {"separator": members.get("dimension_separator", separator)}
        ),
        codecs=codecs,
        fill_value=fill[0],
        attributes=_read_attributes(attributes, location.document(ATTRIBUTES)),
        document=stored,
        fill_value_undefined=fill[1],
    )


def read_group(
    document: JSON,
    attributes: JSON | None,
    consolidated: JSON | ConsolidatedMetadata,
    location: Location,
) -> GroupMetadata:
    """Read a ``.zgroup`` and the other documents of a group, as for an array.

    ``consolidated`` may have been read before.
    """
    notes: tuple[str, ...] = ()
    if document == {}:
        document, notes = {"zarr_format": 2}, ("/zarr_format is missing and read as 2",)
    problems = package_schema("zarr_formats", "format", "v2.group").problems(document)
    if problems:
        raise MetadataValidationError(location.document(GROUP), problems)
    stored: dict[str, JSON] = {GROUP: document}
    if attributes is not None:
        stored[ATTRIBUTES] = attributes
    if consolidated is None or isinstance(consolidated, ConsolidatedMetadata):
        copies = consolidated
    else:
        copies = read_consolidated(consolidated, location.document(CONSOLIDATED))
    if copies is not None:
        stored[CONSOLIDATED] = copies.envelope
    return GroupMetadata(
        attributes=_read_attributes(attributes, location.document(ATTRIBUTES)),
        consolidated=copies,
        document=stored,
        nonstandard=notes,
    )


def write_array(metadata: ArrayMetadata, location: Location) -> dict[str, JSON]:
    """Return the documents of an array by their names; an error contains all problems.

    Pointers of problems are to members of version 3.
    """
    stored = metadata.document or {}
    raw = stored.get(ARRAY)
    old = None if not isinstance(raw, dict) else read_array(raw, None, location)
    document = revise(raw if isinstance(raw, dict) else None, old, metadata, _PARTS, location)
    if old is None:
        document = dict(sorted(document.items()))  # as in zarr-python
    written: dict[str, JSON] = {ARRAY: document}
    if metadata.attributes or ATTRIBUTES in stored:
        written[ATTRIBUTES] = metadata.attributes
    return written


def write_group(metadata: GroupMetadata, location: Location) -> dict[str, JSON]:
    """Return the documents of a group by their names."""
    stored = metadata.document or {}
    problems = unsupported_problems("version 2", metadata, "additional_fields")
    if problems:
        raise MetadataValidationError(location, problems)
    written: dict[str, JSON] = {GROUP: stored.get(GROUP, {"zarr_format": 2})}
    if metadata.attributes or ATTRIBUTES in stored:
        written[ATTRIBUTES] = metadata.attributes
    if metadata.consolidated is not None:
        written[CONSOLIDATED] = write_consolidated(metadata.consolidated, written)
    return written


def _read_attributes(attributes: JSON | None, location: Location) -> dict[str, JSON]:
    if attributes is None:
        return {}
    if not isinstance(attributes, dict):
        raise MetadataValidationError(
            location, [ValidationProblem("", "must be an object of attributes")]
        )
    return attributes


def _read_elements(
    members: dict[str, Any], problems: list[ValidationProblem]
) -> tuple[Dtype | None, tuple[ExtensionDefinition, ...], tuple[JSON, bool] | None]:
    """Read data type, codecs and fill value; add their problems to the list.

    Members that violate the schema are skipped.
    """
    bad = {problem.pointer.split("/")[1] for problem in problems if problem.pointer}
    sound = not problems or bool(bad)
    filters, compressor = members.get("filters"), members.get("compressor")
    known = sound and not bad & {"filters", "compressor"}
    dtype: Dtype | None = None
    codecs: tuple[ExtensionDefinition, ...] = ()
    fill: tuple[JSON, bool] | None = None
    try:
        if sound and "dtype" not in bad:
            ids = object_codec(filters, compressor) if known else None
            dtype = read_dtype(members["dtype"], "/dtype", ids)
    except MetadataValidationError as error:
        problems += error.problems
    if dtype is None:
        return None, (), None
    try:
        if known and not bad & {"order", "shape"}:
            ndim = len(members["shape"])
            codecs = read_chain(dtype, members["order"], ndim, filters, compressor)
    except MetadataValidationError as error:
        problems += error.problems
    try:
        if "fill_value" not in bad:
            fill = fill_from_v2(members["fill_value"], dtype)
    except MetadataValidationError as error:
        problems += error.problems
    return dtype, codecs, fill


# --- the members of .zarray ---


def _write_elements(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    problems: list[ValidationProblem] = []
    members: dict[str, JSON] = {}
    try:
        order, filters, compressor = write_chain(metadata)
        members |= {"compressor": compressor, "filters": filters, "order": order}
    except MetadataValidationError as error:
        problems += error.problems
    try:
        members["dtype"] = write_stored_dtype(metadata)
    except MetadataValidationError as error:
        problems += error.problems
    if problems:
        raise MetadataValidationError("", problems)
    return members


def _write_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    try:
        value = write_stored_dtype(metadata)
    except MetadataValidationError:  # reported already
        return {}
    dtype = read_dtype(value, "/data_type")
    # The data type defines the kind of objects.
    dtype = dtype.of(metadata.data_type) if dtype.kind == "O" else dtype
    return {"fill_value": fill_to_v2(metadata.fill_value, dtype, metadata.fill_value_undefined)}


def _write_separator(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    encoding = metadata.chunk_key_encoding
    if encoding.name != "v2":
        raise metadata_error(
            "/chunk_key_encoding",
            f"version 2 supports only the chunk key encoding 'v2', not {encoding.name!r}; for keys "
            'such as 0/0, use {"name": "v2", "separator": "/"}',
        )
    return {"dimension_separator": encoding.configuration.get("separator", ".")}


_PARTS = (
    Part(("chunk_grid",), ("chunks",), write_chunks),
    Part(("data_type", "codecs"), ("compressor", "dtype", "filters", "order"), _write_elements),
    Part(
        ("data_type", "codecs", "fill_value", "fill_value_undefined"),
        ("fill_value",),
        _write_fill_value,
    ),
    Part(("chunk_key_encoding",), ("dimension_separator",), _write_separator),
    Part(("shape",), ("shape",), lambda metadata: {"shape": list(metadata.shape)}),
    Part((), ("zarr_format",), lambda _: {"zarr_format": 2}),
    unsupported(
        "version 2", "storage_transformers", "dimension_names", "chunk_memory_layout",
        "data_type_fallbacks", "additional_fields",
    ),
)  # fmt: skip
