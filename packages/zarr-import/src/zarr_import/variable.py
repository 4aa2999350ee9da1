"""The contents of a source, independent of its file format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from zarr_core.extension import JSON, ExtensionDefinition

    NDArray = np.ndarray[Any, Any]


class StoredChunks(Protocol):
    """Encoded chunks of a source that can be stored in the new array unchanged."""

    complete: bool
    """Whether all chunks are stored."""

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield the chunk coordinates of the chunks that can be copied."""

    def chunks_to_decode(self) -> list[tuple[int, ...]]:
        """Return the chunk coordinates of the chunks that have to be decoded."""

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An array of a source.

    Parameters
    ----------
    path : str
        Path below the root of the import; empty for the root.
    source : str
        Name of the array in the source.
    shape : tuple of int
        Length of each dimension.
    dtype : dtype, str or ExtensionDefinition
        As for :func:`zarr_core.create_array`.
    read : callable
        Reads a region, given as a tuple of slices with step 1, as a NumPy array.
    attributes : dict
        Attributes as JSON.
    chunks : tuple of int, optional
        Shape of the chunks in the source.
    dimension_names : tuple of (str or None), optional
        Names of the dimensions.
    fill_value : scalar, optional
        Value of elements that the source does not store.
    missing_value : scalar, optional
        Value that marks missing elements: the attribute ``_FillValue`` of CF.
    codecs : list of ExtensionDefinition, optional
        Codecs that correspond to the filters of the source; None if it has no filters, or none
        of them is supported.
    serializer : ExtensionDefinition, optional
        The array -> bytes codec, if it is not the default of the data type.
    stored : StoredChunks, optional
        The encoded chunks, if exactly ``codecs`` encode them.
    notes : list of str
        Differences from the source.
    close : callable
        Called after everything is read, to release resources.
    """

    path: str
    source: str
    shape: tuple[int, ...]
    dtype: Any
    read: Callable[[tuple[slice, ...]], NDArray]
    attributes: dict[str, JSON] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None
    dimension_names: tuple[str | None, ...] | None = None
    fill_value: Any = None
    missing_value: Any = None
    codecs: list[ExtensionDefinition] | None = None
    serializer: ExtensionDefinition | None = None
    stored: StoredChunks | None = None
    notes: list[str] = field(default_factory=list)
    close: Callable[[], object] = lambda: None


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """A group of a source.

    Parameters
    ----------
    path, source : str
        As for :class:`Variable`.
    attributes : dict
        Attributes as JSON.
    notes : list of str
        Differences from the source.
    """

    path: str
    source: str
    attributes: dict[str, JSON] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a source.

    Parameters
    ----------
    nodes : list of (SourceGroup or Variable)
        Parents first; the first is the root.
    left_out : list of (str, str)
        Names in the source of objects that are not imported, with the reasons.
    """

    nodes: list[SourceGroup | Variable]
    left_out: list[tuple[str, str]] = field(default_factory=list)
