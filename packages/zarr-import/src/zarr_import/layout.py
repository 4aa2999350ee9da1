"""The metadata of new arrays, as their sources have them or as the user wants them."""

from __future__ import annotations

import struct
from base64 import standard_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import MemoryStore, create_array
from zarr_core.extension import (
    CodecError,
    ExtensionError,
    MetadataError,
    UnknownExtensionError,
    make_extension,
)

from zarr_import.unsupported import UnsupportedSourceError

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayMetadata, Format

    from zarr_import.variable import Variable

_DIMENSIONS = "_ARRAY_DIMENSIONS"
_FILL_VALUE = "_FillValue"


@dataclass(frozen=True, slots=True)
class Layout:
    """How new arrays are stored.

    Parameters
    ----------
    chunks : None, "auto", int, sequence or mapping
        None for the chunks of the source; a mapping gives them by path.
    shards : None, "auto", int or sequence
        As for :func:`zarr_core.create_array`.
    codecs : None, "auto" or sequence
        None for what the filters of the source are here.
    copy_chunks : bool
        Whether encoded chunks are taken as they are, where that is possible.
    """

    chunks: Any = None
    shards: Any = None
    codecs: Any = None
    copy_chunks: bool = True

    def chunks_of(self, variable: Variable) -> Any:
        """What is wanted for one array."""
        asked = self.chunks
        if isinstance(asked, Mapping):
            asked = asked.get(variable.path)
        if asked is None:
            return "auto" if variable.chunks is None else variable.chunks
        return asked


@dataclass(frozen=True, slots=True)
class Planned:
    """An array that is going to be made.

    Parameters
    ----------
    variable : Variable
        What of.
    metadata : ArrayMetadata
        What it will say of itself.
    chunks, shards : tuple of int
        Shapes of its chunks; of its shards, if it has any.
    direct : bool
        Whether the encoded chunks of the source can be its chunks.
    notes : list of str
        What is not as it was in the source.
    """

    variable: Variable
    metadata: ArrayMetadata
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    direct: bool
    notes: list[str]


def plan(variable: Variable, layout: Layout, format_: Format) -> Planned:
    """Say how an array is going to be stored.

    Raises
    ------
    UnsupportedSourceError
        If there is no data type for its elements, or the format has no words for it.
    """
    if variable.serializer is not None and format_.zarr_format == 3:
        raise UnsupportedSourceError(
            variable.source,
            "elements are sequences of any length, which version 3 has no data type for; "
            "zarr_format=2 has one",
        )
    notes = list(variable.notes)
    attributes = dict(variable.attributes)
    names = variable.dimension_names
    fill, undefined = variable.fill_value, False
    if format_.zarr_format == 3:
        if variable.missing_value is not None:
            attributes[_FILL_VALUE] = _missing_value(variable)
    else:
        if names is not None and None not in names:
            attributes[_DIMENSIONS] = list(names)
        names = None
        # The fill value of version 2 is what CF calls so: elements that are no values.  Where
        # there are none it is left open, and all chunks are stored.
        fill, undefined = variable.missing_value, variable.missing_value is None
    codecs = _codecs(variable, layout, notes)
    chain: dict[str, Any] = (
        {"compressors": "auto"} if codecs == "auto" else {"filters": codecs, "compressors": None}
    )
    try:
        made = create_array(
            MemoryStore(), shape=variable.shape, dtype=variable.dtype, fill_value=fill,
            chunks=layout.chunks_of(variable), shards=layout.shards, attributes=attributes,
            dimension_names=names, zarr_format=format_.name, serializer=variable.serializer or "auto",
            **chain,
        )  # fmt: skip
        metadata = made.metadata
        if undefined:
            changed = metadata.replace(fill_value_undefined=True, document=None)
            metadata = format_.express(changed, variable.source)
    except (ExtensionError, MetadataError, CodecError) as error:
        raise UnsupportedSourceError(variable.source, str(error)) from error
    except ValueError as error:  # chunks that do not fit
        raise UnsupportedSourceError(
            variable.source, f"as array of {variable.shape}: {error}"
        ) from error
    direct = (
        layout.copy_chunks
        and variable.stored is not None
        and codecs is variable.codecs
        and made.shards is None
        and made.chunks == variable.chunks
        and (variable.stored.complete or _same(made.fill_value, variable.fill_value, made.dtype))
    )
    return Planned(variable, metadata, made.chunks, made.shards, direct, notes)


def _codecs(variable: Variable, layout: Layout, notes: list[str]) -> Any:
    """The codecs around the serializer, or "auto"."""
    if layout.codecs is not None:
        return layout.codecs
    if variable.codecs is None:
        return "auto"
    for definition in variable.codecs:
        try:
            make_extension("codec", definition, variable.source)
        except UnknownExtensionError:
            notes.append(
                f"stored with the codecs of new arrays, as {definition.name!r} is not installed: "
                "pip install zarr-codecs"
            )
            return "auto"
    return variable.codecs


def _missing_value(variable: Variable) -> JSON:
    """``_FillValue`` in the form that xarray gives it in version 3."""
    value = np.asarray(variable.missing_value).reshape(-1)[0]
    kind = value.dtype.kind
    if kind == "f":
        return _bits(value)
    if kind == "c":
        return [_bits(value.real), _bits(value.imag)]
    if kind == "S":
        return standard_b64encode(bytes(value)).decode()
    plain: JSON = value.item()
    return plain if kind in "biu" else str(plain)


def _bits(value: Any) -> str:
    return standard_b64encode(struct.pack("<d", float(value))).decode()


def _is_set(fill: Any) -> bool:
    """Whether a fill value is another than the zero that is there by default."""
    return fill is not None and bool(np.any(np.frombuffer(np.asarray(fill).tobytes(), "u1")))


def _same(one: Any, other: Any, dtype: np.dtype[Any]) -> bool:
    if one is None or other is None:  # which are read as zeros
        return not _is_set(one) and not _is_set(other)
    return np.asarray(one, dtype).tobytes() == np.asarray(other, dtype).tobytes()
