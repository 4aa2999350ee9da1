"""Metadata of new arrays, from their sources or from options of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import MemoryStore, create_array
from zarr_core.errors import ExtensionError, MetadataError, UnknownExtensionError
from zarr_core.extension import CodecError, Location, create_extension
from zarr_transfer.conventions import DIMENSIONS, MASK, encode_mask

from zarr_import.errors import UnsupportedSourceError

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata, Format

    from zarr_import.variable import Variable


@dataclass(frozen=True, slots=True)
class Layout:
    """How new arrays are stored."""

    chunks: Any = None  # None for those of the source; a mapping has them by path
    shards: Any = None
    codecs: Any = None  # None for those that correspond to the filters of the source

    def chunks_of(self, variable: Variable) -> Any:
        """Return the option ``chunks`` for one array."""
        chunks = self.chunks
        if isinstance(chunks, Mapping):
            chunks = chunks.get(variable.path)
        if chunks is None:
            return "auto" if variable.chunks is None else variable.chunks
        return chunks


@dataclass(frozen=True, slots=True)
class PlannedArray:
    """A planned array."""

    variable: Variable
    metadata: ArrayMetadata
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    direct: bool  # whether the encoded chunks of the source can be copied
    notes: list[str]  # differences from the source


def plan(variable: Variable, layout: Layout, format_: Format) -> PlannedArray:
    """Plan how an array is stored.

    Raises UnsupportedSourceError if the format, or Zarr, does not support its data type.
    """
    if variable.serializer is not None and format_.zarr_format == 3:
        raise UnsupportedSourceError(
            variable.source,
            "variable-length sequences are not supported in version 3; use zarr_format=2",
        )
    notes = list(variable.notes)
    attributes = dict(variable.attributes)
    names = variable.dimension_names
    fill, undefined = variable.fill_value, False
    if format_.zarr_format == 3:
        if variable.missing_value is not None:
            missing = np.asarray(variable.missing_value).reshape(-1)[0]
            attributes[MASK] = encode_mask(missing)
    else:
        if names is not None and None not in names:
            attributes[DIMENSIONS] = list(names)
        names = None
        # The fill value of version 2 is that of CF, which marks missing elements.  Without one
        # it is undefined, and all chunks are stored.
        fill, undefined = variable.missing_value, variable.missing_value is None
    codecs = _codecs(variable, layout, notes)
    chain: dict[str, Any] = (
        {"compressors": "auto"} if codecs == "auto" else {"filters": codecs, "compressors": None}
    )
    try:
        array = create_array(
            MemoryStore(), shape=variable.shape, dtype=variable.dtype, fill_value=fill,
            chunks=layout.chunks_of(variable), shards=layout.shards, attributes=attributes,
            dimension_names=names, zarr_format=format_.name, serializer=variable.serializer or "auto",
            **chain,
        )  # fmt: skip
        metadata = array.metadata
        if undefined:
            changed = metadata.replace(fill_value_undefined=True, document=None)
            metadata = format_.to_format(changed, Location(variable.source))
    except (ExtensionError, MetadataError, CodecError) as error:
        raise UnsupportedSourceError(variable.source, str(error)) from error
    except ValueError as error:  # chunks that do not match the shape
        raise UnsupportedSourceError(
            variable.source, f"as array of {variable.shape}: {error}"
        ) from error
    direct = (
        variable.stored is not None
        and codecs is variable.codecs
        and array.shards is None
        and array.chunks == variable.chunks
        and (variable.stored.complete or _same(array.fill_value, variable.fill_value, array.dtype))
    )
    return PlannedArray(variable, metadata, array.chunks, array.shards, direct, notes)


def _codecs(variable: Variable, layout: Layout, notes: list[str]) -> Any:
    """Return the codecs around the serializer, or "auto"."""
    if layout.codecs is not None:
        return layout.codecs
    if variable.codecs is None:
        return "auto"
    for definition in variable.codecs:
        try:
            create_extension("codec", definition, Location(variable.source))
        except UnknownExtensionError:
            notes.append(
                f"stored with the default codecs, as {definition.name!r} is not installed: "
                "pip install zarr-codecs"
            )
            return "auto"
    return variable.codecs


def _is_set(fill: Any) -> bool:
    """Return whether a fill value is set and is not zero."""
    return fill is not None and bool(np.any(np.frombuffer(np.asarray(fill).tobytes(), "u1")))


def _same(one: Any, other: Any, dtype: np.dtype[Any]) -> bool:
    if one is None or other is None:  # None is read as zero
        return not _is_set(one) and not _is_set(other)
    return np.asarray(one, dtype).tobytes() == np.asarray(other, dtype).tobytes()
