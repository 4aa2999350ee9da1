"""Finding out what a conversion would do, without doing it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, locate
from zarr_core import extensions as scope
from zarr_core.extension import (
    ArrayMetadata,
    ExtensionError,
    GroupMetadata,
    MetadataError,
    NodeExistsError,
    Problem,
    ZarrError,
    format_named,
    formats_without,
    lies_within,
    read_node,
    strictjson,
)

from zarr_formats.conversion.asked import KEEP, Asked, is_by_name, is_keep
from zarr_formats.conversion.choosing import choose
from zarr_formats.conversion.chunk_keys import may_collide
from zarr_formats.conversion.conceding import storable
from zarr_formats.conversion.conventions import dimension_names
from zarr_formats.conversion.costing import costed
from zarr_formats.conversion.errors import ConversionError
from zarr_formats.conversion.expressing import express_group, problems_of
from zarr_formats.conversion.memory import opened, planned
from zarr_formats.conversion.steps import Memory, Plan, Side, Step, is_in_place
from zarr_formats.conversion.strangers import with_strangers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from zarr_core.extension import ConsolidatedMetadata, Format, Store

    from zarr_formats.conversion.steps import NodeMetadata


def plan(
    source: Any,
    dest: Any = None,
    *,
    path: str | None = None,
    dest_path: str | None = None,
    zarr_format: int | str = 3,
    source_format: int | str | None = None,
    chunks: Any = KEEP,
    shards: Any = KEEP,
    filters: Any = KEEP,
    compressors: Any = KEEP,
    serializer: Any = KEEP,
    fill_value: Any = KEEP,
    dtype: Any = KEEP,
    chunk_key_encoding: Any = None,
    only: Callable[[str], bool] | None = None,
    overwrite: bool = False,
    remove_source: bool = False,
    max_memory: int | None = None,
    verify: bool = False,
    storage_options: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """Say what :func:`convert` would do to every node, and what is in the way.

    Nothing is written.  Chunks are not read; those of arrays with few of them are
    counted by listing.

    Parameters
    ----------
    source, dest, path, dest_path, zarr_format, source_format
        As for :func:`convert`.
    chunks, shards, filters, compressors, serializer, fill_value, dtype, chunk_key_encoding
        As for :func:`convert`.
    only, overwrite, remove_source, max_memory, verify, storage_options, extensions
        As for :func:`convert`.

    Returns
    -------
    Plan
        ``print`` it to read it; ``problems`` is empty if it can be done.

    Raises
    ------
    NodeNotFoundError
        If there is nothing to convert.
    UnknownExtensionError
        If a format is not installed.
    """
    if extensions:
        given = {name: value for name, value in locals().items() if name != "extensions"}
        with scope(extensions):
            return plan(**given)
    asked = Asked(
        chunks, shards, filters, compressors, serializer, fill_value, dtype, chunk_key_encoding
    )
    others = Asked(chunk_key_encoding=chunk_key_encoding)
    memory = Memory(max_memory, 1 + verify + (not is_keep(dtype)))
    from_store, from_path = locate(source, path, storage_options=storage_options)
    to_store, to_path = from_store, from_path
    if dest is not None or dest_path is not None:
        place = from_store if dest is None else dest
        to_store, to_path = locate(place, dest_path)
    to = Side(to_store, to_path, format_named(zarr_format))
    beside = to.store == from_store and to.path == from_path
    avoid = to.format_.name if beside and source_format is None else None
    format_, root = _source(from_store, from_path, source_format, avoid)
    origin = Side(from_store, from_path, format_)
    roots = _other_roots(to)
    steps = []
    for below, found in nodes(origin, root):
        step = _step(origin, to, below, found, asked if only is None or only(below) else others)
        if not step.problems:
            step = _against_what_is_there(origin, to, step, overwrite, roots)
        if step.cost == "recode" and not step.problems:
            step = _weighed(origin, to, step, memory)
        steps.append(step)
    steps = list(with_strangers(origin, to, steps))
    more = (*_in_the_way(origin, to, overwrite, remove_source), *_unknown_names(asked, steps))
    if steps and more:
        steps[0] = replace(steps[0], problems=(*more, *steps[0].problems))
    return Plan(origin, to, tuple(steps), overwrite, remove_source, memory)


def _source(
    store: Store, path: str, name: int | str | None, avoid: str | None
) -> tuple[Format, NodeMetadata]:
    """The node to convert; in place, its old documents even where there are new ones."""
    if name is not None or avoid is None:
        return read_node(store, path, name)
    found = [(other, other.read(store, path)) for other in formats_without(avoid)]
    others = [(other, metadata) for other, metadata in found if metadata is not None]
    if len(others) > 1:
        names = ", ".join(other.name for other, _ in others)
        problem = Problem("", f"has documents of the formats {names}; choose by source_format")
        raise ConversionError(f"{store} {'/' + path!r} to {avoid}", [problem])
    return others[0] if others else read_node(store, path)


def nodes(
    side: Side, root: NodeMetadata | None = None
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """Paths below a node with metadata, or why they cannot be read; parents first.

    In a store that cannot list, consolidated metadata are what tells of them.

    Parameters
    ----------
    side : Side
        The node.
    root : ArrayMetadata or GroupMetadata, optional
        Its metadata, if they are known.
    """
    first = _read(side, "") if root is None else root
    copies = first.consolidated if isinstance(first, GroupMetadata) else None
    if copies is not None and not side.store.supports_listing:
        assert first is not None
        yield "", first
        yield from _copied(side, copies)
        return
    waiting = [] if first is None else [("", first)]
    while waiting:
        path, metadata = waiting.pop()
        yield path, metadata
        if isinstance(metadata, GroupMetadata):
            names = list(side.format_.child_names(side.store, side.at(path)))
            for name in reversed(names):
                child = f"{path}/{name}" if path else name
                found = _read(side, child)
                if found is not None:
                    waiting.append((child, found))


def _copied(
    side: Side, copies: ConsolidatedMetadata
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """The nodes that consolidated metadata tell of, where nothing else does."""
    for path in sorted(copies.entries, key=lambda path: path.split("/")):
        if not all(map(side.format_.may_be_named, path.split("/"))):
            continue  # who wrote the copies may have written anything
        where = f"{side.where()} consolidated metadata of {path!r}"
        try:
            yield path, side.format_.from_json(copies.entries[path], where)
        except (MetadataError, ExtensionError) as error:
            yield path, error


def _read(side: Side, path: str) -> NodeMetadata | ZarrError | None:
    try:
        return side.format_.read(side.store, side.at(path))
    except (MetadataError, ExtensionError) as error:
        return error


def _step(
    source: Side, dest: Side, path: str, found: NodeMetadata | ZarrError, asked: Asked
) -> Step:
    """What a node becomes, whatever may be at the destination."""
    if isinstance(found, ArrayMetadata):
        return costed(source, dest, path, found, choose(source, dest, path, found, asked))
    if not isinstance(found, GroupMetadata):
        problem = Problem("", f"cannot be read: {found}")
        return Step(path, "array", "nothing", problems=(problem,))
    if source.format_.name == dest.format_.name:
        kept, notes = storable(dest.format_, found.replace(consolidated=None))
        if found.consolidated is not None:
            notes.append("consolidated metadata are left out; consolidate again")
        return Step(
            path, "group", "document", notes=tuple(notes), source_metadata=found, metadata=kept
        )
    try:
        metadata, notes = express_group(source, dest, path, found)
    except MetadataError as error:
        return Step(path, "group", "nothing", problems=problems_of(error), source_metadata=found)
    return Step(
        path, "group", "document", notes=tuple(notes), source_metadata=found, metadata=metadata
    )


def _other_roots(dest: Side) -> dict[str, bytes]:
    """Documents that other formats have at the root, where that says whose a whole store is."""
    if not dest.format_.implicit_groups:
        return {}
    keys = {key for other in formats_without(dest.format_.name) for key in other.documents("")}
    found = ((key, dest.store.get(key)) for key in sorted(keys))
    return {key: bytes(value) for key, value in found if value is not None}


def _against_what_is_there(
    source: Side, dest: Side, step: Step, overwrite: bool, roots: dict[str, bytes]
) -> Step:
    """The step, in view of what is at the destination."""
    format_, at = dest.format_, dest.at(step.path)
    beside = is_in_place(source, dest)
    if beside and (problem := _not_beside(source, dest, step)):
        return replace(step, problems=(problem,))
    if beside and source.format_.name == format_.name:
        return replace(step, cost="nothing", notes=())
    assert step.metadata is not None
    try:
        format_.create(MemoryStore(dict(roots)), at, step.metadata)
    except NodeExistsError as error:
        return replace(step, problems=(Problem("", error.reason),))
    except ZarrError as error:
        return replace(step, problems=problems_of(error))
    try:
        there = dest.read(step.path)
    except MetadataError as error:
        message = f"at the destination is something that cannot be read: {error}"
        return step if overwrite else replace(step, problems=(Problem("", message),))
    if there is None:
        # The document that makes a node, as when two formats call theirs the same.
        main = format_.documents(at)[0]
        if dest.store.exists(main) and (beside or not overwrite):
            message = f"{main!r} is there already and is no document of {format_.name}"
            return replace(step, problems=(Problem("", f"{message}; give another dest"),))
        return step
    if overwrite:
        return step
    if _equal(format_, there, step.metadata):
        return replace(step, cost="nothing", chunks=0, nbytes=0)
    if isinstance(there, GroupMetadata) and there.consolidated is not None:
        bare = there.replace(consolidated=None, document=None)
        if _equal(format_, bare, step.metadata.replace(document=None)):
            note = "has consolidated metadata, which stay as they are; consolidate again"
            return replace(step, cost="nothing", notes=(*step.notes, note))
    if isinstance(step.metadata, GroupMetadata) and is_bare(there):
        return step
    message = (
        "there is another node at the destination already; give overwrite=True to remove it first"
    )
    return replace(step, problems=(Problem("", message),))


def _weighed(source: Side, dest: Side, step: Step, memory: Memory) -> Step:
    """A step that decodes an array, with a problem if that takes too much memory.

    There is a note if chunks are decoded several times, or cut into pieces instead.
    """
    old, new = opened(source, step, read_only=True), opened(dest, step, read_only=False)
    try:
        rechunking = planned(old, new, memory)
    except ValueError as error:
        return replace(step, problems=(Problem("", str(error)),))
    if rechunking.between is not None:
        note = (
            "goes by way of pieces beside the result, which take as much room as the array, "
            "as memory is too little for chunks of both layouts; more memory may spare that"
        )
        return replace(step, notes=(*step.notes, note))
    times = rechunking.stages[0].decodings
    if times < _OFTEN:
        return step
    note = f"each chunk is decoded {times:.0f} times; more memory means fewer"
    return replace(step, notes=(*step.notes, note))


_OFTEN = 2.0  # decodings of a chunk that are worth a note


def _not_beside(source: Side, dest: Side, step: Step) -> Problem | None:
    """Why the new chunks cannot stand beside the old ones."""
    if step.cost == "recode":
        return Problem("", "chunks have to be decoded, which is not done in place; give a dest")
    if step.cost == "copy" and (
        source.format_.name == dest.format_.name or may_collide(source, dest, step)
    ):
        return Problem("", "new keys of chunks may be old keys of others; give a dest")
    return None


def is_bare(metadata: NodeMetadata) -> bool:
    """Whether it is a group that says nothing, as are made to lead to others."""
    return isinstance(metadata, GroupMetadata) and not (
        metadata.attributes or metadata.additional_fields or metadata.consolidated
    )


def _equal(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two documents say the same."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _in_the_way(
    source: Side, dest: Side, overwrite: bool, remove_source: bool
) -> Iterator[Problem]:
    """What concerns the conversion as a whole."""
    beside = is_in_place(source, dest)
    if dest.store.read_only:
        yield Problem("", f"{dest.store} is open for reading only")
    if remove_source and source.store.read_only:
        yield Problem("", f"{source.store} is open for reading only; nothing can be removed")
    if beside:
        return
    if _overlap(source, dest):
        yield Problem("", "source and destination overlap; give another dest_path")
    parents = dest.path.split("/")[:-1]
    for depth in range(len(parents) + 1 if dest.path else 0):
        ancestor = "/".join(parents[:depth])
        if isinstance(dest.format_.read(dest.store, ancestor), ArrayMetadata):
            yield Problem("", f"the destination lies below {'/' + ancestor!r}, which is an array")
    for other in formats_without(dest.format_.name):
        if dest.has(other):
            yield Problem("", f"the destination has a node of the format {other.name}; remove it")
    if overwrite and (key := dest.format_.foreign_key(dest.store, dest.path)):
        yield Problem("", f"overwriting would remove {key!r}, which is part of no node")
    if remove_source and (key := source.format_.foreign_key(source.store, source.path)):
        yield Problem("", f"removing the source would remove {key!r}, which is part of no node")


def _unknown_names(asked: Asked, steps: list[Step]) -> Iterator[Problem]:
    """Lengths for dimensions that no array has, as by a slip of the pen."""
    arrays = [it.source_metadata for it in steps if isinstance(it.source_metadata, ArrayMetadata)]
    known = {name for array in arrays for name in dimension_names(array)}
    for what, given in (("chunks", asked.chunks), ("shards", asked.shards)):
        for name in given if is_by_name(given) else ():
            if name not in known:
                there = ", ".join(sorted(map(repr, known - {None}))) or "none has a name"
                yield Problem("", f"{what}: no dimension is called {name!r}; there: {there}")


def _overlap(source: Side, dest: Side) -> bool:
    return any(
        lies_within(inner.store, inner.path, outer.store, outer.path)
        for inner, outer in ((source, dest), (dest, source))
    )
