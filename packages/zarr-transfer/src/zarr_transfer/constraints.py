"""Constraints on one array: arguments of ``create_array`` and a part of a ``zarr.json``.

A new array has the members of the document, and what the arguments give.  An existing array is
compared with both: the arguments, merged with its own document, are a part of a document, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from numpy import can_cast
from zarr_core import override_extensions
from zarr_core.errors import (
    MetadataError,
    MetadataMismatchError,
    UnsupportedFieldError,
    ValidationProblem,
    problem_lines,
)
from zarr_core.extension import (
    ArrayMetadata,
    ChunkGrid,
    ExtensionDefinition,
    create_extension,
    inner_order,
    strictjson,
)
from zarr_core.hierarchy.assigned_values import data_to_array, data_type_of
from zarr_core.messages import shorten
from zarr_core.metadata.attributes import check_attributes
from zarr_core.metadata.validation import ARRAY_MEMBERS, check_document, unknown_members
from zarr_core.normalize.array_metadata import (
    DEFAULTS,
    NEW_ARRAY,
    add_transpose,
    fill_value_errors,
    grid_of,
    new_array_metadata,
    other_members,
    parse_order,
    parse_shape,
)
from zarr_core.normalize.chunk_shapes import AUTO, parse_lengths
from zarr_core.normalize.codecs import (
    SHARDING,
    TRANSPOSE,
    configuration_to_json,
    is_auto,
    parse_codec,
    parse_codecs,
)
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.normalize.definitions import parse_definition
from zarr_core.registry.discovery import usable_names

from zarr_transfer.compare_metadata import (
    definitions_of,
    document_of,
    inner_codecs,
    metadata_differences,
    split_codecs,
    without_format_codec,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Format, StoredArray
    from zarr_core.normalize.chunk_shapes import Lengths

_LAYOUT = ("order", "filters", "serializer", "compressors", "chunks", "shards")


# --- a part of a document ---

_REQUIRED: dict[str, Any] = {
    "zarr_format": 3, "node_type": "array", "data_type": "int8", "chunk_grid": "regular",
    "chunk_key_encoding": "default", "fill_value": 0,
}  # fmt: skip


def parse_partial_metadata(metadata: Any, location: str = "metadata") -> dict[str, Any]:
    """The valid members of a part of a ``zarr.json``, or of all metadata of an array.

    Codecs can be names, or any form that ``compressors`` of ``create_array`` accepts; lengths in
    ``shape`` can be null, and so can a fill value, which is then undefined (version 2).
    """
    if isinstance(metadata, ArrayMetadata):
        return document_of(metadata)
    if not isinstance(metadata, Mapping):
        raise TypeError(
            "metadata must be a part of a zarr.json as a dictionary, or ArrayMetadata, not "
            f"{shorten(repr(metadata))}"
        )
    members: Any = strictjson.plain(configuration_to_json(dict(metadata)), location)
    complete = {**_REQUIRED, **members, "codecs": members.get("codecs") or ["bytes"]}
    shape, dimension_names = members.get("shape"), members.get("dimension_names")
    if isinstance(shape, list):
        complete["shape"] = [0 if length is None else length for length in shape]
    elif "shape" not in members:
        complete["shape"] = [0] * (len(dimension_names) if isinstance(dimension_names, list) else 0)
    check_document(complete, location, "array")
    if unknown := unknown_members(members, (*ARRAY_MEMBERS, *usable_names("extension"))):
        raise UnsupportedFieldError(location, unknown)
    return {name: members[name] for name in members if name not in ("zarr_format", "node_type")}


# --- new arrays ---


def complete_metadata(
    metadata: Any, format_: Format, arguments: Mapping[str, Any], data_dtype: Any = None
) -> ArrayMetadata:
    """The metadata of a new array that has the members of a document, and what arguments give.

    ``data_dtype`` is used if neither has a data type.
    """
    document = parse_partial_metadata(metadata)
    specified = {name: value for name, value in arguments.items() if not _is_default(name, value)}
    merged = {**DEFAULTS, "dtype": data_dtype, **_members_as_arguments(document), **specified}
    merged["shape"] = shape = parse_shape(merged["shape"])
    attributes = check_attributes(merged["attributes"] or {}, NEW_ARRAY)
    merged["attributes"] = {**document.get("attributes", {}), **attributes}
    if "fill_value" not in specified and (value := document.get("fill_value", ...)) is not ...:
        data_type, byte_order = parse_data_type(merged["dtype"] or "float64")
        with fill_value_errors("metadata"):
            value = value if value is None else data_type.fill_value_as_stored(value, byte_order)
        merged["fill_value"] = value
    merged.update(
        _merge_layout(
            document, specified, shape, within_shards=any(n in specified for n in _LAYOUT)
        )
    )
    additional = {name: document[name] for name in document if name not in ARRAY_MEMBERS}
    new: ArrayMetadata = new_array_metadata(format_, merged, additional)
    if problems := metadata_differences(new, document):
        shown = [
            ValidationProblem(item.pointer, f"{item.message} as in metadata") for item in problems
        ]
        text = ", ".join(f"{name}={shorten(repr(value), 100)}" for name, value in specified.items())
        raise TypeError(
            f"{NEW_ARRAY}: metadata contradicts {text or 'the defaults of new arrays'}:\n  "
            + "\n  ".join(problem_lines(shown))
        )
    return format_.to_format(new, NEW_ARRAY)


def _is_default(name: str, value: Any) -> bool:
    default = DEFAULTS[name]
    return value is default or (isinstance(value, str | tuple) and value == default)


def _members_as_arguments(document: Mapping[str, Any]) -> dict[str, Any]:
    """The members of a document that are arguments, except the fill value, chunks and codecs."""
    arguments: dict[str, Any] = {}
    if None not in (shape := document.get("shape", [None])):
        arguments["shape"] = shape
    if any(name is not None for name in document.get("dimension_names", ())):
        arguments["dimension_names"] = document["dimension_names"]
    if "storage_transformers" in document:
        arguments["storage_transformers"] = document["storage_transformers"]
    for member, name in (("data_type", "dtype"), ("chunk_key_encoding", "chunk_key_encoding")):
        if member in document:
            arguments[name] = ExtensionDefinition.from_json(document[member])
    return arguments


# --- existing arrays ---


def check_array(
    stored: StoredArray,
    metadata: Any,
    arguments: Mapping[str, Any],
    *,
    casts: bool = False,
) -> None:
    """Compare an existing array with a part of a ``zarr.json`` and with arguments of ``create_array``.

    ``casts`` permits any dtype to which that of the arguments can be cast safely.  Raises a
    MetadataMismatchError with all differences.
    """
    with override_extensions(stored.extensions):
        expected = [] if metadata is None else [parse_partial_metadata(metadata)]
        if arguments:
            expected.append(_expected_members(_without_data(arguments), stored, casts))
        problems: dict[ValidationProblem, None] = {}
        for document in expected:
            problems.update(dict.fromkeys(metadata_differences(stored.metadata, document)))
    if problems:
        raise MetadataMismatchError(stored.location, problems)


def _without_data(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Arguments of a new array with the shape, and the dtype if any, of ``data`` instead of it."""
    data = arguments.get("data")
    if data is None:
        return arguments
    values = data_to_array(data)
    dtype = data_type_of(values) if hasattr(data, "dtype") else None
    implied = {"shape": values.shape, "dtype": dtype}
    return {
        **arguments,
        **{name: item for name, item in implied.items() if arguments.get(name) is None},
    }


def _expected_members(
    arguments: Mapping[str, Any], stored: StoredArray, casts: bool
) -> dict[str, Any]:
    """The arguments of ``create_array`` as a part of the document of an existing array.

    ``"auto"`` determines nothing, and neither does None, except no filters or compressors.
    """
    specified = {
        name: value
        for name, value in arguments.items()
        if name in DEFAULTS
        and not is_auto(value)
        and value is not ...
        and (value is not None or name in ("filters", "compressors"))
    }
    expected: dict[str, Any] = {}
    metadata, format_ = stored.metadata, stored.format
    shape, data_type = metadata.shape, stored.resolved.data_type
    byte_order = None
    if "shape" in specified:
        shape = parse_shape(specified["shape"])
        expected["shape"] = [*shape]
    if "dtype" in specified:
        wanted, byte_order = parse_data_type(specified["dtype"])
        is_cast = casts and can_cast(wanted.numpy_dtype, stored.resolved.dtype)
        # The codecs of version 2 determine which objects are stored.
        of_codecs = wanted.numpy_dtype.kind == "O" and data_type.numpy_dtype.kind in "OT"
        if is_cast:
            byte_order = None
        else:
            data_type = wanted
            if not of_codecs:
                expected["data_type"] = wanted.to_definition().to_json()
    if "fill_value" in specified:
        with fill_value_errors("fill_value", specified["fill_value"]):
            fill_value = data_type.cast(specified["fill_value"])
        expected["fill_value"] = data_type.fill_value_to_json(fill_value)
    expected.update(other_members(specified, format_))
    encoding = ExtensionDefinition.from_json(expected.pop("chunk_key_encoding"))
    if "chunk_key_encoding" in specified:
        with suppress(MetadataError):  # the format may have another one for it
            changed = metadata.replace(chunk_key_encoding=encoding)
            encoding = format_.to_format(changed, NEW_ARRAY).chunk_key_encoding
        expected["chunk_key_encoding"] = encoding.to_json()
    if len(shape) == metadata.ndim:
        expected.update(_expected_layout(specified, stored, shape, byte_order))
    return expected


def _expected_layout(
    specified: dict[str, Any], stored: StoredArray, shape: tuple[int, ...], byte_order: str | None
) -> dict[str, Any]:
    """The chunk grid and the codecs that arguments determine."""
    layout = {name: specified[name] for name in _LAYOUT if name in specified}
    stored_order = inner_order(stored.codecs) if {"order", "filters"} & layout.keys() else None
    if "order" in layout and (*parse_order(layout["order"], len(shape)),) == stored_order:
        if "filters" not in layout:
            del layout["order"]
    elif "filters" in layout and stored.format.filters_and_compressors(stored.metadata):
        layout.setdefault("order", stored_order or "C")  # not one of the filters
    if not layout and byte_order is None:
        return {}
    document = document_of(stored.metadata)
    document["codecs"], _ = without_format_codec(stored.metadata.codecs)
    before, sharding, after = split_codecs(document["codecs"])
    grid = ExtensionDefinition.from_json(document["chunk_grid"])
    merged = _merge_layout(document, layout, shape, within_shards=True)
    serializer, chunks, shards = merged["serializer"], merged["chunks"], merged.get("shards")
    if byte_order is not None and not is_auto(serializer) and serializer.name == "bytes":
        serializer = ExtensionDefinition("bytes", {"endian": byte_order})
    filters = add_transpose(layout.get("order", "C"), merged["filters"], len(shape))
    codecs = [*filters, *([] if is_auto(serializer) else [serializer]), *merged["compressors"]]
    if shards and _sharding_in(sharding) is None:
        before, sharding, after = [], [SHARDING], []
        # A ChunkLayout gives no shards of one chunk.
        if hasattr(specified["shards"], "aspect_ratio") and grid_of(shards["shape"]) == grid:
            shards = None
    if shards:
        configuration = {**shards, "codecs": [item.to_json() for item in codecs]}
        lengths = configuration.pop("shape")
        if not is_auto(chunks):
            configuration["chunk_shape"] = [*chunks]
        codecs = [*before, ExtensionDefinition(sharding[0].name, configuration), *after]
        if "shards" in layout:
            grid = grid_of(lengths)
    elif not is_auto(chunks):
        grid = (
            grid_of(chunks) if isinstance(chunks, tuple) else parse_definition(chunks, "chunk grid")
        )
    return {"chunk_grid": grid.to_json(), "codecs": [item.to_json() for item in codecs]}


# --- chunks and codecs ---


def _merge_layout(
    document: Mapping[str, Any],
    specified: Mapping[str, Any],
    shape: tuple[int, ...],
    *,
    within_shards: bool,
) -> dict[str, Any]:
    """The chunks and codecs of a document as arguments, in which those that are given prevail.

    With ``within_shards``, the codecs and chunks are those of inner chunks, if there are shards.
    """
    split = split_codecs(definitions_of(document.get("codecs", ())))
    grid = (
        ExtensionDefinition.from_json(document["chunk_grid"]) if "chunk_grid" in document else None
    )
    if grid is not None and not grid.configuration:
        grid = None
    chunks, shards = specified.get("chunks", AUTO), specified.get("shards", AUTO)
    known: Any = None if grid is None else _lengths_of(grid, document, shape)
    inner = known
    sharding = _sharding_in(split[1]) if within_shards and not _is_grid(chunks) else None
    if sharding is not None:
        split = split_codecs(inner_codecs(sharding, "codecs") or ())
        inner = sharding.configuration.get("chunk_shape")
    chunks = _fill_lengths(chunks, inner, shape, "chunks")
    if is_auto(chunks) and sharding is not None and inner is not None:
        chunks = tuple(inner)
    elif is_auto(chunks) and sharding is None and is_auto(shards) and grid is not None:
        chunks = grid
    merged = {"chunks": chunks}
    if shards is not False and (sharding is not None or not is_auto(shards)):
        options = shards if isinstance(shards, dict) else {"shape": shards}
        lengths = _fill_lengths(options.get("shape", AUTO), known, shape, "shards")
        merged["shards"] = {**options, "shape": known if is_auto(lengths) and known else lengths}
    if "codecs" not in document:
        return merged
    filters, serializers, compressors = split
    if "order" in specified:
        filters = [item for item in filters if item.name != TRANSPOSE.name]
    if "filters" in specified:
        filters = _complete(parse_codecs(specified["filters"]), filters)
    if "compressors" in specified:
        compressors = _complete(parse_codecs(specified["compressors"]), compressors)
    if specified.get("serializer") is not None:
        serializers = _complete([parse_codec(specified["serializer"])], serializers)
    elif any(split_codecs(filters)[1:]) or split_codecs(compressors)[1]:
        serializers = []  # it is one of them, as in version 2
    serializer = serializers[0] if serializers else AUTO
    return merged | {"filters": filters, "serializer": serializer, "compressors": compressors}


def _complete(
    specified: list[ExtensionDefinition], codecs: list[ExtensionDefinition]
) -> list[ExtensionDefinition]:
    """The given codecs, with further members of the configurations of the same codecs."""
    if [item.name for item in specified] != [item.name for item in codecs]:
        return specified
    return [
        ExtensionDefinition(item.name, {**other.configuration, **item.configuration})
        for item, other in zip(specified, codecs, strict=True)
    ]


def _sharding_in(serializers: list[ExtensionDefinition]) -> ExtensionDefinition | None:
    """The codec that divides a chunk, or shard, into inner chunks."""
    for item in serializers:
        if item.name == SHARDING.name or {"codecs", "chunk_shape"} <= item.configuration.keys():
            return item
    return None


def _is_grid(value: Any) -> bool:
    return isinstance(value, dict | ExtensionDefinition | ChunkGrid)


def _lengths_of(
    grid: ExtensionDefinition, document: Mapping[str, Any], shape: tuple[int, ...]
) -> Lengths:
    """The lengths of the chunks of a document along each dimension."""
    sizes = tuple(document.get("shape", shape))
    axes = create_extension("chunk_grid", grid, NEW_ARRAY.at("/chunk_grid")).axes(
        shape if None in sizes else sizes
    )
    return tuple(
        axis.uniform or tuple(length for length, count in axis.runs() for _ in range(count))
        for axis in axes
    )


def _fill_lengths(
    value: Any, known: Sequence[Any] | None, shape: tuple[int, ...], argument: str
) -> Any:
    """Lengths in which known ones take the place of "auto"; "auto" if an argument gives none."""
    if known is None or is_auto(value) or _is_grid(value):
        return value
    if hasattr(value, "choose_shapes"):  # a ChunkLayout, or an object that has no lengths itself
        if getattr(value, "soft", True) or value.shape is None:
            return AUTO
        value = value.shape
    lengths = parse_lengths(value, shape, argument)
    if all(item == AUTO for item in lengths):
        return AUTO
    if len(known) != len(lengths):
        return lengths
    return tuple(old if item == AUTO else item for item, old in zip(lengths, known, strict=True))
