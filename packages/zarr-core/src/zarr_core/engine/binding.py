"""Array metadata together with the code that implements it.

What stands here depends on the documents alone, not on where they are stored,
so arrays with the same document share it.
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
from zarr_core.metadata.problem import Problem
from zarr_core.registry.fallback import make_data_type
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import make, reason, require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.engine.bound import BoundChain
    from zarr_core.interfaces.chunk_grid import ChunkGrid
    from zarr_core.interfaces.chunk_key_encoding import ChunkKeyEncoding
    from zarr_core.interfaces.data_type import DataType
    from zarr_core.interfaces.storage_transformer import StorageTransformer
    from zarr_core.metadata.array import ArrayMetadata


_REMEMBERED = 256  # shapes of chunks whose codecs stay bound
_CHECKED = 1000  # lengths along a dimension that are tried beforehand


@dataclass(eq=False)
class Binding:
    """Everything that the engine needs to know about an array.

    Parameters
    ----------
    metadata : ArrayMetadata
        The document.
    data_type, grid, key_encoding, chain, transformers
        What implements its members.  What a transformer does that codecs can do as
        well is in the grid and the chain.
    fill_value : ndarray, shape ()
        The fill value.
    axes : tuple of ChunkAxis
        The grid cut to the array's shape.
    skipped : tuple of ExtensionDefinition
        Extensions that nobody knows and that need not be understood, and a data type
        that is read as a fallback of it.
    keep_empty : bool
        Whether chunks that hold nothing but the fill value are stored.
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
    keep_empty: bool = False
    _bound: dict[tuple[int, ...], BoundChain] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Where the fill value is undefined, others may take anything for a missing chunk.
        self.keep_empty = self.keep_empty or self.metadata.fill_value_undefined
        self.dtype = self.data_type.numpy_dtype
        self.affixes = self.key_encoding.affixes(len(self.axes))
        lengths = [axis.uniform for axis in self.axes]
        self._uniform: BoundChain | None = None
        if None not in lengths:
            self._uniform = self._bind(tuple(length for length in lengths if length is not None))
        else:
            self.bound((0,) * len(lengths))  # refuses codecs that do not fit at once

    @property
    def is_uniform(self) -> bool:
        """Whether all chunks have one shape."""
        return self._uniform is not None

    def bound(self, chunk: tuple[int, ...]) -> BoundChain:
        """The codecs bound to the shape of one chunk.

        Parameters
        ----------
        chunk : tuple of int
            Grid coordinates.
        """
        return self._uniform or self._bind(self.grid.chunk_shape(self.axes, chunk))

    def check_lengths(self, where: str) -> None:
        """Refuse codecs that do not fit a length of chunk, before any is stored.

        Parameters
        ----------
        where : str
            The document, for messages.

        Raises
        ------
        CodecChainError
            If the codecs do not form a chain for such chunks.
        """
        if self._uniform is not None:
            return
        shape = self.grid.chunk_shape(self.axes, (0,) * len(self.axes))
        for dimension, axis in enumerate(self.axes):
            lengths = sorted({length for length, _ in axis.runs()})
            for length in islice(lengths, _CHECKED):
                try:
                    self._bind((*shape[:dimension], length, *shape[dimension + 1 :]))
                except CodecChainError as error:
                    raise CodecChainError(f"{where} /codecs: {error}") from error

    def _bind(self, shape: tuple[int, ...]) -> BoundChain:
        bound = self._bound.get(shape)
        if bound is None:
            if len(self._bound) >= _REMEMBERED:
                self._bound.clear()  # a million chunks may have a million shapes
            decoded = ArrayRepresentation(shape, self.data_type, self.fill_value, self.keep_empty)
            bound = self._bound[shape] = self.chain.bind(decoded)
        return bound


def bind(metadata: ArrayMetadata, where: str, keep_empty: bool = False) -> Binding:
    """Find the code for every extension that an array names.

    Parameters
    ----------
    metadata : ArrayMetadata
        A valid document.
    where : str
        The document, for messages.
    keep_empty : bool
        Whether chunks that hold nothing but the fill value are to be stored.

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
        data_type, used = make_data_type(
            metadata.data_type, metadata.data_type_fallbacks, where, "/data_type"
        )
    else:
        data_type = require("data_type", metadata.data_type, where, "/data_type")
    grid = require("chunk_grid", metadata.chunk_grid, where, "/chunk_grid")
    key_encoding = require(
        "chunk_key_encoding", metadata.chunk_key_encoding, where, "/chunk_key_encoding"
    )
    chain = CodecChain.from_definitions(metadata.codecs, where, "/codecs")
    problems: list[Problem] = []
    axes: tuple[ChunkAxis, ...] = ()
    with _objections(where, "/data_type", problems):
        if not isinstance(data_type.numpy_dtype, np.dtype):
            raise TypeError(f"numpy_dtype is {data_type.numpy_dtype!r}, which is no dtype")
    with _objections(where, "/fill_value", problems):
        fill_value = _fill_value(metadata, data_type, chain, used is not None)
    with _objections(where, "/chunk_grid", problems):
        axes = grid.axes(metadata.shape)
        if not isinstance(axes, tuple) or not all(isinstance(axis, ChunkAxis) for axis in axes):
            raise TypeError(f"axes gave {axes!r}, which is no tuple of ChunkAxis")
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
        transformer = make("storage_transformer", definition, where, pointer)
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
            grid = require("chunk_grid", same.chunk_grid, where, pointer)
            axes = grid.axes(same.shape)
            chain = CodecChain.from_definitions(same.codecs, where, pointer)
    if metadata.chunk_memory_layout is not None:
        pointer = "/chunk_memory_layout"
        layout = require("chunk_memory_layout", metadata.chunk_memory_layout, where, pointer)
        chain = chain.after(metadata.chunk_memory_layout, layout.codec(len(metadata.shape)))
    try:
        return Binding(
            metadata,
            data_type,
            fill_value,
            grid,
            axes,
            key_encoding,
            chain,
            tuple(transformers),
            (*skipped, *chain.skipped),
            keep_empty,
        )
    except CodecChainError as error:
        raise CodecChainError(f"{where} /codecs: {error}") from error


@contextmanager
def _objections(where: str, pointer: str, problems: list[Problem]) -> Iterator[None]:
    """Note what an extension objects to in a document; raise what is its own fault."""
    try:
        yield
    except ValueError as error:
        problems.append(Problem(pointer, str(error)))
    except BaseException as error:
        if isinstance(error, ZarrError) or not is_fault(error):
            raise
        raise MetadataValidationError(where, [Problem(pointer, reason(error))]) from error


def _by_codecs(
    metadata: ArrayMetadata, transformers: list[StorageTransformer]
) -> tuple[ArrayMetadata, list[StorageTransformer]]:
    """Say by codecs what the first transformers do, as far as that can be; and the others."""
    while transformers and (same := transformers[0].as_codecs(metadata)) is not None:
        metadata, transformers = same, transformers[1:]
    return metadata, transformers


def _fill_value(
    metadata: ArrayMetadata, data_type: DataType, chain: CodecChain, is_fallback: bool
) -> np.ndarray[Any, Any]:
    """The fill value; that of a data type which nobody knows is anyone's guess."""
    try:
        value = data_type.fill_value_as_stored(metadata.fill_value, chain.byte_order)
    except ValueError:
        if not is_fallback:
            raise
        value = data_type.default_fill_value()
    if not isinstance(value, np.ndarray) or value.shape or value.dtype != data_type.numpy_dtype:
        raise TypeError(
            f"{value!r} is no array of shape () and dtype {data_type.numpy_dtype}, as which the "
            "data type must give a fill value"
        )
    return value
