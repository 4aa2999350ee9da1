"""The metadata of a new array, from the arguments of ``create_array``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from zarr_core.config import config
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import (
    CodecChainError,
    MetadataValidationError,
    ValidationProblem,
    ZarrError,
)
from zarr_core.interfaces.chunk_grid import ChunkGrid
from zarr_core.interfaces.codec import ArrayRepresentation
from zarr_core.location import Location
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.attributes import check_attributes
from zarr_core.normalize.chunk_shapes import chunk_and_shard_shape
from zarr_core.normalize.codecs import (
    SHARDING,
    TRANSPOSE,
    VARIABLE_GRID,
    is_auto,
    is_compressor,
    parse_codec_chain,
    parse_codecs,
    sharded,
)
from zarr_core.normalize.data_types import parse_data_type
from zarr_core.normalize.definitions import parse_chunk_key_encoding, parse_definition
from zarr_core.optional import check_names, optional_function
from zarr_core.registry.overrides import override_extensions
from zarr_core.registry.resolve import create_extension
from zarr_core.selection.parse import as_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from zarr_core.definition import JSON
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.format import Format
    from zarr_core.normalize.chunk_shapes import Lengths

NEW_ARRAY, NEW_GROUP = Location("new array"), Location("new group")
"""The location in errors."""


DEFAULTS: Mapping[str, Any] = {
    "shape": None,
    "dtype": None,
    "chunks": "auto",
    "shards": None,
    "order": "C",
    "filters": "auto",
    "serializer": "auto",
    "compressors": "auto",
    "fill_value": ...,
    "attributes": None,
    "chunk_key_encoding": None,
    "dimension_names": None,
}
"""The arguments of ``create_array`` that describe an array, except ``data``; their defaults."""


def array_metadata(
    format_: Format,
    arguments: Mapping[str, Any],
    metadata: Any = None,
    data_dtype: Any = None,
) -> ArrayMetadata:
    """The metadata of a new array, as its format stores it.

    ``metadata`` is a part of a ``zarr.json``, combined with the arguments; ``data_dtype`` is used
    if neither has a data type.
    """
    check_names(arguments, DEFAULTS)
    if metadata is not None:
        complete: Callable[..., ArrayMetadata] = optional_function("metadata=")
        return complete(metadata, format_, arguments, data_dtype)
    complete_arguments = {**DEFAULTS, **arguments}
    if complete_arguments["dtype"] is None:
        complete_arguments["dtype"] = data_dtype
    return format_.to_format(new_array_metadata(format_, complete_arguments), NEW_ARRAY)


def check_array(
    stored: StoredArray, metadata: Any, arguments: Mapping[str, Any], *, casts: bool = False
) -> None:
    """Raise a MetadataMismatchError if an existing array is not as described.

    Parameters as for :func:`zarr_transfer.constraints.check_array`, which compares all arrays but
    those that the same arguments would create, or that have the same shape and data type if nothing
    else is given.
    """
    if metadata is None:
        with override_extensions(stored.extensions):
            if _is_described(stored, arguments):
                return
    compare = optional_function("comparing an array with arguments (match=True)")
    compare(stored, metadata, arguments, casts=casts)


def _is_described(stored: StoredArray, arguments: Mapping[str, Any]) -> bool:
    metadata, format_ = stored.metadata, stored.format
    if arguments.keys() <= {"shape", "dtype"}:
        shape, dtype = arguments.get("shape"), arguments.get("dtype")
        if dtype is not None:
            data_type, byte_order = parse_data_type(dtype)
            if byte_order is not None or data_type.to_definition() != metadata.data_type:
                return False
        return shape is None or parse_shape(shape) == metadata.shape
    if arguments.get("data") is not None:  # which implies a shape and a data type
        return False
    described = {**DEFAULTS, **arguments}
    if described["shape"] is None:
        described["shape"] = metadata.shape
    try:
        new = format_.to_format(new_array_metadata(format_, described), NEW_ARRAY)
    except (TypeError, ValueError, ZarrError):  # the comparison says what is wrong
        return False
    attributes = metadata.attributes
    return new.replace(attributes={**attributes, **new.attributes}) == metadata


def new_array_metadata(
    format_: Format,
    arguments: Mapping[str, Any],
    additional_fields: dict[str, JSON] | None = None,
) -> ArrayMetadata:
    """Return version 3 metadata of a new array, in which every default of a format is explicit."""
    shape, chunks = parse_shape(arguments["shape"]), arguments["chunks"]
    dtype, fill_value = arguments["dtype"], arguments["fill_value"]
    data_type, byte_order = parse_data_type("float64" if dtype is None else dtype)
    codecs = parse_codec_chain(
        add_transpose(arguments["order"], arguments["filters"], len(shape)),
        arguments["serializer"],
        _compressors(format_, arguments),
        byte_order,
        data_type,
    )
    shards, index_location = _parse_shards(arguments["shards"])
    if isinstance(chunks, dict | ExtensionDefinition | ChunkGrid):
        if shards is not None:
            raise ValueError(
                "shards cannot be combined with a chunk grid; "
                f"pass the codec {SHARDING.name!r} as the serializer instead"
            )
        if isinstance(chunks, dict) and "name" not in chunks:
            raise ValueError(
                f"chunks={chunks!r} does not name a chunk grid; pass the lengths of chunks as a "
                "tuple in the order of the dimensions, such as chunks=(100, 100)"
            )
        grid = parse_definition(chunks, "chunk grid")
    else:
        item_size = data_type.item_size or 16
        chunk, shard = chunk_and_shard_shape(shape, item_size, chunks, shards)
        if shard is not None:
            codecs = sharded(chunk, codecs, index_location)
        grid = grid_of(chunk if shard is None else shard)
    with fill_value_errors(NEW_ARRAY, fill_value):
        is_default = fill_value is None or fill_value is ...
        fill = data_type.default_fill_value() if is_default else data_type.cast(fill_value)
    document: dict[str, JSON] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": data_type.to_definition().to_json(),
        "chunk_grid": grid.to_json(),
        "chunk_key_encoding": None,
        "fill_value": data_type.fill_value_to_json(fill),
        "codecs": [
            definition.to_json()
            for definition in _with_defaults(codecs, grid, shape, data_type, fill)
        ],
        **other_members(arguments, format_),
    }
    metadata = ArrayMetadata.from_json(document, NEW_ARRAY)
    if fill_value is None and format_.undefined_fill_values:
        metadata = metadata.replace(fill_value_undefined=True)
    return metadata.replace(additional_fields=additional_fields) if additional_fields else metadata


@contextmanager
def fill_value_errors(location: Location | str, value: Any = None) -> Iterator[None]:
    """Raise errors about a fill value, also that it is masked, as a MetadataValidationError."""
    try:
        if getattr(value, "mask", False):
            raise ValueError("a masked element has no value; pass a number or another value")
        yield
    except (ValueError, TypeError, OverflowError) as error:
        problem = ValidationProblem("/fill_value", str(error))
        raise MetadataValidationError(location, [problem]) from error


def _compressors(format_: Format, arguments: Mapping[str, Any]) -> Any:
    """The compressors of a new array; by default none if a filter compresses, or those of the format."""
    compressors, filters = arguments["compressors"], arguments["filters"]
    if not is_auto(compressors):
        return compressors
    if not is_auto(filters) and any(map(is_compressor, parse_codecs(filters))):
        return None
    default = config.settings.default_compressors
    return default if format_.compressors is None or not is_auto(default) else format_.compressors


def other_members(arguments: Mapping[str, Any], format_: Format) -> dict[str, JSON]:
    """The members of a document that depend neither on the shape nor on the data type."""
    encoding = parse_chunk_key_encoding(arguments.get("chunk_key_encoding"), format_, NEW_ARRAY)
    members: dict[str, JSON] = {
        "chunk_key_encoding": encoding.to_json(),
        "attributes": check_attributes(arguments.get("attributes") or {}, NEW_ARRAY),
    }
    if (names := arguments.get("dimension_names")) is not None:
        members["dimension_names"] = [names] if isinstance(names, str) else list(names)
    if transformers := arguments.get("storage_transformers"):
        members["storage_transformers"] = transformers
    return members


def _with_defaults(
    codecs: list[ExtensionDefinition],
    grid: ExtensionDefinition,
    shape: tuple[int, ...],
    data_type: DataType,
    fill_value: np.ndarray[Any, Any],
) -> tuple[ExtensionDefinition, ...]:
    """The codecs with every default explicit."""
    chunk_grid = create_extension("chunk_grid", grid, NEW_ARRAY.at("/chunk_grid"))
    try:
        axes = chunk_grid.axes(shape)
    except ValueError as error:
        raise MetadataValidationError(
            NEW_ARRAY, [ValidationProblem("/chunk_grid", str(error))]
        ) from error
    chunk = chunk_grid.chunk_shape(axes, (0,) * len(axes))
    chain = CodecChain.of(*codecs, location=NEW_ARRAY.at("/codecs"))
    return chain.complete(ArrayRepresentation(chunk, data_type, fill_value)).definitions


def grid_of(lengths: Lengths) -> ExtensionDefinition:
    """A regular grid, or one with chunks of different lengths."""
    shape: list[JSON] = [list(item) if isinstance(item, tuple) else item for item in lengths]
    if not any(isinstance(item, list) for item in shape):
        return ExtensionDefinition("regular", {"chunk_shape": shape})
    configuration = {**VARIABLE_GRID.configuration, "chunk_shapes": shape}
    grid = ExtensionDefinition(VARIABLE_GRID.name, configuration)
    complete: ExtensionDefinition = create_extension(
        "chunk_grid", grid, NEW_ARRAY.at("/chunk_grid")
    ).to_definition()
    return complete


def _parse_shards(shards: Any) -> tuple[Any, str]:
    """Shape of the shards and location of their index."""
    if not isinstance(shards, dict):
        return shards, "end"
    if "shape" not in shards or shards.keys() - {"shape", "index_location"}:
        raise ValueError(
            f"shards={shards!r} needs a shape, and may have an index_location; or pass the lengths "
            "of shards as a tuple in the order of the dimensions, such as shards=(400, 400)"
        )
    return shards["shape"], shards.get("index_location", "end")


def add_transpose(order: Any, filters: Any, ndim: int) -> Any:
    """The filters, after a transpose codec for an order of dimensions."""
    permutation = parse_order(order, ndim)
    is_default = isinstance(order, str) and permutation == [*range(ndim)]
    if is_default:  # another transpose is permitted
        return filters
    definitions = [] if is_auto(filters) else parse_codecs(filters)
    if any(definition.name == TRANSPOSE.name for definition in definitions):
        raise CodecChainError(
            f"{NEW_ARRAY.at('/codecs')}: order={order!r} adds a {TRANSPOSE.name} codec, but filters "
            "already contains one; remove one of them"
        )
    if permutation == [*range(ndim)]:
        return filters
    dimensions: list[JSON] = [*permutation]
    return [ExtensionDefinition(TRANSPOSE.name, {"order": dimensions}), *definitions]


def parse_order(order: Any, ndim: int) -> list[int]:
    """The dimensions in the order in which a chunk stores them; a ValueError for an invalid order."""
    if isinstance(order, str) and order in ("C", "F"):
        return [*range(ndim)] if order == "C" else [*reversed(range(ndim))]
    try:
        items = [as_integer(item) for item in order]
        if sorted(items) == [*range(ndim)]:
            return items
    except TypeError:
        pass
    raise ValueError(
        f'order must be "C", "F" or a permutation of the {ndim} dimensions {(*range(ndim),)}, not '
        f"{order!r}"
    )


def parse_shape(shape: int | Sequence[int] | None) -> tuple[int, ...]:
    """A shape as a tuple of integers."""
    if shape is None:
        raise TypeError("a new array requires shape or data")
    items: Any = shape if hasattr(shape, "__iter__") else (shape,)
    try:
        return tuple(as_integer(length) for length in items)
    except TypeError:
        raise TypeError(
            f"shape must be an integer or a sequence of integers, not {shape!r}"
        ) from None
