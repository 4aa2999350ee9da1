"""What a node is, as a table in text or HTML."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from zarr_core.display.html_table import row, table
from zarr_core.display.markup import text
from zarr_core.display.words import nbytes_in_words
from zarr_core.engine.stored import extent, stored_sizes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from zarr_core.definition import ExtensionDefinition
    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.described import DescribedArray
    from zarr_core.hierarchy.listed import ListedGroup
    from zarr_core.interfaces.chunk_grid import ChunkAxis
    from zarr_core.interfaces.codec import Codec

_FIELDS = 4  # of a structured data type that are named
_LENGTHS = 5  # of chunks that are named where they differ


class Info(Mapping[str, str]):
    """Names and values: a mapping that prints as a table.

    Parameters
    ----------
    rows : iterable of (str, str)
        Names and values.
    """

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, name: str) -> str:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def to_dict(self) -> dict[str, str]:
        """The table as a dictionary."""
        return dict(self._rows)

    def __repr__(self) -> str:
        width = max(map(len, self._rows), default=0)
        return "\n".join(f"{name:<{width}} : {value}" for name, value in self._rows.items())

    def _repr_html_(self) -> str:
        return table(*(row(text(name), text(value)) for name, value in self._rows.items()))

    def __rich__(self) -> RenderableType:
        from zarr_core.display.rich_forms import of_info  # noqa: PLC0415 - only if rich asks

        return of_info(self)


def array_line(array: Array) -> str:
    """An array in one line, without touching the store."""
    names = array.dimension_names or (None,) * array.ndim
    shape = ", ".join(
        f"{length}" if name is None else f"{name}: {length}"
        for name, length in zip(names, array.shape, strict=True)
    )
    parts = [
        f"<Array {array.store}{'' if not array.path else f' {array.name}'}",
        f"({shape})",
        data_type(array),
        f"chunks={_in_line(chunk_shape(array))}",
    ]
    if array._is_sharded:
        parts.append(f"shards={_in_line(stored_shape(array))}")
    parts += [name for name in array._inner.names if name != "bytes"]
    parts.append(array._format.name)
    if array.skipped_extensions:
        parts.append(f"read-only: unknown {_names(array.skipped_extensions)}")
    return " ".join(parts) + ">"


def data_type(array: DescribedArray) -> str:
    """The data type, with what tells it from others of its name."""
    definition, dtype = array.metadata.data_type, array.dtype
    if not definition.configuration:
        return definition.name
    if dtype.names is None:
        return f"{definition.name} {dtype.str.lstrip('<>|=')}"
    fields = ", ".join(dtype.names[:_FIELDS])
    return f"{definition.name} ({fields}{', ...' if len(dtype.names) > _FIELDS else ''})"


def array_info(array: DescribedArray, stored: bool = False) -> Info:
    """What an array is.

    Parameters
    ----------
    array : Array
        The array.
    stored : bool
        Whether to list the store for what is stored.
    """
    rows = [
        ("Name", array.name),
        ("Type", "Array"),
        ("Zarr format", array._format.name.removeprefix("v")),
        ("Data type", data_type(array)),
        ("Shape", _shape(array.shape)),
    ]
    if array.dimension_names is not None:
        rows.append(("Dimension names", ", ".join(map(str, array.dimension_names))))
    rows.append(("Chunk shape", _shape(chunk_shape(array))))
    if array._is_sharded:
        rows.append(("Shard shape", _shape(stored_shape(array))))
    rows += [
        ("Fill value", str(array.fill_value)),
        ("Filters", _codecs(array.filters)),
        ("Serializer", _codecs((array.serializer,))),
        ("Compressors", _codecs(array.compressors)),
        ("Damage noticed", "yes" if _protected(array) else "not in every case"),
        ("Read-only", str(array.read_only)),
        ("Store", f"{type(array.store).__name__} {array.store}"),
        ("Size", _size(array.nbytes)),
    ]
    if array.skipped_extensions:
        rows.append(("Unknown extensions", f"{_names(array.skipped_extensions)} (left out)"))
    if stored:
        rows += _stored_rows(array)
    return Info(rows)


def _stored_rows(array: DescribedArray) -> list[tuple[str, str]]:
    chunks = array._chunks
    stored = list(stored_sizes(chunks))
    nbytes = sum(size for _, size in stored)
    what = "Shards" if array._is_sharded else "Chunks"
    rows = [
        (f"{what} stored", f"{len(stored)} of {prod(array.cdata_shape)}"),
        ("Size stored", _size(nbytes)),
    ]
    if nbytes:
        # Of what is stored, not of what could be: an empty array is not well compressed.
        elements = sum(prod(extent(chunks, chunk)) for chunk, _ in stored)
        rows.append(("Storage ratio", f"{elements * array.itemsize / nbytes:.1f}"))
    return rows


def group_info(group: ListedGroup, members: bool = False) -> Info:
    """What a group is.

    Parameters
    ----------
    group : Group
        The group.
    members : bool
        Whether to list the members for their numbers.
    """
    rows = [
        ("Name", group.name),
        ("Type", "Group"),
        ("Zarr format", group._format.name.removeprefix("v")),
        ("Attributes", str(len(group.attrs))),
        ("Consolidated metadata", "yes" if group.metadata.consolidated is not None else "no"),
        ("Read-only", str(group.read_only)),
        ("Store", f"{type(group.store).__name__} {group.store}"),
    ]
    if members:
        arrays = sum(1 for _ in group.array_keys())
        groups = sum(1 for _ in group.group_keys())
        rows += [
            ("Arrays", str(arrays)),
            ("Groups", str(groups)),
            ("Members at any depth", str(group.nmembers(None))),
        ]
    return Info(rows)


def _protected(array: DescribedArray) -> bool:
    """Whether some codec after the array -> bytes codec notices any change."""
    return any(codec.detects_damage for codec in array.compressors)


def _codecs(codecs: Iterable[Codec]) -> str:
    return ", ".join(map(str, codecs)) or "none"


def _names(definitions: Iterable[ExtensionDefinition]) -> str:
    return ", ".join(definition.name for definition in definitions)


def chunk_shape(array: DescribedArray) -> tuple[int | str, ...]:
    """The length of a chunk along each dimension, or the first of several."""
    return array._inner.decoded.shape if array._is_sharded else stored_shape(array)


def stored_shape(array: DescribedArray) -> tuple[int | str, ...]:
    """The length of a stored object along each dimension, or the first of several."""
    return tuple(map(_length, array._binding.axes))


def _length(axis: ChunkAxis) -> int | str:
    if axis.uniform is not None:
        return axis.uniform
    shown = [str(axis.length(chunk)) for chunk in range(min(axis.count, _LENGTHS))]
    more = f", ... {axis.count} in all" if axis.count > _LENGTHS else ""
    return f"({', '.join(shown)}{more})"


def _in_line(shape: tuple[int | str, ...]) -> str:
    items = ", ".join(map(str, shape))
    return f"({items},)" if len(shape) == 1 else f"({items})"


def _shape(shape: tuple[int | str, ...]) -> str:
    return " x ".join(map(str, shape)) or "() (one element)"


def _size(nbytes: int) -> str:
    said = nbytes_in_words(nbytes)
    return said if nbytes < 1024 else f"{said} ({nbytes} B)"
