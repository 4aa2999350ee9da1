"""The properties of nodes as tables."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from zarr_core.errors import MetadataError
from zarr_core.extension import ArrayMetadata, GroupMetadata, escape_controls, native_reason_against
from zarr_core.formats.walk import walk
from zarr_core.messages import format_bytes, shorten

from zarr_display.html import row, table, text
from zarr_display.tree import members_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.extension import ChunkAxis, Codec, ExtensionDefinition, StoredArray

_LONGEST = 1000  # characters of a value
_FIELDS = 4  # shown fields of a structured data type
_LENGTHS = 5  # shown chunk lengths, if they differ


class Info(Mapping[str, str]):
    """A mapping of names to values that is printed as a table.

    Parameters
    ----------
    rows : iterable of (str, str)
        Names and values; control characters in values are escaped, long values shortened.
    """

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._rows = {name: escape_controls(shorten(value, _LONGEST)) for name, value in rows}

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
        return table(*(row(text(name), text(value)) for name, value in self.items()))


def array_info(array: StoredArray, list_chunks: bool = False) -> Info:
    """The table of an array; ``list_chunks`` adds the stored chunks."""
    metadata = array.metadata
    rows = [*_first_rows(array, "Array"), ("Data type", data_type_text(array))]
    rows.append(("Shape", _shape(metadata.shape)))
    if metadata.dimension_names is not None:
        rows.append(("Dimension names", ", ".join(map(str, metadata.dimension_names))))
    rows.append(("Chunk shape", _shape(chunk_lengths(array))))
    if array.is_sharded:
        rows.append(("Shard shape", _shape(stored_lengths(array))))
    codecs = array.inner_codecs
    detected = any(codec.detects_damage for codec in codecs.bytes_to_bytes)
    rows += [
        ("Fill value", fill_value(array)),
        ("Filters", _codecs(array.filters)),
        ("Serializer", _codecs((codecs.array_to_bytes,))),
        ("Compressors", _codecs(array.compressors)),
        ("Damage detected", "yes" if detected else "not in every case"),
        ("Native", f"no: {reason}" if (reason := native_reason_against(array)) else "yes"),
        *_last_rows(array),
        ("Size", _size(prod(metadata.shape) * array.resolved.dtype.itemsize)),
    ]
    if array.ignored_extensions:
        rows.append(("Unknown extensions", f"{_names(array.ignored_extensions)} (ignored)"))
    if list_chunks:
        rows += _stored_rows(array)
    return Info(rows)


def fill_value(array: StoredArray) -> str:
    """The fill value of an array as text."""
    if array.metadata.fill_value_undefined:
        return "None"
    value = array.resolved.fill_value
    try:
        return str(value[()])
    except ValueError:  # NumPy cannot print times without a unit; the metadata has a number
        return str(array.resolved.data_type.fill_value_to_json(value))


def _stored_rows(array: StoredArray) -> list[tuple[str, str]]:
    stored = list(array.stored_sizes())
    nbytes = sum(size for _, size in stored)
    unit = "Shards" if array.is_sharded else "Chunks"
    rows = [
        (f"{unit} stored", f"{len(stored):,} of {prod(axis.count for axis in array.axes):,}"),
        ("Size stored", _size(nbytes)),
    ]
    if nbytes:
        # Only stored chunks: missing chunks are not compression.
        elements = sum(prod(array.chunk_extent(chunk)) for chunk, _ in stored)
        ratio = elements * array.resolved.dtype.itemsize / nbytes
        rows.append(("Storage ratio", f"{ratio:.1f}"))
    return rows


def group_info(group: StoredGroup, count_members: bool = False) -> Info:
    """The table of a group; ``count_members`` adds the numbers of members."""
    metadata = group.metadata
    rows = [
        *_first_rows(group, "Group"),
        ("Attributes", f"{len(metadata.attributes):,}"),
        ("Consolidated metadata", "yes" if metadata.consolidated is not None else "no"),
        *_last_rows(group),
    ]
    if count_members:
        direct = [member for _, member in members_of(group, group.path, MetadataError)]
        every = walk(group.format, group.store, group.path, None, group.children)
        rows += [
            ("Arrays", f"{sum(isinstance(member, ArrayMetadata) for member in direct):,}"),
            ("Groups", f"{sum(isinstance(member, GroupMetadata) for member in direct):,}"),
            ("Members at any depth", f"{sum(1 for _ in every):,}"),
        ]
    return Info(rows)


def _first_rows(node: StoredArray | StoredGroup, kind: str) -> list[tuple[str, str]]:
    number = node.format.name.removeprefix("v")
    return [("Name", node.name), ("Type", kind), ("Zarr format", number)]


def _last_rows(node: StoredArray | StoredGroup) -> list[tuple[str, str]]:
    store = f"{type(node.store).__name__} {node.store}"
    return [("Read-only", str(node.read_only)), ("Store", store)]


def _codecs(codecs: Iterable[Codec]) -> str:
    return ", ".join(map(str, codecs)) or "none"


def _names(definitions: Iterable[ExtensionDefinition]) -> str:
    return ", ".join(definition.name for definition in definitions)


def _shape(shape: tuple[int | str, ...]) -> str:
    return " x ".join(map(str, shape)) or "() (one element)"


def _size(nbytes: int) -> str:
    text = format_bytes(nbytes)
    return text if nbytes < 1024 else f"{text} ({nbytes:,} B)"


def data_type_text(array: StoredArray) -> str:
    """The data type, with its fields or length if configured."""
    definition, dtype = array.metadata.data_type, array.resolved.dtype
    if not definition.configuration:
        return definition.name
    if dtype.names is None:
        return f"{definition.name} {dtype.str.lstrip('<>|=')}"
    fields = ", ".join(dtype.names[:_FIELDS])
    return f"{definition.name} ({fields}{', ...' if len(dtype.names) > _FIELDS else ''})"


def chunk_lengths(array: StoredArray) -> tuple[int | str, ...]:
    """The chunk length along each dimension; if lengths differ, the first ones as text."""
    return array.inner_codecs.decoded.shape if array.is_sharded else stored_lengths(array)


def stored_lengths(array: StoredArray) -> tuple[int | str, ...]:
    """As :func:`chunk_lengths`, of shards if there are any."""
    return tuple(map(_length, array.axes))


def _length(axis: ChunkAxis) -> int | str:
    if axis.uniform is not None:
        return axis.uniform
    shown = [str(axis.length(chunk)) for chunk in range(min(axis.count, _LENGTHS))]
    more = f", ... {axis.count} in all" if axis.count > _LENGTHS else ""
    return f"({', '.join(shown)}{more})"
