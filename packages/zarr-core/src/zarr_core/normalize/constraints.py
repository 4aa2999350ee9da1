"""The arguments of ``create_array`` merged with a part of a ``zarr.json``.

A new array has the given arguments, and otherwise the members of partial metadata.  An existing
array is compared with the given arguments, and otherwise its own members.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from numpy import can_cast

from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.inner_order import inner_order
from zarr_core.errors import MetadataError, MetadataMismatchError, MetadataValidationError
from zarr_core.interfaces.chunk_grid import ChunkGrid
from zarr_core.metadata.validation import ARRAY_MEMBERS
from zarr_core.metadata.validation_problem import ValidationProblem, first_token, problem_lines
from zarr_core.normalize.array_metadata import (
    DEFAULTS,
    NEW_ARRAY,
    add_transpose,
    check_names,
    grid_of,
    new_array_metadata,
    other_members,
    parse_order,
    parse_shape,
)
from zarr_core.normalize.attributes import check_attributes
from zarr_core.normalize.chunk_shapes import AUTO, chunk_and_shard_shape, parse_lengths
from zarr_core.normalize.codecs import SHARDING, TRANSPOSE, is_auto, parse_codec, parse_codecs
from zarr_core.normalize.compare_metadata import (
    Comparison,
    definition_of,
    definitions_of,
    differences,
    document_of,
    inner_codecs,
    split_codecs,
    without_format_codec,
)
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.normalize.definitions import parse_definition
from zarr_core.normalize.partial_metadata import as_partial
from zarr_core.printable import shorten
from zarr_core.registry.resolve import require_extension
from zarr_core.registry.scope import cache_key, override_extensions

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from zarr_core.definition import JSON
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.format import Format
    from zarr_core.metadata.array import ArrayMetadata

_CHAIN = ("order", "filters", "serializer", "compressors")
_CODEC_ARGUMENTS = (*_CHAIN, "chunks", "shards", "dtype")
_ARGUMENTS = {
    "/shape": ("shape",),
    "/data_type": ("dtype",),
    "/chunk_grid": ("chunks", "shards"),
    "/chunk_key_encoding": ("chunk_key_encoding",),
    "/fill_value": ("fill_value",),
    "/codecs": _CODEC_ARGUMENTS,
    "/storage_transformers": ("storage_transformers",),
    "/dimension_names": ("dimension_names",),
    "/attributes": ("attributes", "dimension_units"),
}
"""The arguments that determine a member of the metadata."""


# --- merging ---


def merge_layout(
    document: Mapping[str, Any],
    given: Mapping[str, Any],
    shape: tuple[int, ...],
    item_size: int = 1,
    byte_order: str | None = None,
) -> dict[str, Any]:
    """Arguments for chunks and codecs: those given, merged with the members of a document.

    If the document has shards, the codecs and chunks that are given are those of inner chunks, and
    the merged serializer contains them.  ``byte_order`` is that of the serializer ``bytes``.
    """
    grid = _grid_in(document)
    known = None
    if grid is not None and {"chunks", "shards"} & given.keys():
        known = _lengths_of(grid, document, shape)
    merged = {**given}
    if "codecs" in document:
        split = split_codecs(definitions_of(document["codecs"]))
        sharding = sharding_in(split)
        if sharding is not None:
            configuration = dict(sharding.configuration)
            inner = split_codecs(inner_codecs(sharding, "codecs") or ())
            lists = _merge_chain(inner, given, len(shape), byte_order)
            if any(lists) or "codecs" in configuration:
                codecs = [item.to_json() for items in lists for item in items]
                configuration["codecs"] = codecs
            return {
                "chunks": _merge_shards(configuration, given, grid, known, shape, item_size),
                "filters": split[0],
                "serializer": ExtensionDefinition(sharding.name, configuration),
                "compressors": split[2],
            }
        filters, serializer, compressors = _merge_chain(split, given, len(shape), byte_order)
        merged.update(order="C", filters=filters, compressors=compressors)
        merged["serializer"] = serializer[0] if serializer else AUTO
    chunks = _fill(given.get("chunks", AUTO), known, shape, "chunks")
    if is_auto(chunks) and grid is not None and "shards" not in given:
        chunks = grid
    return {**merged, "chunks": chunks}


def sharding_in(split: list[list[ExtensionDefinition]]) -> ExtensionDefinition | None:
    """The codec that divides a chunk, or shard, into inner chunks."""
    for item in split[1]:
        if item.name == SHARDING.name or {"codecs", "chunk_shape"} <= item.configuration.keys():
            return item
    return None


def _merge_chain(
    split: list[list[ExtensionDefinition]],
    given: Mapping[str, Any],
    ndim: int,
    byte_order: str | None,
) -> list[list[ExtensionDefinition]]:
    """The codecs of a chain by their kinds, in which given arguments prevail."""
    filters, serializer, compressors = split
    if "order" in given:
        filters = [item for item in filters if item.name != TRANSPOSE.name]
    if "filters" in given:
        filters = _merge_lists(parse_codecs(given["filters"]), filters)
    if "order" in given:
        filters = parse_codecs(add_transpose(given["order"], filters, ndim))
    if "compressors" in given:
        compressors = _merge_lists(parse_codecs(given["compressors"]), compressors)
    if given.get("serializer") is not None:
        serializer = _merge_lists([parse_codec(given["serializer"])], serializer)
    elif any(split_codecs(filters)[1:]) or split_codecs(compressors)[1]:
        serializer = []  # it is one of them, as in version 2
    elif byte_order is not None and [item.name for item in serializer] == ["bytes"]:
        serializer = [ExtensionDefinition("bytes", {"endian": byte_order})]
    return [filters, serializer, compressors]


def _merge_lists(
    given: list[ExtensionDefinition], codecs: list[ExtensionDefinition]
) -> list[ExtensionDefinition]:
    """The given codecs, with members of the configurations of equal codecs."""
    if [item.name for item in given] != [item.name for item in codecs]:
        return given
    return [*map(Comparison().definitions, given, codecs)]


def _merge_shards(
    configuration: dict[str, Any],
    given: Mapping[str, Any],
    grid: ExtensionDefinition | None,
    known: Sequence[Any] | None,
    shape: tuple[int, ...],
    item_size: int,
) -> Any:
    """Set the shape of inner chunks; return the argument ``chunks`` for the shards."""
    chunks, shards = given.get("chunks", AUTO), given.get("shards", AUTO)
    if isinstance(chunks, dict | ExtensionDefinition | ChunkGrid):
        return chunks
    if isinstance(shards, dict):
        configuration.update((name, shards[name]) for name in ("index_location",) if name in shards)
        shards = shards.get("shape", AUTO)
    inner = configuration.get("chunk_shape")
    chunks = _fill(chunks, inner, shape, "chunks")
    shards = _fill(shards, known, shape, "shards")
    if is_auto(chunks) and inner is not None:
        chunks = inner
    if grid is not None and is_auto(shards):
        if not is_auto(chunks):
            configuration["chunk_shape"] = [*chunk_and_shard_shape(shape, item_size, chunks)[0]]
        return grid
    if is_auto(chunks):  # the inner chunk is the shard
        return grid_of(chunk_and_shard_shape(shape, item_size, shards)[0])
    # Lengths that are all known are compared, and need not be multiples.
    if known is None or inner is None or any(isinstance(item, tuple) for item in shards):
        chunks, shards = chunk_and_shard_shape(shape, item_size, chunks, shards)
    configuration["chunk_shape"] = [*chunks]
    return grid_of(shards)


def _grid_in(document: Mapping[str, Any]) -> ExtensionDefinition | None:
    """The chunk grid of a document, if it has a configuration."""
    grid = definition_of(document["chunk_grid"]) if "chunk_grid" in document else None
    return grid if grid is not None and grid.configuration else None


def _lengths_of(
    grid: ExtensionDefinition, document: Mapping[str, Any], shape: tuple[int, ...]
) -> list[Any]:
    """The lengths of the chunks of a document along each dimension."""
    sizes = tuple(document.get("shape", shape))
    axes = require_extension("chunk_grid", grid, NEW_ARRAY.at("/chunk_grid")).axes(
        shape if None in sizes else sizes
    )
    return [
        axis.uniform or tuple(length for length, count in axis.runs() for _ in range(count))
        for axis in axes
    ]


def _fill(value: Any, known: Sequence[Any] | None, shape: tuple[int, ...], argument: str) -> Any:
    """Lengths in which known ones take the place of "auto"; "auto" if an argument gives none."""
    is_grid = isinstance(value, dict | ExtensionDefinition | ChunkGrid)
    if known is None or is_auto(value) or is_grid:
        return value
    if hasattr(value, "aspect_ratio"):  # a ChunkLayout
        value = None if value.soft else value.shape
        if value is None:
            return AUTO
    lengths = parse_lengths(value, shape, argument)
    if all(item == AUTO for item in lengths):
        return AUTO
    if len(known) != len(lengths):
        return lengths
    return tuple(old if item == AUTO else item for item, old in zip(lengths, known, strict=True))


# --- new arrays ---


def complete_metadata(
    document: Mapping[str, Any], format_: Format, arguments: Mapping[str, Any]
) -> ArrayMetadata:
    """Return the metadata of a new array, given by a part of a ``zarr.json`` and by arguments.

    Raises
    ------
    TypeError
        If an argument is unknown or contradicts the document, or there is no shape.
    MetadataValidationError, ExtensionError, CodecChainError
        As for :func:`zarr_core.create_array`.
    """
    check_names(arguments)
    given = {name: value for name, value in arguments.items() if not _is_default(name, value)}
    merged = {**DEFAULTS, **_members_as_arguments(document), **given}
    if merged["shape"] is None:
        raise TypeError("a new array requires shape or data")
    merged["shape"] = shape = parse_shape(merged["shape"])
    attributes = check_attributes(merged["attributes"] or {}, NEW_ARRAY)
    merged["attributes"] = {**document.get("attributes", {}), **attributes}
    data_type, byte_order = parse_data_type(merged["dtype"] or "float64")
    if "fill_value" in document and "fill_value" not in given:
        merged["fill_value"] = _fill_value(document["fill_value"], data_type, byte_order)
    if {"chunk_grid", "codecs"} & document.keys():
        layout = {name: given[name] for name in _CODEC_ARGUMENTS if name in given}
        for name in _CODEC_ARGUMENTS[:-1]:
            merged[name] = DEFAULTS[name]
        merged.update(merge_layout(document, layout, shape, data_type.item_size or 16))
    additional = {name: document[name] for name in document if name not in ARRAY_MEMBERS}
    made = new_array_metadata(format_, merged, additional)
    _check_contradictions(document, given, made)
    return format_.to_format(made, NEW_ARRAY)


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
    for member, name in (
        ("data_type", "dtype"),
        ("chunk_key_encoding", "chunk_key_encoding"),
        ("storage_transformers", "storage_transformers"),
    ):
        if member in document:
            value = document[member]
            is_list = member == "storage_transformers"
            arguments[name] = definitions_of(value) if is_list else definition_of(value)
    return arguments


def _fill_value(value: JSON, data_type: DataType, byte_order: Any) -> Any:
    """The fill value of a document as an argument."""
    if value is None:
        return None
    try:
        return data_type.fill_value_as_stored(value, byte_order)
    except (ValueError, TypeError, OverflowError) as error:
        problem = ValidationProblem("/fill_value", str(error))
        raise MetadataValidationError("metadata", [problem]) from error


def _check_contradictions(
    document: Mapping[str, Any], given: Mapping[str, Any], made: ArrayMetadata
) -> None:
    """Raise a TypeError if the metadata of a new array are not those that were given.

    It names every contradiction, with the arguments that cause it.
    """
    problems = []
    for problem in differences(made, document):
        causes = ", ".join(
            f"{name}={shorten(repr(given[name]), 100)}"
            for name in _ARGUMENTS.get(first_token(problem.pointer), ())
            if name in given
        )
        cause = f" as in metadata; see {causes}" if causes else " as in metadata"
        problems.append(ValidationProblem(problem.pointer, problem.message + cause))
    if problems:
        lines = "\n  ".join(problem_lines(problems))
        raise TypeError(
            f"{NEW_ARRAY}: the arguments and metadata contradict each other:\n  {lines}"
        )


# --- existing arrays ---

# The attributes and additional fields of constraints whose other members an array has, by the
# content of both; limited by the bytes of the keys.
_satisfied: Cache[Hashable, list[dict[str, Any]]] = Cache(1 << 20, largest=1 << 15)


def check_array(
    stored: StoredArray,
    metadata: Any,
    arguments: Mapping[str, Any],
    *,
    casts: bool = False,
) -> None:
    """Compare an existing array with partial metadata and with arguments of ``create_array``.

    ``casts`` permits any dtype to which that of the arguments can be cast safely.

    Raises
    ------
    MetadataMismatchError
        If the array is not as expected; has all differences.
    TypeError, ValueError, ExtensionError
        If the metadata or an argument is not valid for any array.
    """
    found, content = stored.metadata, stored.metadata.extensions_key
    units = arguments.get("dimension_units") is not None
    with override_extensions(stored.extensions):
        try:
            text = pickle.dumps((metadata, [*arguments.items()], casts), 4)
        except Exception:  # contains objects that cannot be pickled
            text = b""
        key = (text, content, found.shape, found.dimension_names, stored.format.name, cache_key())
        known = _satisfied.get(key) if text and content[1] else None
        expected = known
        if expected is None:
            expected = [] if metadata is None else [as_partial(metadata).document]
            if arguments:
                expected = [*expected, _expected_members(arguments, stored, casts)]
        problems: dict[ValidationProblem, None] = {}
        for number, document in enumerate(expected, 1):
            if units and number == len(expected):
                document = _expecting_units(document, found.attributes)
            problems.update(dict.fromkeys(differences(found, document)))
    if problems:
        raise MetadataMismatchError(stored.location, problems)
    if known is None and text and content[1]:
        varying = [
            {
                name: value
                for name, value in document.items()
                if name not in ARRAY_MEMBERS or (name == "attributes" and value)
            }
            for document in expected
        ]
        varying = [document for document in varying if document]
        _satisfied.keep(key, varying, len(text) + sum(map(len, content)))


def _expecting_units(expected: dict[str, Any], stored: Mapping[str, JSON]) -> dict[str, Any]:
    """Compare units by their meaning; an array without units agrees with any."""
    from zarr_core.normalize.dimension_units import ATTRIBUTE, expected_units  # rarely used

    attributes = dict(expected["attributes"])
    units: Any = attributes.pop(ATTRIBUTE)
    if ATTRIBUTE in stored:
        attributes[ATTRIBUTE] = expected_units(units, stored[ATTRIBUTE])
    return {**expected, "attributes": attributes}


def _expected_members(
    arguments: Mapping[str, Any], stored: StoredArray, casts: bool
) -> dict[str, Any]:
    """The arguments of ``create_array`` as a part of the document of an existing array.

    ``"auto"`` determines nothing, and neither does None, except no filters or compressors.
    """
    given = {
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
    if "shape" in given:
        shape = parse_shape(given["shape"])
        expected["shape"] = [*shape]
    if "dtype" in given:
        wanted, byte_order = parse_data_type(given["dtype"])
        is_cast = casts and can_cast(wanted.numpy_dtype, stored.resolved.dtype)
        # The codecs of version 2 determine which objects are stored.
        of_codecs = wanted.numpy_dtype.kind == "O" and data_type.numpy_dtype.kind in "OT"
        if is_cast:
            byte_order = None
        else:
            data_type = wanted
            if not of_codecs:
                expected["data_type"] = wanted.to_definition().to_json()
    if "fill_value" in given:
        expected["fill_value"] = _fill_value_json(given["fill_value"], data_type, stored)
    expected.update(other_members(given, format_, len(shape)))
    encoding = definition_of(expected.pop("chunk_key_encoding"))
    if "chunk_key_encoding" in given:
        with suppress(MetadataError):  # the format may have another one for it
            changed = metadata.replace(chunk_key_encoding=encoding)
            encoding = format_.to_format(changed, NEW_ARRAY).chunk_key_encoding
        expected["chunk_key_encoding"] = encoding.to_json()
    if len(shape) == metadata.ndim:
        expected.update(_expected_layout(given, stored, shape, byte_order))
    return expected


def _fill_value_json(value: Any, data_type: DataType, stored: StoredArray) -> JSON:
    """The JSON form of a fill value; for a stored data type that cannot have it, as a float64."""
    try:
        return data_type.fill_value_to_json(data_type.cast(value))
    except (ValueError, TypeError, OverflowError) as error:
        if data_type is stored.resolved.data_type:
            with suppress(ValueError, TypeError, OverflowError):
                number = parse_data_type("float64")[0]
                return number.fill_value_to_json(number.cast(value))
        problem = ValidationProblem("/fill_value", str(error))
        raise MetadataValidationError("fill_value", [problem]) from error


def _expected_layout(
    given: dict[str, Any], stored: StoredArray, shape: tuple[int, ...], byte_order: str | None
) -> dict[str, Any]:
    """The chunk grid and the codecs that arguments determine."""
    layout = {name: given[name] for name in _CODEC_ARGUMENTS[:-1] if name in given}
    stored_order = inner_order(stored.codecs) if {"order", "filters"} & layout.keys() else None
    if "order" in layout and (*parse_order(layout["order"], len(shape)),) == stored_order:
        if "filters" not in layout:
            del layout["order"]
    elif "filters" in layout and stored.format.filters_and_compressors(stored.metadata):
        layout.setdefault("order", stored_order)  # not one of the filters
    if not layout and byte_order is None:
        return {}
    document: dict[str, Any] = document_of(stored.metadata)
    document["codecs"], _ = without_format_codec(stored.metadata.codecs)
    sharding = sharding_in(split_codecs(document["codecs"]))
    if sharding is None and layout.get("shards"):
        shards = layout.pop("shards")
        is_layout = hasattr(shards, "aspect_ratio")
        shards = shards.get("shape", AUTO) if isinstance(shards, dict) else shards
        grid = definition_of(document["chunk_grid"])
        shards = _fill(shards, _lengths_of(grid, document, shape), shape, "shards")
        expected = grid_of(shards) if isinstance(shards, tuple) else grid
        # A layout gives no shards of one chunk.
        if isinstance(shards, tuple) and not (is_layout and expected == grid):
            return {"chunk_grid": expected.to_json(), "codecs": [SHARDING.name]}
    elif sharding is not None and layout.get("shards") is False:
        document["codecs"] = inner_codecs(sharding, "codecs") or ()
        document["chunk_grid"] = ExtensionDefinition(
            "regular", {"chunk_shape": sharding.configuration["chunk_shape"]}
        )
    merged = merge_layout(document, layout, shape, byte_order=byte_order)
    serializer, chunks = merged["serializer"], merged["chunks"]
    codecs = [*merged["filters"], *([] if is_auto(serializer) else [serializer])]
    grid = grid_of(chunks) if isinstance(chunks, tuple) else parse_definition(chunks, "chunk grid")
    return {
        "chunk_grid": grid.to_json(),
        "codecs": [definition.to_json() for definition in codecs + merged["compressors"]],
    }
