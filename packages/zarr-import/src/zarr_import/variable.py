"""The contents of a source, independent of its file format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from zarr_core.extension import JSON, ExtensionDefinition

    NDArray = np.ndarray[Any, Any]
    ListedChunks = tuple[list[tuple[int, ...]], list[tuple[int, ...]]]


class StoredChunks(Protocol):
    """Encoded chunks of a source that can be stored in the new array unchanged."""

    complete: bool
    """Whether all chunks are stored."""

    def listed(self) -> ListedChunks:
        """Return the chunk coordinates of chunks that can be copied, and of those to decode."""

    def read(self, chunk: tuple[int, ...]) -> bytes:
        """Read the bytes of one chunk."""


@dataclass(frozen=True, slots=True)
class Variable:
    """An array of a source."""

    path: str  # below the root of the import; empty for the root
    source: str  # the name in the source
    shape: tuple[int, ...]
    dtype: Any  # as for zarr_core.create_array
    read: Callable[[tuple[slice, ...]], NDArray]  # reads a region
    attributes: dict[str, JSON] = field(default_factory=dict)
    chunks: tuple[int, ...] | None = None  # in the source
    dimension_names: tuple[str | None, ...] | None = None
    fill_value: Any = None  # of elements that the source does not store
    missing_value: Any = None  # the attribute _FillValue of CF
    codecs: list[ExtensionDefinition] | None = None  # of the filters; None without supported ones
    serializer: ExtensionDefinition | None = None  # if not the default of the data type
    stored: StoredChunks | None = None  # if exactly ``codecs`` encode them
    notes: list[str] = field(default_factory=list)  # differences from the source
    close: Callable[[], object] = lambda: None  # called after everything is read


@dataclass(frozen=True, slots=True)
class SourceGroup:
    """A group of a source."""

    path: str
    source: str
    attributes: dict[str, JSON] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a source."""

    nodes: list[SourceGroup | Variable]  # parents first; the first is the root
    left_out: list[tuple[str, str]] = field(default_factory=list)  # objects, with the reasons
