"""What lies in groups that are converted, as no node of their format."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_core.extension import (
    ArrayMetadata,
    ExtensionError,
    GroupMetadata,
    MetadataError,
    Problem,
    formats_without,
)

from zarr_formats.conversion.chunk_keys import ChunkKeys
from zarr_formats.conversion.steps import Step, is_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import Format

    from zarr_formats.conversion.steps import Side

_NUMBER = re.compile("[0-9]+")
_SHOWN = 3  # keys that a note names
_UNFINISHED = "/.copying"  # what copies that were interrupted leave beside arrays


def with_strangers(source: Side, dest: Side, steps: Sequence[Step]) -> Iterator[Step]:
    """Steps with those for nodes of other formats, which are problems, with notes on other keys.

    Parameters
    ----------
    source, dest : Side
        What is converted, what becomes of it.
    steps : sequence of Step
        One for each node of the source's format.

    Notes
    -----
    A member of another format is no member of the group: who reads the hierarchy does not
    see it.  In place, one that the destination's format has is what it is to become.
    """
    if not source.store.supports_listing:
        yield from steps
        return
    beside = is_in_place(source, dest)
    children: dict[str, set[str]] = {}
    for step in steps:
        children.setdefault(step.path.rpartition("/")[0], set()).add(step.path)
    others = list(formats_without(source.format_.name))
    for step in steps:
        if not isinstance(step.source_metadata, GroupMetadata):
            keys = [] if beside else _beside_chunks(source, step)
            yield _noted(step, keys)
            continue
        keys, members = _strangers(source, step.path, children.get(step.path, set()), others)
        foreign: list[Step] = []
        for path, key in members.items():
            found = next((it for it in others if source.has(it, path)), None)
            if found is None:
                keys.append(key)
            elif not (beside and dest.has(dest.format_, path)):
                foreign.append(_foreign(source, found, path))
        yield _noted(step, [] if beside else keys)
        yield from foreign


def _strangers(
    side: Side, group: str, children: set[str], others: Sequence[Format]
) -> tuple[list[str], dict[str, str]]:
    """Keys in a group that are no documents; what may be other members, each with its prefix."""
    keys: list[str] = []
    members: dict[str, str] = {}

    def without_documents(some: Sequence[str], paths: set[str]) -> list[str]:
        documents = {
            key for path in paths for it in (side.format_, *others) for key in it.documents(path)
        }
        return [key for key in some if key not in documents]

    for prefix in side.format_.prefixes(side.at(group)):
        found, prefixes = side.store.list_dir(prefix)
        for below in prefixes:
            name = below[len(prefix) : -1]
            path = f"{group}/{name}" if group else name
            if path not in children:
                members[path] = below
        # Some formats have the documents of members beside those of the group.
        if rest := without_documents(sorted(found), {side.at(group)}):
            keys += without_documents(rest, set(map(side.at, children)))
    return keys, members


def _foreign(source: Side, format_: Format, path: str) -> Step:
    """The step for a node of another format: there is none."""
    try:
        found = format_.read(source.store, source.at(path))
    except (MetadataError, ExtensionError):
        found = None
    message = (
        f"is of the format {format_.name}, and so no member of a group of {source.format_.name}; "
        f"convert it first, by itself: path={source.at(path)!r}, "
        f"source_format={format_.name!r}, zarr_format={source.format_.name!r}"
    )
    return Step(
        path, "array" if isinstance(found, ArrayMetadata) else "group", "nothing",
        problems=(Problem("", message),), source_metadata=found,
    )  # fmt: skip


def _beside_chunks(side: Side, step: Step) -> list[str]:
    """Keys directly below an array that are neither documents nor chunks."""
    metadata = step.source_metadata
    if not isinstance(metadata, ArrayMetadata) or metadata.storage_transformers:
        return []
    try:
        chunks = ChunkKeys.of(side, step.path, metadata)
    except (ExtensionError, ValueError):  # then it is a problem already
        return []
    at = side.at(step.path)
    documents = {key for it in formats_without("") for key in it.documents(at)}
    first = chunks.key((0,) * metadata.ndim)[len(chunks.prefix) :].partition("/")[0]
    found, prefixes = side.store.list_dir(chunks.prefix)
    keys = [key for key in found if key not in documents and chunks.chunk_of(key) is None]
    folder = _NUMBER.sub("", first)  # of chunks, but for coordinates
    return keys + [it for it in prefixes if _NUMBER.sub("", it[len(chunks.prefix) : -1]) != folder]


def _noted(step: Step, keys: Sequence[str]) -> Step:
    """The step with a note on keys that stay behind, if there are any."""
    keys = [key for key in keys if _UNFINISHED not in f"/{key}"]
    if not keys:
        return step
    several = ", ".join(map(repr, sorted(keys)[:_SHOWN]))
    more = f" with {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    note = f"left behind, as parts of no node: {several}{more}"
    return replace(step, notes=(*step.notes, note))
