"""Plans of conversions."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from zarr_core import MemoryStore, override_extensions, resolve_store_path
from zarr_core.errors import ExtensionError, MetadataError, NodeExistsError
from zarr_core.extension import ArrayMetadata, GroupMetadata, Location, ValidationProblem, ZarrError
from zarr_core.formats.detect import read_node
from zarr_core.hierarchy.create_node import check_reserved_names
from zarr_core.registry.resolve import format_named, formats_without

from zarr_transfer.conventions import dimension_names, follows_convention
from zarr_transfer.errors import ConversionError
from zarr_transfer.execute import is_bare
from zarr_transfer.keys import may_collide
from zarr_transfer.plan import CopyPlan, CopyStep, same_metadata
from zarr_transfer.plan_array import plan_array, rechunk_plan
from zarr_transfer.portable import portable_step, requirement
from zarr_transfer.spec import CopyOptions, CopySpec, NodeLocation, is_within_location
from zarr_transfer.target_layout import RequestedLayout, is_by_name
from zarr_transfer.to_format import (
    group_to_format,
    problems_of,
    storable,
    with_json_floats,
)
from zarr_transfer.unmanaged import note_unmanaged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zarr_core.extension import Format, Store
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.metadata.consolidated import ConsolidatedMetadata


def plan_conversion(
    source: Any,
    dest: Any = None,
    *,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> CopyPlan:
    """Return what :func:`convert` would do with each node, and all problems.

    Nothing is written.  Chunks are not read; they are counted by listing if an array has few.

    Parameters
    ----------
    source, dest, extensions, **options
        As for :func:`convert`.

    Returns
    -------
    CopyPlan
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
        given = {name: options.pop(name) for name in LOCATIONS & options.keys()}
        given["zarr_format"] = format_for(given.get("zarr_format"), options.get("portable"))
        return plan_nodes(*locate(source, dest, **given), CopyOptions.from_arguments(options))


def format_for(zarr_format: int | str | None, portable: str | Sequence[str] | None) -> int | str:
    """Return the format of the result: by default 3, or the newest that the libraries read."""
    if zarr_format is not None:
        return zarr_format
    required = requirement(portable)
    return 3 if required is None else required.zarr_format()


LOCATIONS = {
    "source_path", "dest_path", "zarr_format", "source_format", "storage_options", "dest_storage_options",
}  # fmt: skip
"""Arguments of :func:`locate`."""


def locate(
    source: Any,
    dest: Any,
    *,
    source_path: str | None = None,
    dest_path: str | None = None,
    zarr_format: int | str = 3,
    source_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    dest_storage_options: Mapping[str, Any] | None = None,
) -> tuple[CopySpec, NodeMetadata]:
    """Return the source and the destination of a conversion, and the metadata of the source."""
    from_store, from_path = resolve_store_path(source, source_path, storage_options=storage_options)
    to_store, to_path = from_store, from_path
    if dest is not None or dest_path is not None or dest_storage_options:
        to_store, to_path = resolve_store_path(
            from_store if dest is None else dest, dest_path, storage_options=dest_storage_options
        )
    to = NodeLocation(to_store, to_path, format_named(zarr_format))
    in_place = to.store == from_store and to.path == from_path
    avoid = to.format_.name if in_place and source_format is None else None
    format_, root = _source(from_store, from_path, source_format, avoid)
    if to.format_.is_reserved(to_path.rpartition("/")[2]) and not to.has(to.format_):
        check_reserved_names(to.format_, [to_path], from_path.split("/"))
    return CopySpec(NodeLocation(from_store, from_path, format_), to), root


def plan_nodes(spec: CopySpec, root: NodeMetadata, options: CopyOptions) -> CopyPlan:
    """Return the plan for converting a node with everything below it."""
    requested = RequestedLayout(**options.layout)
    kept = RequestedLayout(chunk_key_encoding=requested.chunk_key_encoding)
    roots = _other_roots(spec.dest)
    required = requirement(options.portable)
    steps = []
    everything = [*nodes(spec.source, root)]
    named = {_parent(below) for below, node in everything if _follows_convention(node)}
    for below, node in everything:
        if not spec.same_format and _parent(below) in named:
            node = _scalar_by_convention(node)
        chosen = options.only is None or options.only(below)
        wanted = requested if chosen else kept
        if required is None:
            step = _step(spec, below, node, wanted)
        else:
            step = portable_step(spec.dest, required, wanted, partial(_step, spec, below, node))
        if not step.problems:
            step = _compare_with_destination(spec, step, options.overwrite, roots)
        if step.cost == "recode" and not step.problems:
            step = _check_memory(spec, step, options)
        steps.append(step)
    steps = list(note_unmanaged(spec, steps))
    more = (*_general_problems(spec, options), *_unknown_names(requested, steps))
    if steps and more:
        steps[0] = replace(steps[0], problems=(*more, *steps[0].problems))
    if steps and options.overwrite and not spec.in_place:
        steps[0] = replace(steps[0], action="replace")
    return CopyPlan(
        spec,
        tuple(steps),
        overwrite=options.overwrite,
        remove_source=options.remove_source,
        is_conversion=True,
    )


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _follows_convention(node: NodeMetadata | ZarrError) -> bool:
    return isinstance(node, ArrayMetadata) and follows_convention(node)


def _scalar_by_convention(node: NodeMetadata | ZarrError) -> NodeMetadata | ZarrError:
    """Return the metadata of a scalar beside arrays with dimension names, of which it has none."""
    if isinstance(node, ArrayMetadata) and not node.ndim and node.dimension_names is None:
        return node.replace(dimension_names=())
    return node


def _source(
    store: Store, path: str, name: int | str | None, avoid: str | None
) -> tuple[Format, NodeMetadata]:
    """Return format and metadata of the source; in place, in the old format."""
    if name is not None or avoid is None:
        return read_node(store, path, name)
    candidates = [(other, other.read(store, path)) for other in formats_without(avoid)]
    others = [(other, metadata) for other, metadata in candidates if metadata is not None]
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
    """Iterate over paths and metadata, or errors, of a node and those below it, parents first."""
    first = _read(side, "") if root is None else with_json_floats(root)
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
                node = _read(side, child)
                if node is not None:
                    waiting.append((child, node))


def _copied(
    side: NodeLocation, copies: ConsolidatedMetadata
) -> Iterator[tuple[str, NodeMetadata | ZarrError]]:
    """Iterate over the nodes in consolidated metadata."""
    for path in sorted(copies.entries, key=lambda path: path.split("/")):
        if not all(map(side.format_.is_valid_name, path.split("/"))):
            continue  # not a valid path
        location = Location(f"{side.location()} consolidated metadata of {path!r}")
        try:
            yield path, with_json_floats(side.format_.from_json(copies.entries[path], location))
        except (MetadataError, ExtensionError) as error:
            yield path, error


def _read(side: NodeLocation, path: str) -> NodeMetadata | ZarrError | None:
    try:
        metadata = side.format_.read(side.store, side.at(path))
        return None if metadata is None else with_json_floats(metadata)
    except (MetadataError, ExtensionError) as error:
        return error


def _step(
    spec: CopySpec, path: str, node: NodeMetadata | ZarrError, requested: RequestedLayout
) -> CopyStep:
    """Return the step for a node, without regard to the destination."""
    if isinstance(node, ArrayMetadata):
        try:
            return plan_array(spec, path, node, requested, counts=True)
        except (ZarrError, ValueError, TypeError) as error:
            problems = problems_of(error)
            return CopyStep(path, "array", "nothing", problems=problems, source_metadata=node)
    if not isinstance(node, GroupMetadata):
        problem = ValidationProblem("", f"cannot be read: {node}")
        return CopyStep(path, "array", "nothing", problems=(problem,))
    try:
        if spec.same_format:
            metadata, notes = storable(spec.dest.format_, node.replace(consolidated=None))
        else:
            metadata, notes = group_to_format(spec, path, node)
    except MetadataError as error:
        return CopyStep(path, "group", "nothing", problems=problems_of(error), source_metadata=node)
    if node.consolidated is not None:
        notes.append("consolidated metadata is not copied; consolidate again")
    return CopyStep(
        path, "group", "document", notes=tuple(notes), source_metadata=node, metadata=metadata
    )


def _other_roots(dest: NodeLocation) -> dict[str, bytes]:
    """Return the documents of other formats at the root, which may determine the format of a store."""
    if not dest.format_.implicit_groups:
        return {}
    keys = {key for other in formats_without(dest.format_.name) for key in other.documents("")}
    values = ((key, dest.store.get(key)) for key in sorted(keys))
    return {key: bytes(value) for key, value in values if value is not None}


def _compare_with_destination(
    spec: CopySpec, step: CopyStep, overwrite: bool, roots: dict[str, bytes]
) -> CopyStep:
    """Return the step after comparing it with the destination."""
    dest, in_place = spec.dest, spec.in_place
    format_, at = dest.format_, dest.at(step.path)
    if in_place and (problem := _not_beside(spec, step)):
        return replace(step, problems=(problem,))
    if in_place and spec.same_format:
        return replace(step, cost="nothing", notes=())
    assert step.metadata is not None
    try:
        format_.create(MemoryStore(dict(roots)), at, step.metadata)
    except NodeExistsError as error:
        return replace(step, problems=(ValidationProblem("", error.reason),))
    except ZarrError as error:
        return replace(step, problems=problems_of(error))
    try:
        existing = dest.read(step.path)
    except MetadataError as error:
        message = f"the node at the destination cannot be read: {error}"
        return step if overwrite else replace(step, problems=(ValidationProblem("", message),))
    if existing is None:
        # Two formats may use the same key for metadata.
        main = format_.documents(at)[0]
        if dest.store.exists(main) and (in_place or not overwrite):
            message = f"{main!r} exists and is not a metadata document of {format_.name}"
            return replace(step, problems=(ValidationProblem("", f"{message}; use another dest"),))
        return step
    if overwrite:
        return step
    if same_metadata(format_, existing, step.metadata):
        return replace(step, cost="nothing", chunks=0, nbytes=0)
    if isinstance(existing, GroupMetadata) and existing.consolidated is not None:
        bare = existing.replace(consolidated=None, document=None)
        if same_metadata(format_, bare, step.metadata.replace(document=None)):
            note = "consolidated metadata is unchanged; consolidate again"
            return replace(step, cost="nothing", notes=(*step.notes, note))
    if isinstance(step.metadata, GroupMetadata) and is_bare(existing):
        return step
    message = "another node exists at the destination; pass overwrite=True to remove it first"
    return replace(step, problems=(ValidationProblem("", message),))


def _check_memory(spec: CopySpec, step: CopyStep, options: CopyOptions) -> CopyStep:
    """Return a step that decodes an array, with a problem or a note on its memory."""
    try:
        rechunking = rechunk_plan(spec, step, options)
    except ValueError as error:
        return replace(step, problems=(ValidationProblem("", str(error)),))
    if rechunking.between is not None:
        note = (
            "uses an intermediate array next to the result, as large as the array, since memory is "
            "too small for chunks of both layouts; more memory may avoid it"
        )
        return replace(step, notes=(*step.notes, note))
    times = rechunking.stages[0].decodings
    if times < _OFTEN:
        return step
    note = f"each chunk is decoded {times:.0f} times; more memory reduces this"
    return replace(step, notes=(*step.notes, note))


_OFTEN = 2.0  # decodings of a chunk from which there is a note


def _not_beside(spec: CopySpec, step: CopyStep) -> ValidationProblem | None:
    """Return why a conversion in place is not possible; None if it is."""
    if step.cost == "recode":
        return ValidationProblem(
            "", "chunks must be decoded, which is not supported in place; pass a dest"
        )
    if step.cost == "copy" and (spec.same_format or may_collide(spec, step)):
        return ValidationProblem("", "new keys of chunks may be old keys of others; pass a dest")
    return None


def _general_problems(spec: CopySpec, options: CopyOptions) -> Iterator[ValidationProblem]:
    """Iterate over problems of the whole conversion."""
    source, dest = spec.source, spec.dest
    if dest.store.read_only:
        yield ValidationProblem("", f"{dest.store} is open for reading only")
    if options.remove_source and source.store.read_only:
        yield ValidationProblem(
            "", f"{source.store} is open for reading only; nothing can be removed"
        )
    if spec.in_place:
        return
    if _overlap(source, dest):
        yield ValidationProblem("", "source and destination overlap; use another dest_path")
    parents = dest.path.split("/")[:-1]
    for depth in range(len(parents) + 1 if dest.path else 0):
        ancestor = "/".join(parents[:depth])
        try:
            above = dest.format_.read(dest.store, ancestor)
        except MetadataError as error:
            yield ValidationProblem(
                "",
                f"the metadata of {'/' + ancestor!r} cannot be read; repair or remove it: {error}",
            )
            continue
        if isinstance(above, ArrayMetadata):
            yield ValidationProblem(
                "", f"the destination is below {'/' + ancestor!r}, which is an array"
            )
    for other in formats_without(dest.format_.name):
        if dest.has(other):
            yield ValidationProblem(
                "", f"the destination has a node of the format {other.name}; remove it"
            )
    for is_removed, side, doing in (
        (options.overwrite, dest, "overwriting"),
        (options.remove_source, source, "removing the source"),
    ):
        if is_removed and (key := side.format_.find_unmanaged_key(side.store, side.path)):
            reason = f"{doing} would remove {key!r}, which is not part of a node"
            yield ValidationProblem("", reason)


def _unknown_names(
    requested: RequestedLayout, steps: list[CopyStep]
) -> Iterator[ValidationProblem]:
    """Iterate over problems for dimension names that no array has."""
    metadata = (step.source_metadata for step in steps)
    arrays = (node for node in metadata if isinstance(node, ArrayMetadata))
    known = {name for array in arrays for name in dimension_names(array)}
    for what, given in (("chunks", requested.chunks), ("shards", requested.shards)):
        for name in given if is_by_name(given) else ():
            if name not in known:
                names = ", ".join(sorted(map(repr, known - {None}))) or "none"
                yield ValidationProblem(
                    "", f"{what}: no dimension has the name {name!r}; existing names: {names}"
                )


def _overlap(source: NodeLocation, dest: NodeLocation) -> bool:
    return any(
        is_within_location(inner.store, inner.path, outer.store, outer.path)
        for inner, outer in ((source, dest), (dest, source))
    )
