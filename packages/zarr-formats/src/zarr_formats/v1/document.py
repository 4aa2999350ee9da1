"""Conversion of the documents ``meta`` and ``attrs`` from and to the metadata of an array.

Specification: version 1, "Metadata", "Attributes".  Unknown members of ``meta`` are ignored and
preserved.

The member ``order`` is the order of the elements in a chunk.  zarr 1.0 and 1.1, the only other
writers of version 1, use it for Blosc only, and C order for the other compression libraries.
Chunks are read and written like theirs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionDefinition,
    Location,
    MetadataValidationError,
    ValidationProblem,
    package_schema,
)

from zarr_formats.chain import read_chain, write_chain, write_stored_dtype
from zarr_formats.metadata_error import metadata_error
from zarr_formats.revision import Part, revise, unsupported, write_chunks
from zarr_formats.typestr import read_dtype
from zarr_formats.v1.compression import config_of, options_of
from zarr_formats.v1.fill import fill_from_v1, fill_to_v1

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import JSON

META, ATTRIBUTES = "meta", "attrs"


def is_version_1(document: JSON) -> bool:
    """Whether a value is a ``meta`` of version 1, valid or not."""
    if not isinstance(document, dict):
        return False
    version = document.get("zarr_format")
    return type(version) is int and version == 1


def encode(document: JSON) -> bytes:
    """Encode a document in ASCII, which zarr 1 requires."""
    return json.dumps(document, indent=4).encode("ascii")


def read_array(document: JSON, attributes: JSON | None, location: Location) -> ArrayMetadata:
    """Read ``meta``, and ``attrs``, which is None if it is not stored."""
    problems = package_schema("zarr_formats", "format", "v1.meta").problems(document)
    if not isinstance(attributes, dict | None):
        problems.append(ValidationProblem("", f"{ATTRIBUTES!r} must be an object of attributes"))
    if problems:
        raise MetadataValidationError(location, problems)
    assert isinstance(document, dict), "the schema says so"
    members: Mapping[str, Any] = document
    ndim = len(members["shape"])
    if len(members["chunks"]) != ndim:
        message = f"has {len(members['chunks'])} dimensions, but the shape has {ndim}"
        raise MetadataValidationError(location, [ValidationProblem("/chunks", message)])
    try:
        dtype = read_dtype(members["dtype"])
        if dtype.item_size is None:
            message = "version 1 stores addresses in memory for Python objects, which are lost"
            raise metadata_error("/dtype", message)
        config = config_of(members["compression"], members["compression_opts"])
        order = members["order"] if members["compression"] == "blosc" else "C"
        codecs = read_chain(dtype, order, ndim, None, config)
        fill_value, undefined = fill_from_v1(members["fill_value"], dtype)
    except MetadataValidationError as error:
        raise MetadataValidationError(location, error.problems) from error
    stored: dict[str, JSON] = {META: document}
    if attributes is not None:
        stored[ATTRIBUTES] = attributes
    return ArrayMetadata(
        shape=tuple(members["shape"]),
        data_type=dtype.data_type,
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": members["chunks"]}),
        chunk_key_encoding=ExtensionDefinition("v2", {"separator": "."}),
        codecs=codecs,
        fill_value=fill_value,
        fill_value_undefined=undefined,
        attributes=attributes if isinstance(attributes, dict) else {},
        document=stored,
    )


def write_array(metadata: ArrayMetadata, location: Location) -> dict[str, JSON]:
    """Return the documents of an array by their names; always both."""
    stored = metadata.document or {}
    raw = stored.get(META)
    if not isinstance(raw, dict):
        new = revise(None, None, metadata, _PARTS, location)
        return {META: dict(sorted(new.items())), ATTRIBUTES: metadata.attributes}
    old = read_array(raw, None, location)
    written: dict[str, JSON] = {META: revise(raw, old, metadata, _PARTS, location)}
    if metadata.attributes or ATTRIBUTES in stored:
        written[ATTRIBUTES] = metadata.attributes
    return written


# --- the members of meta ---


def _write_shape(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    if not metadata.shape:
        raise metadata_error("/shape", "version 1 does not support arrays without dimensions")
    return {"shape": [*metadata.shape]}


def _write_elements(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    order, filters, compressor = write_chain(metadata)
    dtype = read_dtype(write_stored_dtype(metadata), "/data_type")
    if filters:
        raise metadata_error("/codecs", "version 1 supports one compressor and no filters")
    if dtype.item_size is None:
        raise metadata_error("/data_type", "version 1 does not support elements of variable size")
    if _has_subarrays(dtype.value):
        raise metadata_error("/data_type", "version 1 does not support fields that are arrays")
    last = f"/codecs/{len(metadata.codecs) - 1}"
    try:
        compression, options = options_of(compressor)
    except ValueError as error:
        raise metadata_error(last, str(error)) from error
    if compression == "blosc" and _has_times(dtype.value):
        message = "zarr 1 cannot compress times with blosc; choose numcodecs.zlib"
        raise metadata_error(last, message)
    if order == "F" and compression != "blosc":
        message = "version 1 supports order F only with blosc"
        raise metadata_error("/codecs/0", message)
    return {
        "dtype": dtype.value,
        "compression": compression,
        "compression_opts": options,
        "order": order,
    }


def _has_subarrays(value: JSON) -> bool:
    return isinstance(value, list) and any(
        isinstance(field, list) and (len(field) > 2 or _has_subarrays(field[1])) for field in value
    )


def _has_times(value: JSON) -> bool:
    if isinstance(value, list):
        return any(_has_times(field[1]) for field in value if isinstance(field, list))
    return str(value)[1:2] in ("m", "M")


def _write_fill_value(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    try:
        dtype = read_dtype(write_stored_dtype(metadata))
    except MetadataValidationError:  # reported already
        return {}
    if dtype.item_size is None:
        return {}
    undefined = metadata.fill_value_undefined
    return {"fill_value": fill_to_v1(metadata.fill_value, dtype, undefined)}


def _write_keys(metadata: ArrayMetadata) -> Mapping[str, JSON]:
    encoding = metadata.chunk_key_encoding
    if encoding.name != "v2" or encoding.configuration.get("separator", ".") != ".":
        raise metadata_error(
            "/chunk_key_encoding", 'version 1 supports only chunk keys such as "0.0"'
        )
    return {}


_ELEMENTS = ("dtype", "compression", "compression_opts", "order")
_PARTS = (
    Part((), (), lambda _: {"zarr_format": 1}),
    Part(("shape",), ("shape",), _write_shape),
    Part(("chunk_grid",), ("chunks",), write_chunks),
    Part(("data_type", "codecs"), _ELEMENTS, _write_elements),
    Part(("fill_value", "fill_value_undefined"), ("fill_value",), _write_fill_value),
    Part(("chunk_key_encoding",), (), _write_keys),
    unsupported(
        "version 1", "dimension_names", "storage_transformers", "data_type_fallbacks",
        "chunk_memory_layout", "additional_fields",
    ),
)  # fmt: skip
