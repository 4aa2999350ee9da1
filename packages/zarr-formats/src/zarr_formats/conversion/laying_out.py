"""Metadata for an array with another layout, with what its format can say.

What a user did not ask for stays as it is, unless the format refuses it: then as few
parts as possible become what the format chooses for new arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core import MemoryStore, create_array
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ExtensionDefinition,
    MetadataError,
    MetadataValidationError,
    Problem,
    ZarrError,
    make_extension,
)

from zarr_formats.conversion.asked import is_keep
from zarr_formats.conversion.elements import as_dtype, can_become
from zarr_formats.conversion.expressing import express_array, problems_of
from zarr_formats.conversion.sameness import is_definition, same_codecs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core import Array
    from zarr_core.extension import ArrayMetadata, Format

    from zarr_formats.conversion.asked import Asked
    from zarr_formats.conversion.steps import Side

# What may be left to the format, in the order of preference; with what stands for that.
_RELAXED: dict[str, Any] = {
    "compressors": "auto",
    "shards": None,
    "serializer": "auto",
    "filters": None,
    "chunks": "auto",
    "fill_value": None,
}


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A new layout.

    Parameters
    ----------
    metadata : ArrayMetadata
        As the format will read them.
    fill_changed : bool
        Whether chunks that are not stored would be read as something else.
    notes : tuple of str
        What is lost or changed, other than what was asked for.
    """

    metadata: ArrayMetadata
    fill_changed: bool
    notes: tuple[str, ...]


def lay_out(array: Array, dest: Side, path: str, asked: Asked, *, rename: bool) -> LaidOut:
    """Find the layout that is asked for, or that the format permits.

    Parameters
    ----------
    array : Array
        The source.
    dest, path : Side, str
        Where the target is to be.
    asked : Asked
        What the user wants.
    rename : bool
        See :func:`express_array`.

    Raises
    ------
    MetadataValidationError
        If there is none.
    """
    free = [name for name in _RELAXED if name not in asked.layout()]
    failure: Exception | None = None
    fitted = {} if is_keep(asked.dtype) else _for_dtype(array, asked.dtype)
    for relaxed, kept in product(_subsets(free), _layouts(array)):
        if "shards" in relaxed and kept["shards"] is None:
            continue  # there are none
        chosen = {name: _RELAXED[name] for name in relaxed}
        if "serializer" in relaxed and "codecs" in array.serializer.to_configuration():
            # What compressed within it is gone.
            chosen.setdefault("compressors", _RELAXED["compressors"])
        layout = kept | fitted | chosen | asked.layout()
        try:
            made = _created(array, dest.format_, layout, asked, rename)
            candidate = _with_the_rest(array, made, layout)
            metadata, notes = express_array(dest, path, candidate, rename=rename)
        except ZarrError as error:
            failure = failure or error
            if not _may_help(error):
                break
            continue
        changed = not same_fill_value(array, made, undefined=layout["fill_value"] is None)
        notes += _notes(array, candidate, {*relaxed}, {*asked.layout()}, changed)
        return LaidOut(metadata, changed, tuple(notes))
    assert failure is not None
    raise MetadataValidationError(dest.where(path), problems_of(failure)) from failure


def key_encoding(given: Any) -> ExtensionDefinition:
    """The definition of a chunk key encoding, in any form that ``create_array`` takes."""
    made = create_array(MemoryStore(), shape=(1,), dtype="uint8", chunk_key_encoding=given)
    return made.metadata.chunk_key_encoding


def _layouts(array: Array) -> Iterator[dict[str, Any]]:
    """What an array has; then what is inside of a codec that contains others."""
    layout = _layout(array)
    inside = array.serializer.to_configuration().get("codecs")
    yield layout
    if array.shards is not None or not isinstance(inside, list):
        return
    if not all(map(is_definition, inside)):
        return
    codecs = [(d, make_extension("codec", d)) for d in map(ExtensionDefinition.from_json, inside)]
    kinds = (ArrayToArrayCodec, ArrayToBytesCodec, BytesToBytesCodec)
    before, middle, after = ([d for d, codec in codecs if isinstance(codec, k)] for k in kinds)
    if len(middle) == 1:
        yield layout | {
            "filters": [*layout["filters"], *before],
            "serializer": middle[0],
            "compressors": [*after, *layout["compressors"]],
        }


def _layout(array: Array) -> dict[str, Any]:
    """What an array has, as arguments of ``create_array``."""
    metadata = array.metadata
    chunks: Any = array.chunks
    shards: Any = None
    if array.shards is not None:
        location = metadata.codecs[0].configuration.get("index_location", "end")
        shards = {"shape": array.shards, "index_location": location}
    elif metadata.chunk_grid.name != "regular":
        chunks = metadata.chunk_grid
    return {
        "chunks": chunks,
        "shards": shards,
        "filters": array.filters,
        "serializer": array.serializer,
        "compressors": array.compressors,
        "fill_value": array.fill_value,
        "dtype": metadata.data_type,
    }


def _for_dtype(array: Array, dtype: Any) -> dict[str, Any]:
    """What has to change with the data type.

    Raises
    ------
    MetadataValidationError
        If elements cannot be those of the data type.
    """
    new = create_array(MemoryStore(), shape=(1,), dtype=dtype).dtype
    if not can_become(array.dtype, new):
        message = f"{array.dtype} cannot become {new}; numbers become numbers, nothing else"
        raise MetadataValidationError("", [Problem("/data_type", message)])
    changes: dict[str, Any] = {"serializer": "auto", "compressors": []}
    compressors: list[Any] = [*array.compressors]
    for codec in compressors:
        # Those that arrange bytes by elements have their size.
        suits = is_dataclass(codec) and getattr(codec, "typesize", None) == array.itemsize
        fitted = replace(codec, typesize=new.itemsize) if suits else codec
        changes["compressors"].append(fitted)
    if array.metadata.fill_value_undefined:
        return changes
    try:
        changes["fill_value"] = as_dtype(np.asarray(array.fill_value), new)[()]
    except ValueError:
        changes["fill_value"] = None
    return changes


def _created(
    array: Array, format_: Format, layout: dict[str, Any], asked: Asked, rename: bool
) -> Array:
    """A new array in memory with a layout."""
    old = array.metadata
    encoding = asked.chunk_key_encoding
    if encoding is None and not rename:  # the format stays, so the keys may
        encoding = old.chunk_key_encoding
    return create_array(
        MemoryStore(),
        shape=array.shape,
        zarr_format=format_.name,
        chunk_key_encoding=encoding,
        **layout,
    )


def _with_the_rest(array: Array, made: Array, layout: dict[str, Any]) -> ArrayMetadata:
    """The metadata of a new array, with all that is no layout from the source."""
    old = array.metadata
    return made.metadata.replace(
        attributes=old.attributes,
        dimension_names=old.dimension_names,
        additional_fields=old.additional_fields,
        fill_value_undefined=old.fill_value_undefined and layout["fill_value"] is None,
        document=None,
    )


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All selections of names, the smallest first."""
    for count in range(len(names) + 1):
        yield from combinations(names, count)


def _may_help(error: Exception) -> bool:
    """Whether another layout may be accepted where one was refused."""
    if not isinstance(error, MetadataError):
        return True
    fixed = ("/data_type", "/attributes", "/shape", "/dimension_names", "/chunk_key_encoding")
    return not any(problem.pointer.startswith(fixed) for problem in error.problems)


def same_fill_value(old: Array, new: Array, *, undefined: bool) -> bool:
    """Whether elements that were never written stay what they were, bit by bit.

    Parameters
    ----------
    old, new : Array
        The source, the target.
    undefined : bool
        Whether the target has what the data type has for default; so they are read
        where the source does not define them.
    """
    if old.metadata.fill_value_undefined:
        return undefined
    one, other = np.asarray(old.fill_value), np.asarray(new.fill_value)
    if one.dtype != other.dtype:
        try:
            one = as_dtype(one, other.dtype) if can_become(one.dtype, other.dtype) else one
        except ValueError:
            return False
    if one.dtype != other.dtype:
        return False
    if one.dtype.hasobject or one.dtype.kind == "T":
        return bool(one[()] == other[()])  # NumPy compares strings only to a null character
    return one.tobytes() == other.tobytes()


def _notes(
    array: Array,
    candidate: ArrayMetadata,
    relaxed: set[str],
    asked: set[str],
    fill_changed: bool,
) -> Iterator[str]:
    """What became of parts that nobody asked to change."""
    old, new = array.metadata.codecs, candidate.codecs
    if (not asked or relaxed - {"fill_value", "chunks"}) and not same_codecs(old, new):
        names = _names(new)
        more = ", of another configuration" if names == _names(old) else ""
        yield f"the codecs {_names(old)} become {names}{more}"
    if "filters" in relaxed and _values_may_change(array):
        yield "filters are left out: what they changed stays so, new elements do not pass them"
    if "chunks" in relaxed:
        yield f"the chunk grid becomes {candidate.chunk_grid.to_json()}"
    if "fill_value" in relaxed and fill_changed:
        yield (
            f"the fill value {array.fill_value} becomes the default; chunks that are not "
            "stored are written"
        )


def _values_may_change(array: Array) -> bool:
    """Whether filters do more to elements than to arrange them."""
    return any(codec.to_configuration().keys() != {"order"} for codec in array.filters)


def _names(codecs: Sequence[ExtensionDefinition]) -> str:
    """Names of codecs, with those inside of one in brackets."""
    names = []
    for definition in codecs:
        inner = definition.configuration.get("codecs")
        if isinstance(inner, list) and inner and all(map(is_definition, inner)):
            inside = [ExtensionDefinition.from_json(item) for item in inner]
            names.append(f"{definition.name} ({_names(inside)})")
        else:
            names.append(definition.name)
    return ", ".join(names) or "none"
