"""The layout that the arguments of a conversion request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from zarr_core.tools import create_extension

from zarr_transfer.conversion.conventions import dimension_names

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata

KEEP = "keep"
"""Keeps a part of the layout of the source."""


@dataclass(frozen=True, slots=True)
class RequestedLayout:
    """A requested layout; each part is ``"keep"`` or an argument of :func:`zarr_core.create_array`.

    Chunks and shards may map names of dimensions to lengths.  If ``chunk_key_encoding`` is None,
    the keys are kept if the format supports them.
    """

    chunks: Any = KEEP
    shards: Any = KEEP
    filters: Any = KEEP
    compressors: Any = KEEP
    serializer: Any = KEEP
    fill_value: Any = KEEP
    dtype: Any = KEEP
    chunk_key_encoding: Any = None

    def layout(self) -> dict[str, Any]:
        """Return the parts that are not kept, as arguments of ``create_array``."""
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        del given["chunk_key_encoding"]
        return {name: value for name, value in given.items() if not is_keep(value)}

    def of(self, metadata: ArrayMetadata) -> RequestedLayout:
        """Return the layout for one array: lengths by dimension names become shapes.

        Other dimensions keep their lengths.  Arrays without any of the names keep their chunks.
        """
        by_name = {
            name: given for name in ("chunks", "shards") if is_by_name(given := getattr(self, name))
        }
        if not by_name:
            return self
        names = dimension_names(metadata)
        chunks, shards = _lengths(metadata)
        shapes: dict[str, Any] = {}
        for part, given in by_name.items():
            if not given.keys() & set(names):
                shapes[part] = KEEP
                continue
            # Other dimensions keep their lengths; a new shard is as long as a chunk.
            lengths = chunks if part == "chunks" or shards is None else shards
            if part == "shards" and shards is None and not is_keep(shapes.get("chunks", KEEP)):
                lengths = shapes["chunks"]
            shapes[part] = tuple(
                given.get(name, length) for name, length in zip(names, lengths, strict=True)
            )
        return replace(self, **shapes)


def is_keep(value: Any) -> bool:
    """Whether a part is kept; arrays are not compared."""
    return isinstance(value, str) and value == KEEP


def is_by_name(given: Any) -> bool:
    """Whether lengths have dimension names; a definition has a string ``name`` instead."""
    return isinstance(given, Mapping) and not (
        isinstance(given.get("name"), str) or "shape" in given
    )


def _lengths(metadata: ArrayMetadata) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """Return the lengths of chunks and of shards, if any."""
    grid = create_extension("chunk_grid", metadata.chunk_grid)
    assert grid is not None, "a chunk grid is never ignored"
    stored = tuple(
        axis.uniform or tuple(axis.length(number) for number in range(axis.count))
        for axis in grid.axes(metadata.shape)
    )
    if metadata.codecs and metadata.codecs[0].name == "sharding_indexed":
        inner: Any = metadata.codecs[0].configuration["chunk_shape"]
        return tuple(inner), stored
    return stored, None
