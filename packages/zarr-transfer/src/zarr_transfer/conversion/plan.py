"""Plans of conversions."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, override_extensions, resolve_store_path
from zarr_core.errors import ExtensionError, MetadataError, NodeExistsError
from zarr_core.extension import ArrayMetadata, GroupMetadata, ValidationProblem, ZarrError
from zarr_core.tools import (
    check_reserved_names,
    format_named,
    formats_without,
    is_within_location,
    read_node,
    strictjson,
)

from zarr_transfer.conversion.chunk_keys import may_collide
from zarr_transfer.conversion.conventions import dimension_names
from zarr_transfer.conversion.estimate import costed
from zarr_transfer.conversion.plan_array import choose
from zarr_transfer.conversion.requested_layout import ConversionOptions, is_by_name, is_keep
from zarr_transfer.conversion.steps import ConversionPlan, ConversionStep
from zarr_transfer.conversion.substitutions import plain_floats, storable
from zarr_transfer.conversion.to_format import express_group, problems_of
from zarr_transfer.conversion.unmanaged import with_unmanaged
from zarr_transfer.errors import ConversionError
from zarr_transfer.memory import Memory, plan_rechunk
from zarr_transfer.spec import NodeLocation, is_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.extension import Format, Store
    from zarr_core.tools import ConsolidatedMetadata, NodeMetadata

    from zarr_transfer.conversion.requested_layout import RequestedLayout


def plan_conversion(
    source: Any,
    dest: Any = None,
    *,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> ConversionPlan:
    """Return what :func:`convert` would do with each node, and all problems.

    Nothing is written.  Chunks are not read; they are counted by listing if an array has few.

    Parameters
    ----------
    source, dest, extensions, **options
        As for :func:`convert`; without ``on_error``, ``dry_run``, ``progress``, ``log`` and
        ``executor``.

    Returns
    -------
    ConversionPlan
        ``print`` shows it as text; ``problems`` is empty if the conversion is possible.

    Raises
    ------
    NodeNotFoundError
        If there is no node at the source.
    UnknownExtensionError
        If a format is not installed.
    NodeNameError
        If the format reserves the name of the destination, and no node has it yet.
    """
    with override_extensions(extensions) if extensions else nullcontext():
        return _plan(source, dest, ConversionOptions(**options))


def _plan(source: Any, dest: Any, options: ConversionOptions) -> ConversionPlan:
    memory = Memory(options.max_memory, 1 + options.verify + (not is_keep(options.dtype)))
    from_store, from_path = resolve_store_path(
        source, options.source_path, storage_options=options.storage_options
    )
    to_store, to_path = from_store, from_path
    if dest is not None or options.dest_path is not None:
        to_store, to_path = resolve_store_path(
            from_store if dest is None else dest, options.dest_path
        )
    to = NodeLocation(to_store, to_path, format_named(options.zarr_format))
    beside = to.store == from_store and to.path == from_path
    avoid = to.format_.name if beside and options.source_format is None else None
    format_, root = _source(from_store, from_path, options.source_format, avoid)
    origin = NodeLocation(from_store, from_path, format_)
    if to.format_.is_reserved(to_path.rpartition("/")[2]) and not to.has(to.format_):
        check_reserved_names(to.format_, [to_path], from_path.split("/"))
    roots = _other_roots(to)
    steps = []
    for below, found in nodes(origin, root):
        step = _step(origin, to, below, found, options.requested(below))
        if not step.problems:
            step = _compare_with_destination(origin, to, step, options.overwrite, roots)
        if step.cost == "recode" and not step.problems:
            step = _check_memory(origin, to, step, memory)
        steps.append(step)
    steps = list(with_unmanaged(origin, to, steps))
    more = (
        *_general_problems(origin, to, options.overwrite, options.remove_source),
        *_unknown_names(options, steps),
    )
    if steps and more:
        steps[0] = replace(steps[0], problems=(*more, *steps[0].problems))
    return ConversionPlan(
        origin, to, tuple(steps), options.overwrite, options.remove_source, memory
    )


def _source(
    store: Store, path: str, name: int | str | None, avoid: str | None
) -> tuple[Format, NodeMetadata]:
    """Return format and metadata of the source; in place, of the old format."""
    if name is not None or avoid is None:
        return read_node(store, path, name)
    found = [(other, other.read(store, path)) for other in formats_without(avoid)]
    others = [(other, metadata) for other, metadata in found if metadata is not None]
    if len(others) > 1:
        names = ", ".join(other.name for other, _ in others)
        problem = ValidationProblem(
            "", f"has metadata of the formats {names}; select one with source_format"
        )
        raise ConversionError(f"{store} {'/' + path!r} to {avoid}", [problem])
    return others[0] if others else read_node(store, path)


def nodes(
    side: NodeLocation, root: NodeMetadata | None = None
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """Iterate over paths and metadata, or errors, of a node and those below it; parents first.

    If the store cannot list its keys, consolidated metadata is used.

    Parameters
    ----------
    side : NodeLocation
        The node.
    root : ArrayMetadata or GroupMetadata, optional
        Its metadata, if known.
    """
    first = _read(side, "") if root is None else plain_floats(root)
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
    side: NodeLocation, copies: ConsolidatedMetadata
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """Iterate over the nodes in consolidated metadata."""
    for path in sorted(copies.entries, key=lambda path: path.split("/")):
        if not all(map(side.format_.is_valid_name, path.split("/"))):
            continue  # not a valid path
        where = f"{side.where()} consolidated metadata of {path!r}"
        try:
            yield path, plain_floats(side.format_.from_json(copies.entries[path], where))
        except (MetadataError, ExtensionError) as error:
            yield path, error


def _read(side: NodeLocation, path: str) -> NodeMetadata | ZarrError | None:
    try:
        found = side.format_.read(side.store, side.at(path))
        return None if found is None else plain_floats(found)
    except (MetadataError, ExtensionError) as error:
        return error


def _step(
    source: NodeLocation,
    dest: NodeLocation,
    path: str,
    found: NodeMetadata | ZarrError,
    asked: RequestedLayout,
) -> ConversionStep:
    """Return the step for a node, without regard to the destination."""
    if isinstance(found, ArrayMetadata):
        return costed(source, dest, path, found, choose(source, dest, path, found, asked))
    if not isinstance(found, GroupMetadata):
        problem = ValidationProblem("", f"cannot be read: {found}")
        return ConversionStep(path, "array", "nothing", problems=(problem,))
    if source.format_.name == dest.format_.name:
        kept, notes = storable(dest.format_, found.replace(consolidated=None))
        if found.consolidated is not None:
            notes.append("consolidated metadata is not copied; consolidate again")
        return ConversionStep(
            path, "group", "document", notes=tuple(notes), source_metadata=found, metadata=kept
        )
    try:
        metadata, notes = express_group(source, dest, path, found)
    except MetadataError as error:
        return ConversionStep(
            path, "group", "nothing", problems=problems_of(error), source_metadata=found
        )
    return ConversionStep(
        path, "group", "document", notes=tuple(notes), source_metadata=found, metadata=metadata
    )


def _other_roots(dest: NodeLocation) -> dict[str, bytes]:
    """Return the documents of other formats at the root, which may determine the format of a store."""
    if not dest.format_.implicit_groups:
        return {}
    keys = {key for other in formats_without(dest.format_.name) for key in other.documents("")}
    found = ((key, dest.store.get(key)) for key in sorted(keys))
    return {key: bytes(value) for key, value in found if value is not None}


def _compare_with_destination(
    source: NodeLocation,
    dest: NodeLocation,
    step: ConversionStep,
    overwrite: bool,
    roots: dict[str, bytes],
) -> ConversionStep:
    """Return the step after comparing it with the destination."""
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
        return replace(step, problems=(ValidationProblem("", error.reason),))
    except ZarrError as error:
        return replace(step, problems=problems_of(error))
    try:
        there = dest.read(step.path)
    except MetadataError as error:
        message = f"the node at the destination cannot be read: {error}"
        return step if overwrite else replace(step, problems=(ValidationProblem("", message),))
    if there is None:
        # Two formats may use the same key for metadata.
        main = format_.documents(at)[0]
        if dest.store.exists(main) and (beside or not overwrite):
            message = f"{main!r} exists and is not a metadata document of {format_.name}"
            return replace(step, problems=(ValidationProblem("", f"{message}; use another dest"),))
        return step
    if overwrite:
        return step
    if _equal(format_, there, step.metadata):
        return replace(step, cost="nothing", chunks=0, nbytes=0)
    if isinstance(there, GroupMetadata) and there.consolidated is not None:
        bare = there.replace(consolidated=None, document=None)
        if _equal(format_, bare, step.metadata.replace(document=None)):
            note = "consolidated metadata is unchanged; consolidate again"
            return replace(step, cost="nothing", notes=(*step.notes, note))
    if isinstance(step.metadata, GroupMetadata) and is_bare(there):
        return step
    message = "another node exists at the destination; pass overwrite=True to remove it first"
    return replace(step, problems=(ValidationProblem("", message),))


def _check_memory(
    source: NodeLocation, dest: NodeLocation, step: ConversionStep, memory: Memory
) -> ConversionStep:
    """Return a step that decodes an array, with a problem if it needs too much memory.

    It has a note if chunks are decoded several times, or an intermediate array is used.
    """
    old, new = (
        source.open_array(step.path, step.source_metadata, read_only=True),
        dest.open_array(step.path, step.metadata),
    )
    try:
        rechunking = plan_rechunk(old, new, memory)
    except ValueError as error:
        return replace(step, problems=(ValidationProblem("", str(error)),))
    if rechunking.between is not None:
        note = (
            "uses an intermediate array beside the result, as large as the array, since memory is "
            "too small for chunks of both layouts; more memory may avoid it"
        )
        return replace(step, notes=(*step.notes, note))
    times = rechunking.stages[0].decodings
    if times < _OFTEN:
        return step
    note = f"each chunk is decoded {times:.0f} times; more memory reduces this"
    return replace(step, notes=(*step.notes, note))


_OFTEN = 2.0  # decodings of a chunk from which there is a note


def _not_beside(
    source: NodeLocation, dest: NodeLocation, step: ConversionStep
) -> ValidationProblem | None:
    """Return why a conversion in place is not possible; None if it is."""
    if step.cost == "recode":
        return ValidationProblem(
            "", "chunks must be decoded, which is not supported in place; pass a dest"
        )
    if step.cost == "copy" and (
        source.format_.name == dest.format_.name or may_collide(source, dest, step)
    ):
        return ValidationProblem("", "new keys of chunks may be old keys of others; pass a dest")
    return None


def is_bare(metadata: NodeMetadata) -> bool:
    """Whether metadata is that of a group without attributes, as parent groups are created."""
    return isinstance(metadata, GroupMetadata) and not (
        metadata.attributes or metadata.additional_fields or metadata.consolidated
    )


def _equal(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two documents are identical."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _general_problems(
    source: NodeLocation, dest: NodeLocation, overwrite: bool, remove_source: bool
) -> Iterator[ValidationProblem]:
    """Iterate over problems of the whole conversion."""
    beside = is_in_place(source, dest)
    if dest.store.read_only:
        yield ValidationProblem("", f"{dest.store} is open for reading only")
    if remove_source and source.store.read_only:
        yield ValidationProblem(
            "", f"{source.store} is open for reading only; nothing can be removed"
        )
    if beside:
        return
    if _overlap(source, dest):
        yield ValidationProblem("", "source and destination overlap; use another dest_path")
    parents = dest.path.split("/")[:-1]
    for depth in range(len(parents) + 1 if dest.path else 0):
        ancestor = "/".join(parents[:depth])
        if isinstance(dest.format_.read(dest.store, ancestor), ArrayMetadata):
            yield ValidationProblem(
                "", f"the destination is below {'/' + ancestor!r}, which is an array"
            )
    for other in formats_without(dest.format_.name):
        if dest.has(other):
            yield ValidationProblem(
                "", f"the destination has a node of the format {other.name}; remove it"
            )
    if overwrite and (key := dest.format_.unmanaged_key(dest.store, dest.path)):
        yield ValidationProblem(
            "", f"overwriting would remove {key!r}, which is not part of a node"
        )
    if remove_source and (key := source.format_.unmanaged_key(source.store, source.path)):
        yield ValidationProblem(
            "", f"removing the source would remove {key!r}, which is not part of a node"
        )


def _unknown_names(
    asked: RequestedLayout, steps: list[ConversionStep]
) -> Iterator[ValidationProblem]:
    """Iterate over problems for dimension names that no array has."""
    arrays = [it.source_metadata for it in steps if isinstance(it.source_metadata, ArrayMetadata)]
    known = {name for array in arrays for name in dimension_names(array)}
    for what, given in (("chunks", asked.chunks), ("shards", asked.shards)):
        for name in given if is_by_name(given) else ():
            if name not in known:
                there = ", ".join(sorted(map(repr, known - {None}))) or "none"
                yield ValidationProblem(
                    "", f"{what}: no dimension has the name {name!r}; existing names: {there}"
                )


def _overlap(source: NodeLocation, dest: NodeLocation) -> bool:
    return any(
        is_within_location(inner.store, inner.path, outer.store, outer.path)
        for inner, outer in ((source, dest), (dest, source))
    )
