"""Array metadata documents of the text of December 2022.

Specification: "Array metadata".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.errors import UnknownExtensionError
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    ValidationProblem,
)

from zarr_formats.chain import V2_FILTERS, write_stored_dtype
from zarr_formats.draft import chunks, codecs, data_types, fill_values
from zarr_formats.draft.common_members import common_parts, transposed, without_transpose
from zarr_formats.draft.extensions import is_uri, read_extensions
from zarr_formats.draft.validate import add_location, validate_document
from zarr_formats.fill import fill_from_v2, fill_to_v2
from zarr_formats.metadata_error import metadata_error
from zarr_formats.revision import Part
from zarr_formats.typestr import create_data_type, read_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

    from zarr_formats.draft.data_types import DraftType

SHARDING_URI = "https://purl.org/zarr/spec/extensions/storage_transformers/sharding/1.0"
SCALAR = "c"
"""The key of the only chunk: "the chunk key will consist of the string c"."""


def read_array(
    document: JSON, location: Location, *, ignore_unknown: bool = False
) -> ArrayMetadata:
    """Read the document of an array; later minor versions may have unknown members."""
    checked = validate_document(document, "draft.array", location, ignore_unknown=ignore_unknown)
    try:
        return _read(checked)
    except MetadataValidationError as error:
        raise add_location(error, location) from error


def _read(document: dict[str, Any]) -> ArrayMetadata:
    shape, layout = tuple(document["shape"]), document["chunk_memory_layout"]
    data_type = data_types.read_data_type(document["data_type"])
    stored = chunks.read_chunks(document, SCALAR, keep=isinstance(layout, dict))
    fill_value, undefined = _read_fill_value(document["fill_value"], data_type)
    return ArrayMetadata(
        shape=shape,
        data_type=data_type.data_type,
        chunk_grid=stored.grid,
        chunk_key_encoding=stored.key_encoding,
        codecs=stored.shard(_read_codecs(document, data_type, layout, len(shape))),
        fill_value=fill_value,
        storage_transformers=stored.transformers,
        attributes=document["attributes"],
        additional_fields=read_extensions(document["extensions"]),
        fill_value_undefined=undefined,
        data_type_fallbacks=tuple(item.data_type for item in data_type.fallbacks),
        chunk_memory_layout=_read_layout(layout) if isinstance(layout, dict) else None,
    )


def _read_codecs(
    document: dict[str, Any], data_type: DraftType, layout: Any, ndim: int
) -> list[ExtensionDefinition]:
    nearest = data_type.nearest
    order = None if nearest is None else nearest.byte_order
    if data_type.dtype is None:
        # "the default binary representation of all data types is little endian"
        order = order or "little"
    typesize = (nearest.item_size if nearest is not None else None) or 1
    before = transposed(ndim) if layout == "F" else []
    definitions = document.get("codecs", [])
    if order == "mixed":
        assert nearest is not None, "it has a byte order"
        # Fields of several byte orders, which only this codec supports.
        before = [*before, ExtensionDefinition(V2_FILTERS, {"dtype": nearest.value, "codecs": []})]
        return before + codecs.read_codecs(definitions, None, typesize, serialised=True)
    return before + codecs.read_codecs(definitions, order, typesize)


def _read_layout(layout: dict[str, Any]) -> ExtensionDefinition:
    return ExtensionDefinition(layout["extension"], data_types.extension_configuration(layout))


def _read_fill_value(value: JSON, data_type: DraftType) -> tuple[JSON, bool]:
    """Return the fill value, and whether it is undefined.

    Text: "the literal null is not permitted"; but "if the data_type of an array is defined
    in a data_type extension, then said extension is responsible", and there is null in the
    example of one.
    """
    if data_type.is_core:
        dtype = data_type.dtype
        name = data_type.data_type.name
        if dtype is not None and dtype.kind == "V":
            name = data_types.core_name(data_type.data_type) or name
        return fill_values.read_fill_value(value, name), False
    if data_type.dtype is None:
        return value, value is None
    try:
        return fill_from_v2(value, data_type.dtype)
    except UnknownExtensionError:  # not installed; a fallback may be used
        return value, value is None


# --- writing ---


def _write_grid(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    return {"chunk_grid": chunks.write_chunk_grid(metadata, SCALAR)}


def _write_elements(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    """Write data type, layout and codecs together: one of them contains the byte order."""
    _, inner = chunks.sharding_of(metadata)
    problems: list[ValidationProblem] = []
    written: dict[str, JSON] = {}
    data_type = inner.data_type
    in_type = data_types.says_byte_order(data_type)
    try:
        written["data_type"] = _write_data_type(inner)
    except ValueError as error:
        problems += _problems(error, "/data_type")
    numbered = list(enumerate(inner.codecs))
    if metadata.chunk_memory_layout is None:
        is_f, numbered = without_transpose(inner)
        written["chunk_memory_layout"] = "F" if is_f else "C"
    else:
        try:
            written["chunk_memory_layout"] = _write_layout(metadata.chunk_memory_layout)
        except MetadataValidationError as error:
            problems += error.problems
    rest = [
        (number, codec)
        for number, codec in numbered
        if not (in_type and codec.name == V2_FILTERS and not codec.configuration.get("codecs"))
    ]
    try:
        definitions = codecs.write_codecs(rest, endian=not in_type)
    except MetadataValidationError as error:
        problems += error.problems
    else:
        if definitions:
            written["codecs"] = definitions
    if problems:
        raise MetadataValidationError("", problems)
    return written


def _write_data_type(metadata: ArrayMetadata) -> JSON:
    data_type = metadata.data_type
    dtype = write_stored_dtype(metadata) if data_types.says_byte_order(data_type) else None
    return data_types.write_data_type(data_type, dtype, metadata.data_type_fallbacks)


def _write_layout(layout: ExtensionDefinition) -> JSON:
    if not is_uri(layout.name):
        raise metadata_error(
            "/chunk_memory_layout", f"this format does not support the layout {layout.name!r}"
        )
    rest = dict(layout.configuration)
    return {"extension": layout.name, "type": rest.pop("type", None), **rest}


def _write_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    data_type = metadata.data_type
    name = data_types.core_name(data_type)
    if name is not None:
        if metadata.fill_value_undefined:
            message = (
                "the draft of December 2022 requires a fill value (null is not permitted); choose "
                "one"
            )
            raise metadata_error("/fill_value", message)
        value = metadata.fill_value
        if name.startswith("r"):
            value = _raw(data_type, value)
        return {"fill_value": fill_values.write_fill_value(value, name)}
    if not data_types.says_byte_order(data_type):
        return {"fill_value": None if metadata.fill_value_undefined else metadata.fill_value}
    _, inner = chunks.sharding_of(metadata)
    dtype = read_dtype(write_stored_dtype(inner))
    return {"fill_value": fill_to_v2(metadata.fill_value, dtype, metadata.fill_value_undefined)}


def _raw(data_type: ExtensionDefinition, value: JSON) -> JSON:
    """Return the bytes of an element as a list; data types may also use base64."""
    return list(create_data_type(data_type).fill_value_from_json(value).tobytes())


def _problems(error: ValueError, pointer: str) -> list[ValidationProblem]:
    if isinstance(error, MetadataValidationError):
        return list(error.problems)
    return [ValidationProblem(pointer, str(error))]


PARTS: tuple[Part, ...] = (
    Part(
        ("data_type", "data_type_fallbacks", "codecs", "chunk_memory_layout"),
        ("data_type", "chunk_memory_layout", "codecs"),
        _write_elements,
    ),
    Part(("attributes",), ("attributes",), lambda new: {"attributes": new.attributes}),
    *common_parts(SHARDING_URI, _write_grid, _write_fill_value),
)
"""How members are written."""
