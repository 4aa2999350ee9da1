"""The requested layout, and the metadata that results from it.

Parts of the layout that were not requested are kept.  If the format does not support them,
as few parts as possible get the default of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from zarr_core import MemoryStore, create_array
from zarr_core.errors import MetadataError
from zarr_core.extension import (
    ExtensionDefinition,
    MetadataValidationError,
    ValidationProblem,
    ZarrError,
)

from zarr_transfer.arrays_like import layout_of
from zarr_transfer.compare_metadata import inner_codecs, split_codecs
from zarr_transfer.conventions import by_convention, dimension_names, fill_value_changes
from zarr_transfer.elements import as_dtype, can_become, same_fill_value
from zarr_transfer.to_format import array_to_format, problems_of, same_codecs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core import Array
    from zarr_core.extension import ArrayMetadata, Format

    from zarr_transfer.plan import NodeLocation


KEEP = "keep"
"""Keeps a part of the layout of the source."""


def requested_parts(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :func:`zarr_core.create_array` that change a layout."""
    return {
        name: value
        for name, value in layout.items()
        if not (isinstance(value, str) and value == KEEP)
        and not (name == "chunk_key_encoding" and value is None)
    }


def with_shapes(
    requested: Mapping[str, Any], source: NodeLocation, path: str, metadata: ArrayMetadata
) -> dict[str, Any]:
    """Return the arguments for one array: lengths by dimension names become shapes."""
    arguments = dict(requested)
    names = dimension_names(metadata)
    for part in ("chunks", "shards"):
        value = requested.get(part)
        if not is_by_name(value):
            continue
        if not value.keys() & set(names):
            del arguments[part]
            continue
        # Other dimensions keep their lengths; a new shard is as long as a chunk.
        array = source.open_array(path, metadata, read_only=True)
        lengths = array.chunks if part == "chunks" else array.shards
        if lengths is None:
            lengths = array.chunks
            if is_by_name(requested.get("chunks")):
                lengths = arguments.get("chunks", lengths)
        arguments[part] = tuple(
            value.get(name, length) for name, length in zip(names, lengths, strict=True)
        )
    return arguments


def is_by_name(value: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a mapping has lengths by dimension name; a definition has a string ``name``."""
    return isinstance(value, Mapping) and not (
        isinstance(value.get("name"), str) or "shape" in value
    )


# Parts that can get the default of the format, in the order of preference.
_RELAXED: dict[str, Any] = {
    "compressors": "auto",
    "shards": None,
    "serializer": "auto",
    "filters": None,
    "chunks": "auto",
    "fill_value": None,
}


def plan_layout(
    array: Array,
    source: Format,
    dest: NodeLocation,
    path: str,
    requested: Mapping[str, Any],
    *,
    rename: bool,
    exact: bool,
) -> tuple[ArrayMetadata, bool, list[str]]:
    """Return metadata with the requested layout; other parts change as little as is required.

    The metadata is that which the format will read.  Also returns whether missing chunks would be
    read with different values, and notes on changes that were not requested.  ``exact`` raises an
    error if the format does not support a part that is not requested.
    """
    old = array.metadata
    asked = requested.keys() - {"chunk_key_encoding"}
    free = [] if exact else [name for name in _RELAXED if name not in requested]
    failure: Exception | None = None
    base = {} if rename else {"chunk_key_encoding": old.chunk_key_encoding}
    fitted = _for_dtype(array, requested["dtype"]) if "dtype" in requested else {}
    for relaxed, arguments in product(_subsets(free), _layouts(array)):
        if "shards" in relaxed and arguments["shards"] is None:
            continue  # the array has no shards
        chosen = {name: _RELAXED[name] for name in relaxed}
        if "serializer" in relaxed and "codecs" in array.serializer.to_configuration():
            # The compressors within the serializer are removed with it.
            chosen.setdefault("compressors", _RELAXED["compressors"])
        layout = base | arguments | fitted | chosen | requested
        default_fill = layout["fill_value"] is None
        try:
            made = create_array(
                MemoryStore(), shape=array.shape, zarr_format=dest.format_.name, **layout
            )
            kept = made.metadata.replace(
                **{
                    name: getattr(old, name)
                    for name in ("attributes", "dimension_names")
                    if name not in requested
                },
                additional_fields=old.additional_fields,
                fill_value_undefined=old.fill_value_undefined and default_fill,
                document=None,
            )
            candidate, note = kept, ""
            if "fill_value" not in requested:
                candidate, note = by_convention(kept, old, source, dest.format_)
            metadata, notes = array_to_format(dest, path, candidate, rename=rename)
        except ZarrError as error:
            failure = failure or error
            if not _may_help(error):
                break
            continue
        changed = not missing_chunks_agree(array, made, undefined=default_fill)
        changed = changed or fill_value_changes(kept, candidate)
        notes += [note] * bool(note)
        notes += _notes(array, candidate, {*relaxed}, changed, is_requested=bool(asked))
        return metadata, changed, notes
    assert failure is not None
    raise MetadataValidationError(dest.location(path), problems_of(failure)) from failure


def key_encoding(value: Any) -> ExtensionDefinition:
    """Return the definition of a chunk key encoding in any form that ``create_array`` accepts."""
    made = create_array(MemoryStore(), shape=(1,), dtype="uint8", chunk_key_encoding=value)
    return made.metadata.chunk_key_encoding


def _layouts(array: Array) -> Iterator[dict[str, Any]]:
    """Yield the layout of an array; then the same with the codecs from within its serializer."""
    layout = layout_of(array)
    yield layout
    serializer = ExtensionDefinition("serializer", array.serializer.to_configuration())
    before, middle, after = split_codecs(inner_codecs(serializer, "codecs") or ())
    if middle and array.shards is None:
        yield layout | {
            "filters": [*layout["filters"], *before],
            "serializer": middle[0],
            "compressors": [*after, *layout["compressors"]],
        }


def _for_dtype(array: Array, dtype: Any) -> dict[str, Any]:
    """Return changes of the layout for another data type; an error if there are none."""
    new = create_array(MemoryStore(), shape=(1,), dtype=dtype).dtype
    if not can_become(array.dtype, new):
        message = f"cannot convert {array.dtype} to {new}; only numbers can be converted"
        raise MetadataValidationError("", [ValidationProblem("/data_type", message)])
    changes: dict[str, Any] = {"serializer": "auto", "compressors": []}
    compressors: list[Any] = [*array.stored.inner_codecs.bytes_to_bytes]
    for codec in compressors:
        # Codecs that shuffle bytes have the size of elements.
        suits = is_dataclass(codec) and getattr(codec, "typesize", None) == array.dtype.itemsize
        fitted = replace(codec, typesize=new.itemsize) if suits else codec
        changes["compressors"].append(fitted)
    if array.metadata.fill_value_undefined:
        return changes
    try:
        changes["fill_value"] = as_dtype(np.asarray(array.fill_value), new)[()]
    except ValueError:
        changes["fill_value"] = None
    return changes


def _subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield all subsets of names, the smallest first."""
    for count in range(len(names) + 1):
        yield from combinations(names, count)


def _may_help(error: Exception) -> bool:
    """Whether another layout may be supported after an error."""
    if not isinstance(error, MetadataError):
        return True
    fixed = ("/data_type", "/attributes", "/shape", "/dimension_names", "/chunk_key_encoding")
    return not any(problem.pointer.startswith(fixed) for problem in error.problems)


def missing_chunks_agree(old: Array, new: Array, *, undefined: bool) -> bool:
    """Whether missing chunks have bitwise identical values.

    ``undefined`` tells whether the new array has the default of the data type, which is also used
    if the fill value of the old one is undefined.
    """
    if old.metadata.fill_value_undefined:
        return undefined
    return same_fill_value(old.stored.resolved.fill_value, new.stored.resolved.fill_value)


def _notes(
    array: Array,
    candidate: ArrayMetadata,
    relaxed: set[str],
    fill_changed: bool,
    *,
    is_requested: bool,
) -> Iterator[str]:
    """Yield descriptions of changes that were not requested."""
    old, new = array.metadata.codecs, candidate.codecs
    if (not is_requested or relaxed - {"fill_value", "chunks"}) and not same_codecs(old, new):
        names = _names(new)
        more = " with another configuration" if names == _names(old) else ""
        yield f"the codecs {_names(old)} become {names}{more}"
    if "filters" in relaxed and _values_may_change(array):
        yield "filters are removed: stored values keep their changes, new values are not filtered"
    if "chunks" in relaxed:
        yield f"the chunk grid becomes {candidate.chunk_grid.to_json()}"
    if "fill_value" in relaxed and fill_changed:
        yield (
            f"the fill value {array.fill_value} becomes the default; chunks that are not "
            "stored are written"
        )


def _values_may_change(array: Array) -> bool:
    """Whether filters change elements, and not only their order."""
    return any(
        codec.to_configuration().keys() != {"order"}
        for codec in array.stored.inner_codecs.array_to_array
    )


def _names(codecs: Sequence[ExtensionDefinition]) -> str:
    """Return the names of codecs, with inner codecs in parentheses."""
    names = []
    for definition in codecs:
        inner = inner_codecs(definition, "codecs")
        names.append(f"{definition.name} ({_names(inner)})" if inner else definition.name)
    return ", ".join(names) or "none"
