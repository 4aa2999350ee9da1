"""Unmanaged keys: those that are neither metadata documents nor chunks of nodes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_core.errors import ExtensionError, MetadataError
from zarr_core.extension import ArrayMetadata, GroupMetadata, ValidationProblem
from zarr_core.names import CHECKPOINT_NAME
from zarr_core.registry.resolve import formats_without

from zarr_transfer.keys import ChunkKeys
from zarr_transfer.plan import CopyStep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Format

    from zarr_transfer.plan import CopySpec, NodeLocation

_NUMBER = re.compile("[0-9]+")
_SHOWN = 3  # keys in a note


def note_unmanaged(spec: CopySpec, steps: Sequence[CopyStep]) -> Iterator[CopyStep]:
    """Yield the steps with notes on unmanaged keys, and problems for nodes of other formats."""
    source, dest, in_place = spec.source, spec.dest, spec.in_place
    if not source.store.supports_listing:
        yield from steps
        return
    children: dict[str, set[str]] = {}
    for step in steps:
        children.setdefault(step.path.rpartition("/")[0], set()).add(step.path)
    others = list(formats_without(source.format_.name))
    for step in steps:
        if not isinstance(step.source_metadata, GroupMetadata):
            keys = [] if in_place else _keys_beside_chunks(source, step)
            yield _noted(step, keys)
            continue
        keys, members = _unmanaged(source, step.path, children.get(step.path, set()), others)
        foreign: list[CopyStep] = []
        for path, key in members.items():
            owner = next((other for other in others if source.has(other, path)), None)
            if owner is None:
                keys.append(key)
            elif not (in_place and dest.has(dest.format_, path)):
                foreign.append(_foreign(source, owner, path))
        yield _noted(step, [] if in_place else keys)
        yield from foreign


def _unmanaged(
    side: NodeLocation, group: str, children: set[str], others: Sequence[Format]
) -> tuple[list[str], dict[str, str]]:
    """Return unmanaged keys of a group, and possible other members with their prefixes."""
    keys: list[str] = []
    members: dict[str, str] = {}

    def without_documents(some: Sequence[str], paths: set[str]) -> list[str]:
        documents = {
            key for path in paths for fmt in (side.format_, *others) for key in fmt.documents(path)
        }
        return [key for key in some if key not in documents]

    for prefix in side.format_.prefixes(side.at(group)):
        names, prefixes = side.store.list_dir(prefix)
        for below in prefixes:
            name = below[len(prefix) : -1]
            path = f"{group}/{name}" if group else name
            if path not in children:
                members[path] = below
        # Some formats store the metadata of members next to that of the group.
        if rest := without_documents(sorted(names), {side.at(group)}):
            keys += without_documents(rest, set(map(side.at, children)))
    return keys, members


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
    return CopyStep(
        path, "array" if isinstance(node, ArrayMetadata) else "group", "nothing",
        problems=(ValidationProblem("", message),), source_metadata=node,
    )  # fmt: skip


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
