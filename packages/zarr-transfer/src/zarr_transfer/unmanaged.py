"""Unmanaged keys: those that are neither metadata documents nor chunks of nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import ArrayMetadata, ValidationProblem
from zarr_core.names import CHECKPOINT_NAME
from zarr_core.registry.resolve import formats_without

from zarr_transfer.keys import ChunkKeys
from zarr_transfer.plan import CopyStep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Format, Store

    from zarr_transfer.plan import CopySpec, NodeLocation

_NUMBER = re.compile("[0-9]+")
_SHOWN = 3  # keys in a note


def unmanaged_keys(
    store: Store, format_: Format, groups: Iterable[str], nodes: Sequence[str]
) -> Iterator[list[str]]:
    """Yield for each group the keys and prefixes in it that belong to none of the nodes."""
    documents = {key for path in nodes for key in format_.documents(path)}
    known = documents.union(*map(format_.prefixes, nodes))
    leading = {above for name in known for above in _above(name)}
    for group in groups:
        unmanaged: list[str] = []
        for prefix in format_.prefixes(group):
            keys, prefixes = store.list_dir(prefix)
            unmanaged += [key for key in keys if key not in documents]
            unmanaged += [below for below in prefixes if below not in leading]
        yield unmanaged


def _above(name: str) -> Iterator[str]:
    """Yield all prefixes of a key; for a prefix, including itself."""
    start = name.find("/")
    while start >= 0:
        yield name[: start + 1]
        start = name.find("/", start + 1)


def note_unmanaged(spec: CopySpec, steps: Sequence[CopyStep]) -> Iterator[CopyStep]:
    """Yield the steps with notes on unmanaged keys, and problems for nodes of other formats."""
    source, dest, in_place = spec.source, spec.dest, spec.in_place
    if not source.store.supports_listing:
        yield from steps
        return
    others = list(formats_without(source.format_.name))
    nodes = [source.at(step.path) for step in steps]
    groups = [source.at(step.path) for step in steps if not step.is_array]
    in_groups = unmanaged_keys(source.store, source.format_, groups, nodes)
    for step in steps:
        if step.is_array:
            yield _noted(step, [] if in_place else _keys_beside_chunks(source, step))
            continue
        of_others = {key for fmt in others for key in fmt.documents(source.at(step.path))}
        keys: list[str] = []
        foreign: dict[str, CopyStep] = {}
        for key in next(in_groups):
            name = key.split("/")[-2] if key.endswith("/") else ""
            path = f"{step.path}/{name}" if step.path else name
            owner = next((other for other in others if name and source.has(other, path)), None)
            if owner is None:
                if key not in of_others:
                    keys.append(key)
            elif not (in_place and dest.has(dest.format_, path)):
                foreign[path] = _foreign(source, owner, path)
        yield _noted(step, [] if in_place else keys)
        yield from foreign.values()


def _foreign(source: NodeLocation, format_: Format, path: str) -> CopyStep:
    """Return a step with a problem for a node of another format."""
    try:
        node = format_.read(source.store, source.at(path))
    except (MetadataError, ExtensionError):
        node = None
    message = (
        f"has the format {format_.name}, so it is not a member of a group of {source.format_.name}; "
        f"convert it first, separately: path={source.at(path)!r}, "
        f"source_format={format_.name!r}, zarr_format={source.format_.name!r}"
    )
    return CopyStep(path, node, problems=(ValidationProblem("", message),))


def _keys_beside_chunks(side: NodeLocation, step: CopyStep) -> list[str]:
    """Return keys directly below an array that are neither metadata nor chunks."""
    metadata = step.source_metadata
    if not isinstance(metadata, ArrayMetadata) or metadata.storage_transformers:
        return []
    try:
        chunks = ChunkKeys.of(side, step.path, metadata)
    except (ExtensionError, ValueError):  # reported as a problem
        return []
    at = side.at(step.path)
    documents = {key for fmt in formats_without("") for key in fmt.documents(at)}
    first = chunks.key((0,) * metadata.ndim)[len(chunks.prefix) :].partition("/")[0]
    names, prefixes = side.store.list_dir(chunks.prefix)
    keys = [key for key in names if key not in documents and chunks.chunk_of(key) is None]
    folder = _NUMBER.sub("", first)  # of chunks, without coordinates
    return keys + [p for p in prefixes if _NUMBER.sub("", p[len(chunks.prefix) : -1]) != folder]


def _noted(step: CopyStep, keys: Sequence[str]) -> CopyStep:
    """Return the step with a note on unmanaged keys, if any."""
    keys = [key for key in keys if f"/{CHECKPOINT_NAME}" not in f"/{key}"]
    if not keys:
        return step
    several = ", ".join(map(repr, sorted(keys)[:_SHOWN]))
    more = f" with {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    note = f"unmanaged keys are not copied: {several}{more}"
    return replace(step, notes=(*step.notes, note))
