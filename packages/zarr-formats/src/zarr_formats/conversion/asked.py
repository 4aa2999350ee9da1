"""What a user asks a conversion to change besides the format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from zarr_core.extension import make_extension

from zarr_formats.conversion.conventions import dimension_names

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata

KEEP = "keep"
"""Leaves a part of the layout as it is in the source."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The layout that is asked for; every part is ``"keep"`` or a form of ``create_array``.

    Parameters
    ----------
    chunks, shards, filters, compressors, serializer, fill_value, dtype
        As for :func:`zarr_core.create_array`, or ``"keep"``.  Chunks and shards may be a
        mapping from names of dimensions to lengths.
    chunk_key_encoding
        As for :func:`zarr_core.create_array`; None to keep the keys if the format has them.
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
        """The parts that are asked for, as arguments of ``create_array``."""
        given = {item.name: getattr(self, item.name) for item in fields(self)}
        del given["chunk_key_encoding"]
        return {name: value for name, value in given.items() if not is_keep(value)}

    def of(self, metadata: ArrayMetadata) -> Asked:
        """What is asked of one array: lengths by names of dimensions become shapes.

        Dimensions that are not named keep their lengths, and arrays that have none of the
        names their chunks.
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
            # What is not named stays; of a shard that is new, as long as a chunk.
            lengths = chunks if part == "chunks" or shards is None else shards
            if part == "shards" and shards is None and not is_keep(shapes.get("chunks", KEEP)):
                lengths = shapes["chunks"]
            shapes[part] = tuple(
                given.get(name, length) for name, length in zip(names, lengths, strict=True)
            )
        return replace(self, **shapes)


def is_keep(value: Any) -> bool:
    """Whether a part is left as it is; arrays are compared with nothing."""
    return isinstance(value, str) and value == KEEP


def is_by_name(given: Any) -> bool:
    """Whether lengths are given by names of dimensions; a definition has a name, a text."""
    return isinstance(given, Mapping) and not (
        isinstance(given.get("name"), str) or "shape" in given
    )


def _lengths(metadata: ArrayMetadata) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """Lengths of chunks and of shards, if there are some."""
    grid = make_extension("chunk_grid", metadata.chunk_grid)
    assert grid is not None, "a grid is never left out"
    stored = tuple(
        axis.uniform or tuple(axis.length(number) for number in range(axis.count))
        for axis in grid.axes(metadata.shape)
    )
    if metadata.codecs and metadata.codecs[0].name == "sharding_indexed":
        inner: Any = metadata.codecs[0].configuration["chunk_shape"]
        return tuple(inner), stored
    return stored, None
