"""Copying nodes."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, Literal, overload

from zarr_core import Group, array_from_metadata, open_group, override_extensions
from zarr_core import open as open_node
from zarr_core.errors import NodeExistsError, NodeNameError, NodeTypeError
from zarr_core.extension import ArrayMetadata, Location, NodeNotFoundError, Store
from zarr_core.formats.detect import conflicting_format, format_of_new
from zarr_core.hierarchy.create_node import StoreSnapshot
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.hierarchy.store_path import opened_store
from zarr_core.messages import listed, pluralize, warn
from zarr_core.metadata.attributes import check_attributes
from zarr_core.optional import reporter_for
from zarr_core.strictjson import keep_nonfinite

from zarr_transfer.execute import execute, prepare_destination
from zarr_transfer.keys import chosen, nodes_of
from zarr_transfer.plan import CopyOptions, CopySpec, NodeLocation, is_within_location
from zarr_transfer.planner import plan_nodes
from zarr_transfer.progress import logging_to, summary
from zarr_transfer.unmanaged import note_unmanaged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core import Array
    from zarr_core.extension import Format, ZarrError
    from zarr_core.hierarchy.store_path import StoreLike
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.copy_executor import CopyExecutor, CopyResult
    from zarr_transfer.plan import CopyPlan, IfExists
    from zarr_transfer.progress import Progress


@overload
def copy(
    source: Array | Group,
    dest: StoreLike,
    dest_path: str | None = None,
    *,
    dry_run: Literal[False] = False,
    **options: Any,
) -> Array | Group: ...


@overload
def copy(
    source: Array | Group,
    dest: StoreLike,
    dest_path: str | None = None,
    *,
    dry_run: Literal[True],
    **options: Any,
) -> None: ...


def copy(
    source: Array | Group,
    dest: StoreLike,
    dest_path: str | None = None,
    *,
    overwrite: bool = False,
    if_exists: IfExists = "raise",
    shallow: bool = False,
    without_attrs: bool = False,
    only: Callable[[str], bool] | None = None,
    dry_run: bool = False,
    max_memory: int | None = None,
    verify: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    log: Any = None,
    executor: CopyExecutor | None = None,
    storage_options: Mapping[str, Any] | None = None,
    **layout: Any,
) -> Array | Group | None:
    """Copy an array, or a group with everything below it.

    Parameters
    ----------
    source : Array or Group
        The node to copy.
    dest : store-like
        A group, or a location in any store.
    dest_path : str, optional
        Path of the copy below ``dest``.  By default the name of the source if ``dest`` is a
        group; otherwise empty, and the copy becomes the root.
    overwrite : bool
        Whether an existing node is removed first, with everything below it.
    if_exists : {"raise", "replace", "skip", "skip_initialized"}
        For existing nodes: raise an error; replace arrays, and keep other members of groups; keep
        arrays, and copy what is missing; or keep arrays of which all chunks are stored, and
        replace others.
    shallow : bool
        Copy the arrays directly below a group, and no groups.
    without_attrs : bool
        Do not copy attributes.
    only : callable, optional
        Takes the path of a node below the source; returns whether it is copied.  Parent groups
        of copied nodes are copied, too.
    dry_run : bool
        Write nothing; only write to ``log`` what would be copied.
    max_memory : int, optional
        Maximum memory in bytes if arrays are decoded; an error if it is too small.  By default
        64 MiB of elements, or one chunk or shard if it is larger, and some chunks.
    verify : bool
        Whether elements that are decoded and encoded are read back and compared, bit by bit.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True shows a line on standard error.
    log : callable, path or file, optional
        Receives a line for each node.
    executor : CopyExecutor, optional
        Runs the tasks, such as the workers of a cluster (zarr-dask); by default the threads of
        this process.
    storage_options : mapping, optional
        Further arguments for the store if ``dest`` is a URL.
    **layout
        Arguments of :func:`create_array`, such as ``chunks`` and ``compressors``.  If any is
        passed, arrays are decoded and encoded in the format of the destination.

    Returns
    -------
    Array or Group
        The copy; None for a dry run.

    Raises
    ------
    NodeExistsError
        If the destination exists, or is within the source, or has another format and no layout
        is passed.
    NodeNotFoundError
        If the source has been removed, or ``only`` selects no node.
    ElementsDifferError
        If elements cannot be represented in the data type, or the verification fails.

    Notes
    -----
    Without a layout, chunks and metadata are copied unchanged, even if codecs are unknown.

    The metadata of an array is written after its chunks, and that of a group after its members,
    so visible nodes are complete.  A store that requires metadata first (a member of
    ``Store.traits``), such as a session of Icechunk, receives it first; if the copy fails, it is
    removed.

    The same call resumes an interrupted copy: existing values are compared, and copied if they
    differ.  If arrays are decoded, pass ``if_exists="skip"`` to resume: complete arrays are kept,
    and chunks of the interrupted array by its checkpoint (key ``.copying``).

    If the chunks do not nest, such as rows and columns, an intermediate array is stored next to the
    copy and removed at the end.

    Unmanaged keys, such as a text file next to an array, are copied, too; if arrays are decoded,
    they are not copied, with a warning.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> array = zarr.create_array("a.zarr", data=[1, 2, 3])
    >>> zarr.copy(array, "b.zarr")[...]
    array([1, 2, 3])
    """
    options = CopyOptions(
        overwrite=overwrite, if_exists=if_exists, shallow=shallow, without_attrs=without_attrs,
        only=only, dry_run=dry_run, max_memory=max_memory, verify=verify, progress=progress, log=log,
        executor=executor, layout=layout,
    )  # fmt: skip
    _check_decodes(options)
    check_source(source)
    dest_path = dest_path_of(source, dest, dest_path)
    with opened_store(dest, dest_path, storage_options=storage_options) as (store, path):
        metadata = read_source(source)
        replaces = overwrite or if_exists in ("replace", "skip_initialized")
        format_ = dest.stored.format if isinstance(dest, Node) else None
        spec = spec_of(source, store, path, format_, layout, overwrite=replaces, snapshot=True)
        if spec.dest.is_within(spec.source) or (replaces and spec.source.is_within(spec.dest)):
            raise NodeExistsError(
                spec.dest.location(), f"the copy and its source {source.name!r} would overlap"
            )
        nodes = _nodes(source, spec.source, metadata, options)
        if not nodes:
            everything = _nodes(source, spec.source, metadata, replace(options, only=None))
            raise NodeNotFoundError(
                source.stored.location,
                f"only selects none of the nodes {listed([node_path for node_path, _ in everything])}",
            )
        plan, done, made = _copy(source, spec, nodes, options)
    if dry_run:
        return None
    if isinstance(dest, Node):
        dest.stored.record(removed=[path], changed=made)
    opening: Any = {
        "path": path,
        "zarr_format": spec.dest.format_.name,
        "extensions": source.stored.extensions,
    }
    new = plan.steps[0].metadata
    if isinstance(new, ArrayMetadata) and done.copied and not layout:
        return array_from_metadata(store, new, **opening)  # as stored: saves a request
    copied = open_node(store, "r+", **opening)
    if done.skipped:  # consolidated metadata of an existing group may lack the new nodes
        copied.stored.record(changed=made)
    return copied


def copy_all(
    source: Group,
    dest: StoreLike,
    *,
    storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> CopyResult:
    """Copy all members of a group into another, and its attributes; see :func:`copy`.

    Parameters
    ----------
    source : Group
        The group whose members are copied.
    dest : store-like
        A group, or a location of an existing or new group.
    storage_options : mapping, optional
        Further arguments for the store if ``dest`` is a URL.
    **options
        As for :func:`copy`.  Pass ``if_exists="skip"`` to resume an interrupted copy.

    Returns
    -------
    copied, skipped : int
        Numbers of nodes.
    nbytes : int
        Bytes that were stored, without metadata; 0 if arrays are decoded.

    Raises
    ------
    NodeTypeError
        If ``source`` is not a group, or there is an array at the destination.
    NodeExistsError
        If one of the members exists, before anything is copied.
    """
    checked = CopyOptions.from_arguments(options)
    _check_decodes(checked)
    check_source(source)
    if not isinstance(source, Group):
        raise NodeTypeError(source.stored.location, "is an array, not a group; copy it with copy()")
    if isinstance(dest, Node) and not isinstance(dest, Group):
        raise NodeTypeError(dest.stored.location, "is an array, which cannot have members")
    with opened_store(dest, storage_options=storage_options) as (store, path):
        metadata = read_source(source)
        format_ = dest.stored.format if isinstance(dest, Node) else None
        spec = spec_of(source, store, path, format_, checked.layout)
        nodes = [node for node in _nodes(source, spec.source, metadata, checked) if node[0]]
        within = spec.dest.is_within(spec.source)
        same = within and spec.source.is_within(spec.dest)
        for member, _ in nodes if within else ():
            origin = spec.source.at(member)
            if same or is_within_location(store, path, source.store, origin):
                raise NodeExistsError(
                    spec.dest.location(member),
                    f"the copy and its source {'/' + origin!r} would overlap",
                )
        if checked.dry_run:
            return _copy(source, spec, nodes, checked)[1]
        target = dest
        attributes = {} if checked.without_attrs else metadata.attributes
        if spec.same_format:  # stored NaN is kept
            attributes = keep_nonfinite(attributes)
        with Rollback() as rollback:
            if not isinstance(target, Group):
                with rollback.nested():
                    target = open_group(store, "a", path=path, zarr_format=spec.dest.format_.name)
            target.stored.check_writable()
            attributes = check_attributes(attributes, target.stored.location)
            _, done, made = _copy(source, spec, nodes, checked)
            target.stored.record(removed=made, changed=made)
            if attributes:
                target.attrs.update(attributes)
    return done


def _copy(
    source: Array | Group,
    spec: CopySpec,
    nodes: list[tuple[str, NodeMetadata | ZarrError]],
    options: CopyOptions,
) -> tuple[CopyPlan, CopyResult, list[str]]:
    """Copy nodes; return the plan, the numbers, and the paths of all new nodes."""
    with logging_to(options.log) as line, override_extensions(source.stored.extensions):
        plan = plan_nodes(spec, nodes, options)
        for step in plan.steps:
            shape = f" {step.metadata.shape}" if isinstance(step.metadata, ArrayMetadata) else ""
            verb = "skip" if step.cost == "nothing" else "copy"
            line(f"{verb} /{spec.source.at(step.path)}{shape}")
            for note in step.notes:
                line(f"note: /{spec.source.at(step.path)}: {note}")
        if options.layout and not options.is_partial:
            _warn_unmanaged(plan, line)
        done = plan.result()
        made: list[str] = []
        if not options.dry_run:
            with (
                Rollback() as rollback,
                reporter_for(options.progress, plan.parts) as reporter,
            ):
                made = prepare_destination(plan, rollback, 'copy again with if_exists="skip"')
                done = execute(plan, reporter, rollback)
            made += (spec.dest.at(step.path) for step in plan.steps)
        line(summary(done, dry_run=options.dry_run))
    return plan, done, made


def check_source(source: object) -> None:
    """Raise NodeTypeError if the source is not an array or group, but, for example, a path."""
    if not isinstance(source, Node):
        shown = brief(source)
        unopened = isinstance(source, str | PathLike | Store)
        advice = f"pass zarr_core.open({shown})" if unopened else "pass what zarr_core.open returns"
        raise NodeTypeError(shown, f"the source must be an array or a group; {advice}")


def read_source(source: Array | Group) -> NodeMetadata:
    """Return the stored metadata of the source; raise NodeNotFoundError if it was removed."""
    metadata = source.stored.format.read(source.store, source.path)
    if metadata is None:
        raise NodeNotFoundError(source.stored.location, "the node to copy has been removed")
    return metadata


def spec_of(
    source: Array | Group,
    store: Store,
    path: str,
    format_: Format | None,
    layout: Mapping[str, Any],
    *,
    overwrite: bool = False,
    snapshot: bool = False,
) -> CopySpec:
    """Return the specification of a copy; without a layout, the formats must be the same."""
    own = source.stored.format
    origin = NodeLocation(source.store, source.path, own)
    seen = StoreSnapshot.before_creation(store, path, own, of_node=True) if snapshot else store
    if layout:
        name = layout.get("zarr_format", format_.name if format_ is not None else None)
        return CopySpec(origin, NodeLocation(store, path, format_of_new(seen, path, name), seen))
    other = format_ if format_ is not None and format_.name != own.name else None
    parent = path.rpartition("/")[0]
    for candidate in dict.fromkeys((parent, "") if overwrite else (path, parent, "")):
        if other is None and (path or not overwrite) and own.read(seen, candidate) is None:
            other = conflicting_format(seen, candidate, own)
    if other is not None:
        raise NodeExistsError(
            Location(store, path),
            f"{source.stored.location} is of the format {own.name}, which does not go into a hierarchy of "
            f"{other.name} as it is stored: bring it there with zarr_transfer.convert, "
            "or say how chunks are to be stored, as in "
            'chunks="auto", serializer="auto", to have them decoded',
        )
    return CopySpec(origin, NodeLocation(store, path, own, seen))


def dest_path_of(source: Array | Group, dest: object, dest_path: str | None) -> str | None:
    """Return the path below the destination, by default the name of the source in a group."""
    if isinstance(dest, Node):
        dest.stored.check_writable()
        dest_path = dest_path or source.basename
        if not dest_path:
            raise NodeNameError("''", "the root has no name; pass dest_path")
    return dest_path


def _nodes(
    source: Array | Group,
    side: NodeLocation,
    metadata: NodeMetadata,
    options: CopyOptions,
) -> list[tuple[str, NodeMetadata | ZarrError]]:
    """Return the relative paths and metadata of the nodes to copy, parents first."""
    children = None
    if isinstance(source, Group) and not side.store.supports_listing:
        children = source.stored.children  # only consolidated metadata lists them
    max_depth = 0 if options.shallow else None
    nodes = list(nodes_of(side, metadata, max_depth=max_depth, children=children))
    if options.shallow:
        nodes[1:] = [node for node in nodes[1:] if isinstance(node[1], ArrayMetadata)]
    return nodes if options.only is None else chosen(nodes, options.only)


def _check_decodes(options: CopyOptions) -> None:
    """Reject options for decoding if nothing is decoded."""
    if (options.verify or options.max_memory is not None) and not options.layout:
        raise ValueError(
            "verify and max_memory apply only if arrays are decoded; pass a layout too, such as "
            'chunks="auto"'
        )


def _warn_unmanaged(plan: CopyPlan, line: Callable[[str], object]) -> None:
    """Warn about keys and nodes of other formats, which are not copied if arrays are decoded."""
    steps = [replace(step, notes=()) for step in plan.steps]
    notes = [
        f"/{plan.source.at(step.path)}: {note}"
        for step in note_unmanaged(plan.spec, steps)
        for note in (*step.notes, *(problem.message for problem in step.problems))
    ]
    for note in notes:
        line(f"note: {note}")
    if notes:
        more = f", and {pluralize(len(notes) - 1, 'other note')}" if notes[1:] else ""
        warn(f"{notes[0]}{more}; log= lists all, copy_store copies all keys")
