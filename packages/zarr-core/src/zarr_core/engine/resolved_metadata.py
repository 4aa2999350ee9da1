"""Array metadata with the code for the extensions that they name.

The result depends only on the shape, the extensions and the fill value, so arrays share it if these
are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from zarr_core.cache import Cache
from zarr_core.engine.chain import CodecChain
from zarr_core.errors import (
    CodecChainError,
    MetadataValidationError,
    ValidationProblem,
    ZarrError,
    is_ordinary_error,
    reason,
)
from zarr_core.interfaces.chunk_grid import ChunkAxis
from zarr_core.interfaces.codec import ArrayRepresentation
from zarr_core.location import Location
from zarr_core.messages import log
from zarr_core.registry.overrides import cache_key
from zarr_core.registry.resolve import create_data_type, create_extension

if TYPE_CHECKING:
    from collections.abc import Hashable

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.interfaces.chunk_grid import ChunkGrid
    from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.storage_transformer import StorageTransformer
    from zarr_core.metadata.array import ArrayMetadata


_MAX_SHAPES = 256  # shapes of chunks for which prepared codecs are kept
_MAX_CHECKED = 1000  # lengths along a dimension that are checked beforehand


# Whether chunks that contain only the fill value are stored.  False also stores them if the fill
# value is undefined; "never" does not.
WriteEmptyChunks: TypeAlias = 'bool | Literal["never"]'


@dataclass(eq=False)
class ResolvedMetadata:
    """Everything that the engine needs to know about an array.

    Storage transformers that are equivalent to codecs are part of the grid and the chain.
    ``ignored`` has unknown extensions with must_understand false, and a data type that was replaced
    by a fallback.  ``codecs`` are those of the first chunk, of all if chunks have one shape.
    """

    data_type: DataType
    fill_value: np.ndarray[Any, Any]
    grid: ChunkGrid
    axes: tuple[ChunkAxis, ...]
    key_encoding: ChunkKeyEncoding
    chain: CodecChain
    transformers: tuple[StorageTransformer, ...]
    ignored: tuple[ExtensionDefinition, ...]
    write_empty_chunks: WriteEmptyChunks  # the setting of the array
    stores_fill_value: bool  # by that setting and the metadata
    fill_value_assumed: bool  # it is null, which the data type does not permit
    _prepared: Cache[tuple[int, ...], PreparedCodecChain] = field(
        default_factory=lambda: Cache(_MAX_SHAPES)
    )

    def __post_init__(self) -> None:
        self.dtype = self.data_type.numpy_dtype
        self.affixes = self.key_encoding.affixes(len(self.axes))
        lengths = tuple(axis.uniform for axis in self.axes if axis.uniform is not None)
        self.is_uniform = len(lengths) == len(self.axes)
        if not self.is_uniform:
            lengths = self.grid.chunk_shape(self.axes, (0,) * len(self.axes))
        self.codecs = self._prepare(lengths)
        self.order = self.codecs.order

    def resized(self, shape: tuple[int, ...], location: Location) -> ResolvedMetadata:
        """The same extensions for an array of another shape, without storage transformers."""
        problems: list[ValidationProblem] = []
        axes = _axes(self.grid, self.key_encoding, shape, location, problems)
        if problems:
            raise MetadataValidationError(location, problems)
        return replace(self, axes=axes)

    def codecs_for(self, chunk_coords: tuple[int, ...]) -> PreparedCodecChain:
        """The codecs of one chunk."""
        if self.is_uniform:
            return self.codecs
        return self._prepare(self.grid.chunk_shape(self.axes, chunk_coords))

    def check_lengths(self, location: Location) -> None:
        """Raise a CodecChainError if the codecs do not support the length of a chunk."""
        if self.is_uniform:
            return
        shape = self.grid.chunk_shape(self.axes, (0,) * len(self.axes))
        for dimension, axis in enumerate(self.axes):
            lengths = sorted({length for length, _ in axis.runs()})
            for length in islice(lengths, _MAX_CHECKED):
                try:
                    self._prepare((*shape[:dimension], length, *shape[dimension + 1 :]))
                except CodecChainError as error:
                    raise CodecChainError(f"{location.at('/codecs')}: {error}") from error

    def _prepare(self, shape: tuple[int, ...]) -> PreparedCodecChain:
        codecs = self._prepared.get(shape)
        if codecs is None:
            decoded = ArrayRepresentation(
                shape, self.data_type, self.fill_value, self.stores_fill_value
            )
            codecs = self._prepared.put(shape, self.chain.prepare(decoded))
        return codecs


# Limited by the bytes of the keys, which can have a million chunk lengths, and _SIZE for the rest.
_resolved: Cache[Hashable, ResolvedMetadata] = Cache(1 << 22)
_SIZE = 1 << 12


def resolve_cached(
    metadata: ArrayMetadata, store: object, path: str, write_empty_chunks: WriteEmptyChunks = False
) -> ResolvedMetadata:
    """As :func:`resolve_metadata`, with a cache; store and path are for messages.

    A result is reused for equal metadata as long as names refer to the same code.
    """
    content = metadata.extensions_key
    if not content:  # the metadata have no key
        return resolve_metadata(metadata, Location(store, path), write_empty_chunks)
    key = (content, metadata.shape, write_empty_chunks, cache_key())
    resolved = _resolved.get(key)
    if resolved is None:
        resolved = resolve_metadata(metadata, Location(store, path), write_empty_chunks)
        _resolved.put(key, resolved, _SIZE + len(content))
    elif metadata.data_type_fallbacks:  # the warning about a fallback names each array
        location = Location(store, path).at("/data_type")
        create_data_type(metadata.data_type, metadata.data_type_fallbacks, location)
    return resolved


def resolve_metadata(
    metadata: ArrayMetadata, location: Location, write_empty_chunks: WriteEmptyChunks = False
) -> ResolvedMetadata:
    """Find the code for every extension that valid metadata name."""
    # An extension that refuses its part of the metadata is a problem; all of them are raised
    # together.  Names that are unknown, without code or not allowed to be ignored raise at once.
    problems: list[ValidationProblem] = []
    ignored: list[ExtensionDefinition] = []
    if metadata.data_type_fallbacks:
        data_type, fallback = create_data_type(
            metadata.data_type, metadata.data_type_fallbacks, location.at("/data_type")
        )
        ignored += [] if fallback is None else [metadata.data_type]
    else:
        data_type = create_extension("data_type", metadata.data_type, location.at("/data_type"))
    key_encoding = create_extension(
        "chunk_key_encoding", metadata.chunk_key_encoding, location.at("/chunk_key_encoding")
    )
    chain = CodecChain.from_definitions(metadata.codecs, location.at("/codecs"))
    with _ProblemCollector(location, "/data_type", problems):
        if not isinstance(data_type.numpy_dtype, np.dtype):
            raise TypeError(f"numpy_dtype returned {data_type.numpy_dtype!r}, not a dtype")
    fill_value, assumed = np.empty(()), False
    with _ProblemCollector(location, "/fill_value", problems):
        fill_value, assumed = _fill_value(metadata, data_type, chain, bool(ignored))
    grid = create_extension("chunk_grid", metadata.chunk_grid, location.at("/chunk_grid"))
    axes = _axes(grid, key_encoding, metadata.shape, location, problems)
    transformers: list[StorageTransformer] = []
    for number, definition in enumerate(metadata.storage_transformers):
        if problems:
            break
        pointer = f"/storage_transformers/{number}"
        transformer = create_extension("storage_transformer", definition, location.at(pointer))
        if transformer is None:
            ignored.append(definition)
            continue
        with _ProblemCollector(location, pointer, problems):
            transformer.check(metadata.shape)
        transformers.append(transformer)
    if problems:
        raise MetadataValidationError(location, problems)
    if not ignored:
        # The first transformers may be equivalent to codecs, which then replace them.
        equivalent = metadata
        while transformers and (by_codecs := transformers[0].as_codecs(equivalent)) is not None:
            equivalent, transformers = by_codecs, transformers[1:]
        if equivalent is not metadata:
            of_transformers = location.at("/storage_transformers")
            grid = create_extension("chunk_grid", equivalent.chunk_grid, of_transformers)
            axes = grid.axes(equivalent.shape)
            chain = CodecChain.from_definitions(equivalent.codecs, of_transformers)
    if metadata.chunk_memory_layout is not None:
        layout = create_extension(
            "chunk_memory_layout", metadata.chunk_memory_layout, location.at("/chunk_memory_layout")
        )
        chain = chain.prepend(metadata.chunk_memory_layout, layout.codec(len(metadata.shape)))
    ignored += chain.ignored
    for definition in ignored:
        log("extensions", "%s: unknown extension %r is ignored", location, definition.name)
    try:
        return ResolvedMetadata(
            data_type,
            fill_value,
            grid,
            axes,
            key_encoding,
            chain,
            tuple(transformers),
            tuple(ignored),
            write_empty_chunks,
            # If the fill value is undefined, other readers may show any value for a missing chunk.
            write_empty_chunks is True
            or (metadata.fill_value_undefined and write_empty_chunks != "never")
            or assumed,
            assumed,
        )
    except CodecChainError as error:
        raise CodecChainError(f"{location.at('/codecs')}: {error}") from error


def _axes(
    grid: ChunkGrid,
    key_encoding: ChunkKeyEncoding,
    shape: tuple[int, ...],
    location: Location,
    problems: list[ValidationProblem],
) -> tuple[ChunkAxis, ...]:
    """The chunks along each dimension; adds problems of the grid and the keys."""
    axes: tuple[ChunkAxis, ...] = ()
    with _ProblemCollector(location, "/chunk_grid", problems):
        axes = grid.axes(shape)
        if not isinstance(axes, tuple) or not all(isinstance(axis, ChunkAxis) for axis in axes):
            raise TypeError(f"axes returned {axes!r}, not a tuple of ChunkAxis")
    if len(axes) == len(shape):
        with _ProblemCollector(location, "/chunk_key_encoding", problems):
            key_encoding.check(tuple(axis.count for axis in axes))
            key_encoding.affixes(len(axes))
    return axes


class _ProblemCollector:
    """Collects ValueErrors of an extension as problems of the metadata; raises other errors."""

    # Not contextlib.contextmanager, which is slower: used several times for each array that is
    # opened.
    __slots__ = ("_location", "_pointer", "_problems")

    def __init__(self, location: Location, pointer: str, problems: list[ValidationProblem]) -> None:
        self._location, self._pointer, self._problems = location, pointer, problems

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, ValueError):
            self._problems.append(ValidationProblem(self._pointer, str(error)))
            return True
        if error is None or isinstance(error, ZarrError) or not is_ordinary_error(error):
            return False
        problem = ValidationProblem(self._pointer, reason(error))
        raise MetadataValidationError(self._location, [problem]) from error


def _fill_value(
    metadata: ArrayMetadata, data_type: DataType, chain: CodecChain, is_fallback: bool
) -> tuple[np.ndarray[Any, Any], bool]:
    """The fill value, and whether it is null in the metadata.

    The fill value of an unknown data type may be invalid for its fallback.  zarrita.js stores
    null for "not specified", which version 3 does not permit; readers show zeros.
    """
    assumed = False
    try:
        value = data_type.fill_value_as_stored(metadata.fill_value, chain.byte_order)
    except ValueError:
        assumed = metadata.fill_value is None and not is_fallback
        if not is_fallback and not assumed:
            raise
        value = data_type.default_fill_value()
    if not isinstance(value, np.ndarray) or value.shape or value.dtype != data_type.numpy_dtype:
        raise TypeError(
            f"the data type must return the fill value as an array of shape () and dtype "
            f"{data_type.numpy_dtype}, not {value!r}"
        )
    return value, assumed
