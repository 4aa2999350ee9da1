"""What is brought into a hierarchy, wherever it comes from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from zarr_core.extension import JSON, ExtensionDefinition

    NDArray = np.ndarray[Any, Any]


class StoredChunks(Protocol):
    """Chunks that a source has encoded just as the new array would encode them."""

    complete: bool
    """Whether there is none that is not stored."""

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Grid coordinates of those that can be taken as they are."""

    def others(self) -> list[tuple[int, ...]]:
        """Grid coordinates of those that have to be decoded."""

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """The bytes of one."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An array of a source.

    Parameters
    ----------
    path : str
        Below the place to which all is brought; empty for that place itself.
    source : str
        What it is called where it comes from.
    shape : tuple of int
        Length of each dimension.
    dtype : dtype, str or ExtensionDefinition
        What :func:`zarr_core.create_array` takes.
    read : callable
        Gives the elements of a box, a tuple of slices with step 1, as an array.
    attributes : dict
        As JSON.
    chunks : tuple of int, optional
        Shape of the source's chunks.
    dimension_names : tuple of (str or None), optional
        Names of the dimensions.
    fill_value : scalar, optional
        What elements are that the source does not store.
    missing_value : scalar, optional
        What stands for no value: the attribute ``_FillValue`` of CF.
    codecs : list of ExtensionDefinition, optional
        What the source's filters are here; None if it has none, or none of them can be had.
    serializer : ExtensionDefinition, optional
        The array -> bytes codec, where it is not that of the data type.
    stored : StoredChunks, optional
        Its chunks, if they are encoded by ``codecs`` and nothing else.
    notes : list of str
        What is not as it was.
    close : callable
        Called once all has been read, to release what the source holds for it.
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
class Folder:
    """A group of a source.

    Parameters
    ----------
    path, source : str
        As those of a variable.
    attributes : dict
        As JSON.
    notes : list of str
        What is not as it was.
    """

    path: str
    source: str
    attributes: dict[str, JSON] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Contents:
    """What a source holds.

    Parameters
    ----------
    nodes : list of (Folder or Variable)
        Parents first; the first is the root.
    left_out : list of (str, str)
        What is not brought over, by its name in the source; why not.
    """

    nodes: list[Folder | Variable]
    left_out: list[tuple[str, str]] = field(default_factory=list)
