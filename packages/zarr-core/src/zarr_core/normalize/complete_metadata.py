"""The metadata of a new array, from arguments of ``create_array`` and a part of a ``zarr.json``.

The array has what the arguments give, and otherwise the members of the document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.chunk_grid import ChunkGrid
from zarr_core.metadata.attributes import check_attributes
from zarr_core.metadata.validation import ARRAY_MEMBERS
from zarr_core.metadata.validation_problem import ValidationProblem, first_token, problem_lines
from zarr_core.normalize.array_metadata import (
    DEFAULTS,
    NEW_ARRAY,
    add_transpose,
    fill_value_errors,
    grid_of,
    new_array_metadata,
    parse_shape,
)
from zarr_core.normalize.chunk_shapes import AUTO, chunk_and_shard_shape, parse_lengths
from zarr_core.normalize.codecs import SHARDING, TRANSPOSE, is_auto, parse_codec, parse_codecs
from zarr_core.normalize.compare_metadata import (
    Comparison,
    definition_of,
    definitions_of,
    differences,
    inner_codecs,
    split_codecs,
)
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.optional import check_names
from zarr_core.printable import shorten
from zarr_core.registry.resolve import require_extension

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.interfaces.format import Format
    from zarr_core.metadata.array import ArrayMetadata

_CHAIN = ("order", "filters", "serializer", "compressors")
LAYOUT_ARGUMENTS = (*_CHAIN, "chunks", "shards", "dtype")
_ARGUMENTS = {
    "/shape": ("shape",),
    "/data_type": ("dtype",),
    "/chunk_grid": ("chunks", "shards"),
    "/chunk_key_encoding": ("chunk_key_encoding",),
    "/fill_value": ("fill_value",),
    "/codecs": LAYOUT_ARGUMENTS,
    "/dimension_names": ("dimension_names",),
    "/attributes": ("attributes",),
}
"""The arguments that determine a member of the metadata."""


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
        known = lengths_of(grid, document, shape)
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
    chunks = fill_lengths(given.get("chunks", AUTO), known, shape, "chunks")
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
    chunks = fill_lengths(chunks, inner, shape, "chunks")
    shards = fill_lengths(shards, known, shape, "shards")
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


def lengths_of(
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


def fill_lengths(
    value: Any, known: Sequence[Any] | None, shape: tuple[int, ...], argument: str
) -> Any:
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


def complete_metadata(
    document: Mapping[str, Any], format_: Format, arguments: Mapping[str, Any]
) -> ArrayMetadata:
    """Return the metadata of a new array, given by a part of a ``zarr.json`` and by arguments.

    Raises
    ------
    TypeError
        If an argument is unknown or contradicts the document, or if neither has a shape.
    MetadataValidationError, ExtensionError, CodecChainError
        As for :func:`zarr_core.create_array`.
    """
    check_names(arguments, DEFAULTS)
    given = {name: value for name, value in arguments.items() if not _is_default(name, value)}
    merged = {**DEFAULTS, **_members_as_arguments(document), **given}
    if merged["shape"] is None:
        raise TypeError("a new array requires shape or data")
    merged["shape"] = shape = parse_shape(merged["shape"])
    attributes = check_attributes(merged["attributes"] or {}, NEW_ARRAY)
    merged["attributes"] = {**document.get("attributes", {}), **attributes}
    data_type, byte_order = parse_data_type(merged["dtype"] or "float64")
    if "fill_value" in document and "fill_value" not in given:
        if (value := document["fill_value"]) is not None:
            with fill_value_errors("metadata"):
                value = data_type.fill_value_as_stored(value, byte_order)
        merged["fill_value"] = value
    if {"chunk_grid", "codecs"} & document.keys():
        layout = {name: given[name] for name in LAYOUT_ARGUMENTS if name in given}
        for name in LAYOUT_ARGUMENTS[:-1]:
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
    if "storage_transformers" in document:
        arguments["storage_transformers"] = document["storage_transformers"]
    for member, name in (("data_type", "dtype"), ("chunk_key_encoding", "chunk_key_encoding")):
        if member in document:
            arguments[name] = definition_of(document[member])
    return arguments


def _check_contradictions(
    document: Mapping[str, Any], given: Mapping[str, Any], made: ArrayMetadata
) -> None:
    """Raise a TypeError if the metadata of a new array are not those that were given.

    It names every contradiction, with the arguments that cause it.
    """
    # All others are those of the document; a grid or fill value that it leaves open has a default.
    compared = {
        member: value
        for member, value in document.items()
        if value is None
        or (member == "chunk_grid" and _grid_in(document) is None)
        or any(name in given for name in (*_ARGUMENTS.get(f"/{member}", ()), "dtype"))
    }
    problems = []
    for problem in differences(made, compared):
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
