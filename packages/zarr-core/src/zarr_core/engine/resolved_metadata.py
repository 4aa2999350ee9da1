"""Array metadata with the code for the extensions that they name.

It depends on the metadata alone, not on where they are stored, so arrays with equal metadata
share it: :func:`resolve_cached` keeps the last few hundred.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.engine.chain import CodecChain
from zarr_core.errors import CodecChainError, MetadataValidationError, ZarrError
from zarr_core.interfaces.chunk_grid import ChunkAxis
from zarr_core.interfaces.codec import ArrayRepresentation
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.names import located
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import (
    cache_key,
    create_data_type,
    create_extension,
    reason,
    require_extension,
)

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.engine.prepared_chain import PreparedCodecChain
    from zarr_core.interfaces.chunk_grid import ChunkGrid
    from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.storage_transformer import StorageTransformer
    from zarr_core.metadata.array import ArrayMetadata


_MAX_SHAPES = 256  # shapes of chunks for which prepared codecs are kept
_MAX_CHECKED = 1000  # lengths along a dimension that are checked beforehand
_MAX_RESOLVED = 256


@dataclass(eq=False)
class ResolvedMetadata:
    """Everything that the engine needs to know about an array.

    Parameters
    ----------
    metadata : ArrayMetadata
        The metadata.
    data_type, grid, key_encoding, chain, transformers
        The extensions.  Transformers that are equivalent to codecs are part of the grid
        and the chain.
    fill_value : ndarray, shape ()
        The fill value.
    axes : tuple of ChunkAxis
        The chunks along each dimension of the array.
    skipped : tuple of ExtensionDefinition
        Ignored extensions: unknown, with must_understand false; and a data type that was
        replaced by a fallback.
    write_empty_chunks : bool
        Whether empty chunks are stored.
    fill_value_assumed : bool
        Whether the fill value is null, which the data type does not permit; its default
        is used instead.

    Attributes
    ----------
    codecs : PreparedCodecChain
        The codecs of the first chunk; of all chunks if they have one shape.
    order : {"C", "F"}
        Memory order of its chunks.
    may_be_misread : bool
        Whether extensions are ignored or the fill value is assumed.
    """

    metadata: ArrayMetadata
    data_type: DataType
    fill_value: np.ndarray[Any, Any]
    grid: ChunkGrid
    axes: tuple[ChunkAxis, ...]
    key_encoding: ChunkKeyEncoding
    chain: CodecChain
    transformers: tuple[StorageTransformer, ...]
    skipped: tuple[ExtensionDefinition, ...]
    write_empty_chunks: bool = False
    fill_value_assumed: bool = False
    _prepared: dict[tuple[int, ...], PreparedCodecChain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Where the fill value is undefined, others may read anything for a missing chunk.
        undefined = self.metadata.fill_value_undefined or self.fill_value_assumed
        self.write_empty_chunks = self.write_empty_chunks or undefined
        self.may_be_misread = bool(self.skipped) or self.fill_value_assumed
        self.dtype = self.data_type.numpy_dtype
        self.affixes = self.key_encoding.affixes(len(self.axes))
        lengths = tuple(axis.uniform for axis in self.axes if axis.uniform is not None)
        self.is_uniform = len(lengths) == len(self.axes)
        if not self.is_uniform:
            lengths = self.grid.chunk_shape(self.axes, (0,) * len(self.axes))
        self.codecs = self._prepare(lengths)
        self.order = self.codecs.order

    def codecs_for(self, chunk_coords: tuple[int, ...]) -> PreparedCodecChain:
        """The codecs of one chunk."""
        if self.is_uniform:
            return self.codecs
        return self._prepare(self.grid.chunk_shape(self.axes, chunk_coords))

    def check_lengths(self, where: str) -> None:
        """Raise an error if the codecs do not support the length of a chunk.

        Parameters
        ----------
        where : str
            Location of the metadata, for messages.

        Raises
        ------
        CodecChainError
            If the codecs do not form a chain for such chunks.
        """
        if self.is_uniform:
            return
        shape = self.grid.chunk_shape(self.axes, (0,) * len(self.axes))
        for dimension, axis in enumerate(self.axes):
            lengths = sorted({length for length, _ in axis.runs()})
            for length in islice(lengths, _MAX_CHECKED):
                try:
                    self._prepare((*shape[:dimension], length, *shape[dimension + 1 :]))
                except CodecChainError as error:
                    raise CodecChainError(f"{where} /codecs: {error}") from error

    def _prepare(self, shape: tuple[int, ...]) -> PreparedCodecChain:
        codecs = self._prepared.get(shape)
        if codecs is None:
            if len(self._prepared) >= _MAX_SHAPES:
                self._prepared.clear()  # a million chunks may have a million shapes
            decoded = ArrayRepresentation(
                shape, self.data_type, self.fill_value, self.write_empty_chunks
            )
            codecs = self._prepared[shape] = self.chain.prepare(decoded)
        return codecs


_resolved: dict[tuple[int, bool], tuple[ArrayMetadata, Hashable, ResolvedMetadata]] = {}


def resolve_cached(
    metadata: ArrayMetadata, store: object, path: str, write_empty_chunks: bool = False
) -> ResolvedMetadata:
    """As :func:`resolve_metadata`, with a cache; store and path are for messages.

    A result is used again for the same metadata object (formats return the same object for
    the same bytes) as long as names stand for the same code.
    """
    key = (id(metadata), write_empty_chunks)
    registry_state = cache_key()
    found = _resolved.get(key)
    # An id can be used again for another object.
    if found is not None and found[0] is metadata and found[1] == registry_state:
        return found[2]
    new = resolve_metadata(metadata, located(store, path), write_empty_chunks)
    if len(_resolved) >= _MAX_RESOLVED:
        _resolved.clear()
    _resolved[key] = (metadata, registry_state, new)
    return new


def resolve_metadata(
    metadata: ArrayMetadata, where: str, write_empty_chunks: bool = False
) -> ResolvedMetadata:
    """Find the code for every extension that an array names.

    Parameters
    ----------
    metadata : ArrayMetadata
        Valid metadata.
    where : str
        Location of the metadata, for messages.
    write_empty_chunks : bool
        Whether empty chunks are stored.

    Raises
    ------
    ExtensionError
        If an extension is unknown, broken, in conflict or wrongly configured.
    MetadataValidationError
        If the fill value, the grid or a storage transformer does not fit.
    CodecChainError
        If the codecs do not form a chain for such chunks.
    """
    used = None
    if metadata.data_type_fallbacks:
        data_type, used = create_data_type(
            metadata.data_type, metadata.data_type_fallbacks, where, "/data_type"
        )
    else:
        data_type = require_extension("data_type", metadata.data_type, where, "/data_type")
    grid = require_extension("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
    key_encoding = require_extension(
        "chunk_key_encoding", metadata.chunk_key_encoding, where, "/chunk_key_encoding"
    )
    chain = CodecChain.from_definitions(metadata.codecs, where, "/codecs")
    problems: list[ValidationProblem] = []
    axes: tuple[ChunkAxis, ...] = ()
    with _objections(where, "/data_type", problems):
        if not isinstance(data_type.numpy_dtype, np.dtype):
            raise TypeError(f"numpy_dtype is {data_type.numpy_dtype!r}, not a dtype")
    assumed = False
    with _objections(where, "/fill_value", problems):
        fill_value, assumed = _fill_value(metadata, data_type, chain, used is not None)
    with _objections(where, "/chunk_grid", problems):
        axes = grid.axes(metadata.shape)
        if not isinstance(axes, tuple) or not all(isinstance(axis, ChunkAxis) for axis in axes):
            raise TypeError(f"axes gave {axes!r}, not a tuple of ChunkAxis")
    if len(axes) == len(metadata.shape):
        with _objections(where, "/chunk_key_encoding", problems):
            key_encoding.check(tuple(axis.count for axis in axes))
            key_encoding.affixes(len(axes))
    if problems:
        raise MetadataValidationError(where, problems)
    transformers: list[StorageTransformer] = []
    skipped = [] if used is None else [metadata.data_type]
    for number, definition in enumerate(metadata.storage_transformers):
        pointer = f"/storage_transformers/{number}"
        transformer = create_extension("storage_transformer", definition, where, pointer)
        if transformer is None:
            skipped.append(definition)
            continue
        with _objections(where, pointer, problems):
            transformer.check(metadata.shape)
        if problems:
            raise MetadataValidationError(where, problems)
        transformers.append(transformer)
    if transformers and not skipped and not chain.skipped:
        same, transformers = _by_codecs(metadata, transformers)
        if same is not metadata:
            pointer = "/storage_transformers"
            grid = require_extension("chunk_grid", same.chunk_grid, where, pointer)
            axes = grid.axes(same.shape)
            chain = CodecChain.from_definitions(same.codecs, where, pointer)
    if metadata.chunk_memory_layout is not None:
        pointer = "/chunk_memory_layout"
        layout = require_extension(
            "chunk_memory_layout", metadata.chunk_memory_layout, where, pointer
        )
        chain = chain.after(metadata.chunk_memory_layout, layout.codec(len(metadata.shape)))
    try:
        return ResolvedMetadata(
            metadata,
            data_type,
            fill_value,
            grid,
            axes,
            key_encoding,
            chain,
            tuple(transformers),
            (*skipped, *chain.skipped),
            write_empty_chunks,
            assumed,
        )
    except CodecChainError as error:
        raise CodecChainError(f"{where} /codecs: {error}") from error


@contextmanager
def _objections(where: str, pointer: str, problems: list[ValidationProblem]) -> Iterator[None]:
    """Collect ValueErrors of an extension as problems of the metadata; raise other errors."""
    try:
        yield
    except ValueError as error:
        problems.append(ValidationProblem(pointer, str(error)))
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        raise MetadataValidationError(where, [ValidationProblem(pointer, reason(error))]) from error


def _by_codecs(
    metadata: ArrayMetadata, transformers: list[StorageTransformer]
) -> tuple[ArrayMetadata, list[StorageTransformer]]:
    """Replace the first transformers by equivalent codecs; return the metadata and the others."""
    while transformers and (same := transformers[0].as_codecs(metadata)) is not None:
        metadata, transformers = same, transformers[1:]
    return metadata, transformers


def _fill_value(
    metadata: ArrayMetadata, data_type: DataType, chain: CodecChain, is_fallback: bool
) -> tuple[np.ndarray[Any, Any], bool]:
    """The fill value, and whether it is null in the metadata.

    The fill value of an unknown data type may mean nothing to its fallback.  zarrita.js
    stores null for "not specified", which version 3 does not permit; readers show zeros.
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
