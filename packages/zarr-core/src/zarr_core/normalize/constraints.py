"""The arguments of ``create_array`` as constraints, beside or instead of partial metadata.

For a new array, arguments and partial metadata are merged.  For an existing array, arguments become
partial metadata, with which it is compared.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy import can_cast

from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.inner_order import inner_order
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.errors import MetadataError, MetadataMismatchError, MetadataValidationError
from zarr_core.interfaces.chunk_grid import ChunkGrid
from zarr_core.metadata.validation_problem import ValidationProblem, first_token, problem_lines
from zarr_core.normalize.array_metadata import (
    DEFAULTS,
    NEW_ARRAY,
    add_transpose,
    check_names,
    grid_of,
    new_array_metadata,
    parse_order,
    parse_shape,
)
from zarr_core.normalize.attributes import check_attributes
from zarr_core.normalize.chunk_shapes import AUTO, chunk_and_shard_shape, parse_lengths
from zarr_core.normalize.codec_stages import inner_codecs, stages
from zarr_core.normalize.codecs import SHARDING, TRANSPOSE, is_auto, parse_codec, parse_codecs
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.normalize.definitions import parse_chunk_key_encoding, parse_definition
from zarr_core.normalize.partial_metadata import PartialArrayMetadata, as_partial, differences
from zarr_core.printable import shorten
from zarr_core.registry.scope import cache_key, override_extensions

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from zarr_core.definition import JSON
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.format import Format
    from zarr_core.metadata.array import ArrayMetadata
    from zarr_core.normalize.chunk_shapes import Lengths

_CODEC_ARGUMENTS = ("filters", "serializer", "compressors", "order", "chunks", "shards", "dtype")
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


# --- new arrays ---


def complete_metadata(
    metadata: PartialArrayMetadata, format_: Format, arguments: Mapping[str, Any]
) -> ArrayMetadata:
    """Return the metadata of a new array, given by partial metadata and by arguments.

    Raises
    ------
    TypeError
        If an argument is unknown or contradicts the metadata, or there is no shape.
    MetadataValidationError, ExtensionError, CodecChainError
        As for :func:`zarr_core.create_array`.
    """
    check_names(arguments)
    merged = merge_arguments(metadata, {**DEFAULTS, **arguments})
    made = new_array_metadata(format_, merged, metadata.additional_fields)
    refuse_contradictions(metadata, arguments, made)
    return format_.to_format(made, NEW_ARRAY)


def merge_arguments(metadata: PartialArrayMetadata, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return all arguments of a new array: those that are given, else those that metadata give.

    :func:`refuse_contradictions` finds arguments that contradict the metadata.
    """
    merged = dict(arguments)

    def fill(name: str, value: Any) -> None:
        if value is not None and _is_default(name, merged[name]):
            merged[name] = value

    if metadata.shape is not None and None not in metadata.shape:
        fill("shape", metadata.shape)
    if merged["shape"] is None:
        raise TypeError("a new array requires shape or data")
    merged["shape"] = parse_shape(merged["shape"])
    fill("dtype", metadata.data_type)
    fill("chunk_key_encoding", metadata.chunk_key_encoding)
    if metadata.dimension_names is not None and any(
        name is not None for name in metadata.dimension_names
    ):
        fill("dimension_names", metadata.dimension_names)
    fill("storage_transformers", metadata.storage_transformers)
    if metadata.attributes:
        given = check_attributes(merged["attributes"] or {}, NEW_ARRAY)
        merged["attributes"] = {**metadata.attributes, **given}
    if merged["fill_value"] is ... and metadata.fill_value is not ...:
        merged["fill_value"] = _fill_value(metadata.fill_value, merged["dtype"])
    _merge_codecs(metadata, merged)
    return merged


def _is_default(name: str, value: Any) -> bool:
    default = DEFAULTS[name]
    return value is default or (isinstance(value, str | tuple) and value == default)


def _fill_value(value: JSON, dtype: Any) -> Any:
    """The fill value of a document as an argument."""
    if value is None:
        return None
    data_type, byte_order = parse_data_type("float64" if dtype is None else dtype)
    try:
        return data_type.fill_value_as_stored(value, byte_order)
    except (ValueError, TypeError, OverflowError) as error:
        problem = ValidationProblem("/fill_value", str(error))
        raise MetadataValidationError("metadata", [problem]) from error


def _merge_codecs(metadata: PartialArrayMetadata, merged: dict[str, Any]) -> None:
    """Set the arguments for codecs, chunks and shards."""
    grid = (
        metadata.chunk_grid if metadata.chunk_grid and metadata.chunk_grid.configuration else None
    )
    found = None if metadata.codecs is None else stages(metadata.codecs)
    serializer = found.array_to_bytes[0][1] if found and found.array_to_bytes else None
    if found is None or serializer is None or serializer.name != SHARDING.name:
        if found is not None:
            lists = [[item for _, item in items] for items in found]
            _merge_chain(merged, lists[0], serializer, lists[2])
        if grid is not None and merged["shards"] is None and is_auto(merged["chunks"]):
            merged["chunks"] = grid
        return
    # Chunks and codecs that are given as arguments are those of the inner chunks.
    configuration = dict(serializer.configuration)
    chain = {name: merged[name] for name in ("order", "filters", "serializer", "compressors")}
    inner = stages(inner_codecs(serializer, "codecs") or ())
    lists = [[item for _, item in items] for items in inner]
    _merge_chain(chain, lists[0], lists[1][0] if lists[1] else None, lists[2])
    filters = add_transpose(chain["order"], chain["filters"], len(merged["shape"]))
    parts = [*([] if is_auto(filters) else parse_codecs(filters))]
    if not is_auto(chain["serializer"]) and chain["serializer"] is not None:
        parts.append(parse_codec(chain["serializer"]))
    if not is_auto(chain["compressors"]):
        parts += parse_codecs(chain["compressors"])
    if parts or "codecs" in configuration:
        configuration["codecs"] = [definition.to_json() for definition in parts]
    chunks = _merge_lengths(merged, configuration, grid)
    merged.update(
        chunks=chunks,
        shards=None,
        order="C",
        filters=[item for _, item in found.array_to_array],
        serializer=ExtensionDefinition(serializer.name, configuration),
        compressors=[item for _, item in found.bytes_to_bytes],
    )


def _merge_lengths(
    merged: dict[str, Any], configuration: dict[str, Any], grid: ExtensionDefinition | None
) -> Any:
    """Set the shape of inner chunks; return the argument ``chunks`` for the shards."""
    shape, chunks, shards = merged["shape"], merged["chunks"], merged["shards"]
    if isinstance(chunks, dict | ExtensionDefinition | ChunkGrid):
        return chunks
    item_size = parse_data_type(merged["dtype"] or "float64")[0].item_size or 16
    if isinstance(shards, dict):
        configuration.setdefault("index_location", shards.get("index_location", "end"))
        shards = shards.get("shape", "auto")
    if is_auto(chunks):
        chunks = configuration.get("chunk_shape", "auto")
    if shards is None and grid is not None:
        if not is_auto(chunks):
            configuration["chunk_shape"] = [*chunk_and_shard_shape(shape, item_size, chunks)[0]]
        return grid
    if is_auto(chunks):  # the inner chunk is the shard
        whole = "auto" if shards is None else shards
        return grid_of(chunk_and_shard_shape(shape, item_size, whole)[0])
    chunk, shard = chunk_and_shard_shape(
        shape, item_size, chunks, "auto" if shards is None else shards
    )
    configuration["chunk_shape"] = [*chunk]
    return grid_of(shard or chunk)


def _merge_chain(
    arguments: dict[str, Any],
    filters: list[ExtensionDefinition],
    serializer: ExtensionDefinition | None,
    compressors: list[ExtensionDefinition],
) -> None:
    """Set the codecs of one chain; arguments take precedence."""
    for name, codecs in (("filters", filters), ("compressors", compressors)):
        given = arguments[name]
        arguments[name] = codecs if is_auto(given) else _merge_lists(parse_codecs(given), codecs)
    if serializer is not None:
        given = arguments["serializer"]
        unset = given is None or is_auto(given)
        first = [serializer] if unset else [parse_codec(given)]
        (arguments["serializer"],) = _merge_lists(first, [serializer])


def _merge_lists(
    given: Sequence[ExtensionDefinition], codecs: Sequence[ExtensionDefinition]
) -> list[ExtensionDefinition]:
    """The given codecs, with members of the configurations of equal codecs."""
    if [item.name for item in given] != [item.name for item in codecs]:
        return [*given]
    return [
        ExtensionDefinition(one.name, {**other.configuration, **one.configuration})
        for one, other in zip(given, codecs, strict=True)
    ]


def refuse_contradictions(
    metadata: PartialArrayMetadata, arguments: Mapping[str, Any], made: ArrayMetadata
) -> None:
    """Raise a TypeError if the metadata of a new array are not those that were given.

    It names every contradiction, with the arguments that cause it.
    """
    problems = []
    for problem in differences(made, metadata):
        causes = ", ".join(
            f"{name}={shorten(repr(arguments[name]), 100)}"
            for name in _ARGUMENTS.get(first_token(problem.pointer), ())
            if name in arguments and not _is_default(name, arguments[name])
        )
        cause = f" as in metadata; see {causes}" if causes else " as in metadata"
        problems.append(ValidationProblem(problem.pointer, problem.message + cause))
    if problems:
        lines = "\n  ".join(problem_lines(problems))
        raise TypeError(
            f"{NEW_ARRAY}: the arguments and metadata contradict each other:\n  {lines}"
        )


# --- existing arrays ---


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
    problems = [] if metadata is None else differences(stored.metadata, as_partial(metadata))
    if arguments:
        with override_extensions(stored.extensions):
            if casts and arguments.get("dtype") is not None:
                dtype = parse_data_type(arguments["dtype"])[0].numpy_dtype
                if can_cast(dtype, stored.resolved.dtype):
                    arguments = {**arguments, "dtype": None}
            expected = _cached_expectation(arguments, stored.metadata, stored.format)
            if arguments.get("dimension_units") is not None:
                expected = _expecting_units(expected, stored.metadata.attributes)
            problems += differences(stored.metadata, expected)
    if problems:
        raise MetadataMismatchError(stored.location, dict.fromkeys(problems))


def _expecting_units(
    expected: PartialArrayMetadata, stored: Mapping[str, JSON]
) -> PartialArrayMetadata:
    """Compare units by their meaning; an array without units agrees with any.

    Not cached, because it depends on the attributes.
    """
    from zarr_core.normalize.dimension_units import ATTRIBUTE, expected_units  # rarely used

    attributes = dict(expected.attributes)
    units: Any = attributes.pop(ATTRIBUTE)
    if ATTRIBUTE in stored:
        attributes[ATTRIBUTE] = expected_units(units, stored[ATTRIBUTE])
    return replace(expected, attributes=attributes)


# Arguments as partial metadata, by their content; limited by the bytes of the keys.
_expectations: Cache[Hashable, PartialArrayMetadata] = Cache(1 << 20, largest=1 << 14)


def _cached_expectation(
    arguments: Mapping[str, Any], metadata: ArrayMetadata, format_: Format
) -> PartialArrayMetadata:
    try:
        key = pickle.dumps([*arguments.items()], 4)
    except Exception:  # contains objects that cannot be pickled
        return expected_metadata(arguments, metadata, format_)
    content = metadata.extensions_key
    by = (key, content, metadata.shape, format_.name, cache_key())
    found = _expectations.get(by) if content else None
    if found is None:
        found = expected_metadata(arguments, metadata, format_)
        if content:
            _expectations.keep(by, found, len(key) + len(content))
    return found


def expected_metadata(
    arguments: Mapping[str, Any], metadata: ArrayMetadata, format_: Format
) -> PartialArrayMetadata:
    """Return the arguments of ``create_array`` as partial metadata of an existing array.

    Members that the arguments do not determine, such as filters if only compressors are given, are
    those of the array.  ``"auto"`` determines nothing, and neither does None, except no filters or
    compressors.

    Raises
    ------
    TypeError, ValueError, ExtensionError
        If an argument is not valid for any array.
    """
    given = {
        name: value
        for name, value in arguments.items()
        if name in DEFAULTS and (value is not None or name in ("filters", "compressors"))
    }
    members: dict[str, Any] = {}
    shape = metadata.shape
    if "shape" in given:
        shape = members["shape"] = parse_shape(given["shape"])
    data_type: DataType = resolve_cached(metadata, "array metadata", "").data_type
    byte_order = None
    if "dtype" in given:
        stored, (data_type, byte_order) = data_type, parse_data_type(given["dtype"])
        # The codecs of version 2 determine which objects are stored.
        if data_type.numpy_dtype.kind != "O" or stored.numpy_dtype.kind not in "OT":
            members["data_type"] = data_type.to_definition()
    if given.get("fill_value", ...) is not ...:
        members["fill_value"] = _fill_value_json(given["fill_value"], data_type, "dtype" in given)
    attributes = given.get("attributes", {})
    if "dimension_units" in given:
        from zarr_core.normalize.dimension_units import with_units  # rarely used

        attributes = with_units(attributes, given["dimension_units"], len(shape))
    members["attributes"] = check_attributes(attributes, NEW_ARRAY)
    if "dimension_names" in given:
        names = given["dimension_names"]
        members["dimension_names"] = (names,) if isinstance(names, str) else tuple(names)
    if "chunk_key_encoding" in given:
        encoding = parse_chunk_key_encoding(given["chunk_key_encoding"], format_, NEW_ARRAY)
        with suppress(MetadataError):  # the format may have another one for it
            changed = metadata.replace(chunk_key_encoding=encoding)
            encoding = format_.to_format(changed, NEW_ARRAY).chunk_key_encoding
        members["chunk_key_encoding"] = encoding
    if transformers := given.get("storage_transformers"):
        is_single = isinstance(transformers, str | dict | ExtensionDefinition)
        members["storage_transformers"] = tuple(
            parse_definition(item, "storage transformer")
            for item in ([transformers] if is_single else transformers)
        )
    members.update(_expected_codecs(given, metadata, format_, shape, byte_order))
    return PartialArrayMetadata(**members)


def _fill_value_json(value: Any, data_type: DataType, is_given: bool) -> JSON:
    """The JSON form of a fill value; for a stored data type that cannot have it, as a float64."""
    try:
        return data_type.fill_value_to_json(data_type.cast(value))
    except (ValueError, TypeError, OverflowError) as error:
        if not is_given:
            with suppress(ValueError, TypeError, OverflowError):
                number = parse_data_type("float64")[0]
                return number.fill_value_to_json(number.cast(value))
        problem = ValidationProblem("/fill_value", str(error))
        raise MetadataValidationError("fill_value", [problem]) from error


def _expected_codecs(
    given: dict[str, Any],
    metadata: ArrayMetadata,
    format_: Format,
    shape: tuple[int, ...],
    byte_order: str | None,
) -> dict[str, Any]:
    """The chunk grid and the codecs that arguments determine."""
    outer = stages(metadata.codecs)
    serializer = outer.array_to_bytes[0][1]
    inner = inner_codecs(serializer, "codecs")
    chunks, shards = given.get("chunks", "auto"), given.get("shards", "auto")
    members: dict[str, Any] = {}
    configuration: dict[str, Any] = {}
    if isinstance(shards, dict):
        configuration.update((name, shards[name]) for name in ("index_location",) if name in shards)
        shards = shards.get("shape", "auto")
    is_stored_sharded = inner is not None and "chunk_shape" in serializer.configuration
    stored = _stored_lengths(metadata)
    stored_chunk: Any = serializer.configuration["chunk_shape"] if is_stored_sharded else stored
    shard = None if shards is False else _lengths(shards, shape, stored, "shards")
    if hasattr(shards, "aspect_ratio") and not is_stored_sharded and shard == stored:
        shard = None  # a layout gives no shards of one chunk
    is_sharded = is_stored_sharded or shard is not None
    if isinstance(chunks, dict | ExtensionDefinition | ChunkGrid):
        members["chunk_grid"] = parse_definition(chunks, "chunk grid")
    else:
        chunk = _lengths(chunks, shape, stored_chunk, "chunks")
        if shard is not None:
            if any(isinstance(item, tuple) for item in shard):  # the last may be extended
                shard = chunk_and_shard_shape(shape, 1, chunk or stored_chunk, shard)[1] or shard
            members["chunk_grid"] = grid_of(shard)
        if chunk is not None and is_sharded:
            configuration["chunk_shape"] = [*chunk]
        elif chunk is not None:
            members["chunk_grid"] = grid_of(chunk)
    chain = _expected_chain(
        given, metadata.codecs if inner is None else inner, metadata, format_, byte_order
    )
    if shards is False and is_stored_sharded:
        members["codecs"] = tuple(chain or inner or ())
    elif is_sharded and (chain is not None or configuration or not is_stored_sharded):
        if chain is not None:
            configuration["codecs"] = [definition.to_json() for definition in chain]
        name = serializer.name if is_stored_sharded else SHARDING.name
        sharding = ExtensionDefinition(name, configuration)
        around = outer if is_stored_sharded else stages(())
        members["codecs"] = (
            *(item for _, item in around.array_to_array),
            sharding,
            *(item for _, item in around.bytes_to_bytes),
        )
    elif chain is not None:
        members["codecs"] = tuple(chain)
    return members


def _lengths(
    value: Any, shape: tuple[int, ...], stored: Sequence[Any], argument: str
) -> Lengths | None:
    """The lengths that an argument determines, with stored ones for "auto"; None if it does not."""
    if hasattr(value, "aspect_ratio"):  # a ChunkLayout
        if value.soft:
            return None
        value = value.shape
    if value is None:
        return None
    lengths = parse_lengths(value, shape, argument)
    if all(item == AUTO for item in lengths):
        return None
    if len(stored) != len(lengths):
        stored = lengths
    return tuple(
        known if item == AUTO else item for item, known in zip(lengths, stored, strict=True)
    )


def _stored_lengths(metadata: ArrayMetadata) -> Lengths:
    """The lengths of the chunks, or shards, of an array along each dimension."""
    resolved = resolve_cached(metadata, "array metadata", "")
    return tuple(
        axis.uniform or tuple(length for length, count in axis.runs() for _ in range(count))
        for axis in resolved.axes
    )


def _expected_chain(
    given: dict[str, Any],
    codecs: Sequence[ExtensionDefinition],
    metadata: ArrayMetadata,
    format_: Format,
    byte_order: str | None,
) -> list[ExtensionDefinition] | None:
    """The codecs of a chunk, or inner chunk, that arguments determine; None if they do not."""
    lists = [[item for _, item in items] for items in stages(codecs)]
    ndim, order = metadata.ndim, given.get("order")
    stored_order = inner_order(resolve_cached(metadata, "array metadata", "").codecs)
    determined = order is not None and tuple(parse_order(order, ndim)) != stored_order
    if determined:
        lists[0] = [item for item in lists[0] if item.name != TRANSPOSE.name]
    if not is_auto(given.get("filters", "auto")):
        lists[0], determined = parse_codecs(given["filters"]), True
        if any(stages(lists[0])[1:]):  # with a serializer, as in version 2
            lists[1] = []
        if order is None and format_.filters_and_compressors(metadata) is not None:
            order = stored_order  # not one of the filters
    if determined and order is not None:
        lists[0] = parse_codecs(add_transpose(order, lists[0], ndim))
    if not is_auto(given.get("serializer", "auto")):
        lists[1], determined = [parse_codec(given["serializer"])], True
    elif byte_order is not None and [item.name for item in lists[1]] == ["bytes"]:
        lists[1], determined = [ExtensionDefinition("bytes", {"endian": byte_order})], True
    if not is_auto(given.get("compressors", "auto")):
        lists[2], determined = parse_codecs(given["compressors"]), True
        if any(stages(lists[2])[1]):  # with a serializer, as in version 2
            lists[1] = []
    return [item for items in lists for item in items] if determined else None
