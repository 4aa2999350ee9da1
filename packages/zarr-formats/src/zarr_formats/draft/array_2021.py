"""Array metadata documents of zarr-python 2.12 to 2.18, and of zarrita (2021).

They follow an older state of the draft, with elements of version 2: typestrs, one
compressor, filters (in the attribute ``filters``), fill values that can be null.
Unknown members are ignored, as in those libraries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    ValidationProblem,
    strictjson,
)

from zarr_formats.chain import object_codec, read_chain, write_chain, write_stored_dtype
from zarr_formats.draft import chunks, codecs
from zarr_formats.draft.common_members import common_parts
from zarr_formats.draft.extensions import is_uri, read_extensions
from zarr_formats.draft.validate import add_location, validate_document
from zarr_formats.fill import fill_from_v2, fill_to_v2
from zarr_formats.metadata_error import metadata_error
from zarr_formats.revision import Part, unsupported
from zarr_formats.typestr import read_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

    from zarr_formats.typestr import Dtype

SHARDING_URI = "https://purl.org/zarr/spec/storage_transformers/sharding/1.0"
SCALAR = "c0"
"""The key of the only chunk of an array without dimensions, for zarr-python; ``c`` for zarrita."""
FILTERS = "filters"

_SPEC = "https://zarr-specs.readthedocs.io/en/"
# Placeholders that zarr-python writes instead of URIs.
_UNDONE = f"{'todo'.upper()}: {{}} array protocol URL"
_EXTENSIONS = {
    "c": f"{_SPEC}core-protocol-v3.0-dev/protocol/extensions/complex-dtypes/v1.0.html",
    "O": _UNDONE.format("object"),
    "S": _UNDONE.format("bytestring"),
    "U": _UNDONE.format("unicode"),
    "V": _UNDONE.format("structured"),
    "M": f"{_SPEC}latest/extensions/data-types/datetime/v1.0.html",
    "m": f"{_SPEC}latest/extensions/data-types/datetime/v1.0.html",
}
# Typestrs without byte order, as they are written without the "|".
_SHORT = {"bool": "|b1", "i1": "|i1", "u1": "|u1"}
_SHORTENED = {typestr: short for short, typestr in _SHORT.items()}


def read_array(document: JSON, location: Location, scalar: str = SCALAR) -> ArrayMetadata:
    """Read the document of an array; ``scalar`` is the chunk key without dimensions, "c0" or "c"."""
    checked = validate_document(document, "draft-2021.array", location, ignore_unknown=True)
    try:
        return _read(checked, scalar)
    except MetadataValidationError as error:
        raise add_location(error, location, _place) from error


def _read(document: dict[str, Any], scalar: str) -> ArrayMetadata:
    shape = tuple(document["shape"])
    attributes = document["attributes"]
    filters = _filters(attributes)
    compressor, unknown = _read_compressor(document.get("compressor"))
    dtype = _read_data_type(document["data_type"], object_codec(filters, compressor))
    chain = read_chain(dtype, document["chunk_memory_layout"], len(shape), filters, compressor)
    stored = chunks.read_chunks(document, scalar, pad=True)
    fill_value, undefined = fill_from_v2(document["fill_value"], dtype)
    if filters is not None:
        attributes = {name: value for name, value in attributes.items() if name != FILTERS}
    return ArrayMetadata(
        shape=shape,
        data_type=dtype.data_type,
        chunk_grid=stored.grid,
        chunk_key_encoding=stored.key_encoding,
        codecs=stored.shard([*chain, *unknown]),
        fill_value=fill_value,
        storage_transformers=stored.transformers,
        attributes=attributes,
        additional_fields=read_extensions(document.get("extensions", ())),
        fill_value_undefined=undefined,
    )


def _filters(attributes: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Return the codecs in the attribute ``filters``; None if it does not contain codecs."""
    filters = attributes.get(FILTERS)
    if not isinstance(filters, list) or not filters:
        return None
    if not all(isinstance(item, dict) for item in filters):
        return None
    problems = [
        ValidationProblem(f"/filters/{number}/id", "must be the name of a codec")
        for number, item in enumerate(filters)
        if not isinstance(item.get("id"), str)
    ]
    if problems:
        raise MetadataValidationError("", problems)
    return filters


def _read_compressor(
    compressor: dict[str, Any] | None,
) -> tuple[dict[str, JSON] | None, list[ExtensionDefinition]]:
    """Return the configuration for numcodecs, or the codec if numcodecs does not have it."""
    if compressor is None:
        return None, []
    uri, configuration = compressor["codec"], compressor["configuration"]
    name = codecs.known(uri, codecs.IN_DIALECT)
    if name is None:
        return None, [ExtensionDefinition(uri, configuration)]
    return {**configuration, "id": name}, []


def _read_data_type(value: Any, codec: str | None) -> Dtype:
    """Read a data type; the URI of an extension is ignored, as in those libraries."""
    if not isinstance(value, dict):
        return read_dtype(_SHORT.get(value, value), "/data_type")
    typestr = value["type"]
    # NumPy's fields for raw bytes.
    if isinstance(typestr, list) and len(typestr) == 1 and isinstance(typestr[0], list):
        name, *inner = typestr[0]
        if name == "" and len(inner) == 1 and str(inner[0]).startswith("|V"):
            typestr = inner[0]
    return read_dtype(typestr, "/data_type/type", codec)


def _place(pointer: str) -> str:
    """Convert a pointer into members of version 2 to a pointer into this document."""
    return f"/attributes{pointer}" if pointer.startswith(f"/{FILTERS}") else pointer


# --- writing ---


def _write_grid(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    return {"chunk_grid": chunks.write_chunk_grid(metadata, SCALAR, extensions=False)}


def _write_elements(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    order, _, compressor = _chain(metadata)
    written: dict[str, JSON] = {
        "data_type": _write_data_type(metadata),
        "chunk_memory_layout": order,
    }
    if compressor is not None:
        written["compressor"] = compressor
    return written


def _write_data_type(metadata: ArrayMetadata) -> JSON:
    value = _stored_dtype(metadata)
    if isinstance(value, str) and value in _SHORTENED:
        return _SHORTENED[value]
    kind = read_dtype(value).kind
    extension = _EXTENSIONS.get(kind)
    if extension is None:
        return value
    if kind in "mM" and metadata.data_type.configuration.get("scale_factor", 1) != 1:
        message = "must be 1 in this format"
        raise metadata_error("/data_type/configuration/scale_factor", message)
    if isinstance(value, str) and kind == "V":
        value = [["", value]]
    return {"extension": extension, "type": value, "fallback": None}


def _stored_dtype(metadata: ArrayMetadata) -> JSON:
    _, inner = chunks.sharding_of(metadata)
    return write_stored_dtype(inner)


def _write_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    dtype = read_dtype(_stored_dtype(metadata))
    # The data type defines the kind of objects.
    dtype = dtype.of(metadata.data_type) if dtype.kind == "O" else dtype
    return {"fill_value": fill_to_v2(metadata.fill_value, dtype, metadata.fill_value_undefined)}


def _write_attributes(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    _, filters, _ = _chain(metadata)
    attributes = metadata.attributes
    before: Any = metadata.document or {}
    if FILTERS in attributes:
        old = before.get("array", {}).get("attributes", {})
        if filters or not strictjson.identical(attributes[FILTERS], old.get(FILTERS)):
            message = (
                "this format stores the codecs before the compressor in this attribute; choose "
                "another name"
            )
            raise metadata_error("/attributes/filters", message)
    return {"attributes": attributes | ({FILTERS: list(filters)} if filters else {})}


def _chain(metadata: ArrayMetadata) -> tuple[str, list[JSON], JSON]:
    """Return layout, filters and compressor."""
    _, inner = chunks.sharding_of(metadata)
    own: JSON = None
    if inner.codecs and is_uri(inner.codecs[-1].name):
        last = inner.codecs[-1]
        own = {"codec": last.name, "configuration": dict(last.configuration)}
        inner = inner.replace(codecs=inner.codecs[:-1])
    order, written, compressor = write_chain(inner)
    filters = written or []
    if compressor is not None:
        name = str(compressor["id"])
        if own is not None or name not in codecs.IN_DIALECT:
            filters = [*filters, compressor]
        else:
            rest = {key: value for key, value in compressor.items() if key != "id"}
            own = {"codec": codecs.uri_2021(name), "configuration": rest}
    return order, filters, own


PARTS: tuple[Part, ...] = (
    Part(
        ("data_type", "codecs"),
        ("data_type", "chunk_memory_layout", "compressor"),
        _write_elements,
    ),
    Part(("attributes", "codecs"), ("attributes",), _write_attributes),
    *common_parts(SHARDING_URI, _write_grid, _write_fill_value),
    unsupported("this format", "chunk_memory_layout"),
)
"""How members are written; the filters are written to the attributes."""
