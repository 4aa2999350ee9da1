"""Copying nodes from one place to another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from zarr_core.copying.log import logging_to, summary
from zarr_core.copying.recoding import recode
from zarr_core.errors import NodeExistsError, NodeNameError, NodeNotFoundError, NodeTypeError
from zarr_core.formats.detect import format_of_new, rival
from zarr_core.hierarchy.briefly import briefly
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.interfaces.progress import Reporter
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.stores.nesting import lies_within
from zarr_core.transfer.plan import Copied, execute, make_places, plan
from zarr_core.transfer.source import Ends, chosen, nodes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.carrier import Carrier
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.progress import Progress
    from zarr_core.interfaces.store import Store
    from zarr_core.transfer.plan import IfExists
    from zarr_core.transfer.values import Compare


@overload
def copy(
    source: Array | Group,
    dest: StoreLike,
    name: str | None = None,
    *,
    dry_run: Literal[False] = False,
    **options: Any,
) -> Array | Group: ...


@overload
def copy(
    source: Array | Group,
    dest: StoreLike,
    name: str | None = None,
    *,
    dry_run: Literal[True],
    **options: Any,
) -> None: ...


def copy(
    source: Array | Group,
    dest: StoreLike,
    name: str | None = None,
    *,
    overwrite: bool = False,
    if_exists: IfExists = "raise",
    shallow: bool = False,
    without_attrs: bool = False,
    only: Callable[[str], bool] | None = None,
    compare: Compare = "content",
    dry_run: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    log: Any = None,
    carrier: Carrier | None = None,
    **layout: Any,
) -> Array | Group | None:
    """Copy an array, or a group with everything below it.

    Parameters
    ----------
    source : Array or Group
        What to copy.
    dest : store-like
        Where to: a group, or any other place, in any store.
    name : str, optional
        Path of the copy below that place.  By default the name of the source if
        ``dest`` is a group, else none: the copy becomes the root.
    overwrite : bool
        Whether a node that is there already is removed first, with all below it.
    if_exists : {"raise", "replace", "skip"}
        What to do about nodes that are there: refuse to copy; put copies in the place of
        arrays and keep other members of groups; or leave arrays as they are and copy
        what is missing.
    shallow : bool
        Copy the arrays directly below a group, and no groups.
    without_attrs : bool
        Leave the attributes out.
    only : callable, optional
        Takes the path of a node, below the source, and says whether it is copied.  Groups
        that lead to one that is are copied with it, everything else is left out.
    compare : {"content", "size"}
        When a value that an interrupted copy has left is not copied again: if it has
        the same bytes, or if it has as many, which is faster and not certain.
    dry_run : bool
        Only find out, and write to ``log``, what would be done.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a line on
        standard error.
    log : callable, path or file, optional
        Takes a line for each node.
    carrier : Carrier, optional
        Who moves chunks or elements, such as the workers of a cluster (zarr-dask); by
        default the threads of this process.
    **layout
        Arguments of :func:`create_array`, such as ``chunks`` and ``compressors``.  If there
        are any, arrays are decoded and written anew, in the format of the destination.

    Returns
    -------
    Array or Group
        The copy; None of a dry run.

    Raises
    ------
    NodeExistsError
        If there is something already, or the copy would lie within its source, or
        the destination has another format and nothing is said about the layout.
    NodeNotFoundError
        If the source has been removed.

    Notes
    -----
    Chunks are copied as bytes and documents as they are: nothing is decoded, so
    arrays whose codecs nobody here knows are copied as well.  Of stores with latency as
    many values are on their way at once as they want requests in flight.

    The document of an array comes after its chunks, that of a group after its members,
    so what can be seen is complete.  A copy that was interrupted is continued by the
    same call: values that are there are compared, and copied only if they differ.  If
    arrays are decoded, give ``if_exists="skip"``, and those that are done are left.
    """
    if not isinstance(source, Node):
        raise NodeTypeError(repr(source), "is no array or group; give zarr_core.open of it")
    _check(if_exists, compare, overwrite, carrier)
    if isinstance(dest, Node):
        dest._check_writable()
        name = name or source.basename
        if not name:
            raise NodeNameError("''", "the root has no name; say what the copy is to be called")
    with briefly(dest, name) as (store, path):
        metadata = read_source(source)
        replaces = overwrite or if_exists == "replace"
        if lies_within(store, path, source.store, source.path) or (
            replaces and lies_within(source.store, source.path, store, path)
        ):
            where = f"{store} {'/' + path!r}"
            raise NodeExistsError(where, f"the copy and its source {source.name!r} would overlap")
        format_ = dest._format if isinstance(dest, Node) else None
        ends = ends_of(source, store, path, format_, layout, overwrite=replaces)
        nodes = _nodes(
            ends, source, metadata, only=only, shallow=shallow, without_attrs=without_attrs
        )
        _, made = _copy(
            source, ends, nodes, layout, if_exists, compare, log, progress, carrier,
            overwrite=overwrite, arrays_only=shallow or only is not None, dry_run=dry_run,
        )  # fmt: skip
    if dry_run:
        return None
    if isinstance(dest, Node) and dest._consolidation is not None:
        dest._consolidation.record(gone=[path], there=made)
    return open_node(
        store, "r+", path=path, zarr_format=ends.dest_format.name, extensions=source._extensions
    )


def copy_all(
    source: Group,
    dest: StoreLike,
    *,
    overwrite: bool = False,
    if_exists: IfExists = "raise",
    shallow: bool = False,
    without_attrs: bool = False,
    only: Callable[[str], bool] | None = None,
    compare: Compare = "content",
    dry_run: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    log: Any = None,
    carrier: Carrier | None = None,
    **layout: Any,
) -> Copied:
    """Copy all members of a group into another, and its attributes; see :func:`copy`.

    Parameters
    ----------
    source : Group
        The group whose members are copied.
    dest : store-like
        A group, or a place where there is one or can be one.
    overwrite, if_exists, shallow, without_attrs, only, compare, dry_run, progress, log, carrier, **layout
        As for :func:`copy`.  One that was interrupted is continued by ``if_exists="skip"``,
        as its first members are there.

    Returns
    -------
    copied, skipped : int
        Numbers of nodes.
    nbytes : int
        Bytes that were stored, without documents; 0 where arrays are decoded.

    Raises
    ------
    NodeTypeError
        If ``source`` is no group, or there is an array at the destination.
    NodeExistsError
        If one of the members is there already, before anything is copied.
    """
    if not isinstance(source, Group):
        raise NodeTypeError(repr(source), "is no group; copy an array with copy()")
    if isinstance(dest, Node) and not isinstance(dest, Group):
        raise NodeTypeError(dest._where(), "is an array, and can have no members")
    _check(if_exists, compare, overwrite, carrier)
    with briefly(dest) as (store, path):
        metadata = read_source(source)
        format_ = dest._format if isinstance(dest, Node) else None
        ends = ends_of(source, store, path, format_, layout)
        nodes = _nodes(
            ends, source, metadata, members_only=True, only=only, shallow=shallow,
            without_attrs=without_attrs,
        )  # fmt: skip
        within = lies_within(store, path, source.store, source.path)
        same = within and lies_within(source.store, source.path, store, path)
        for member, _ in nodes if within else ():
            if same or lies_within(store, path, source.store, member):
                where = f"{store} {'/' + ends.target(member)!r}"
                raise NodeExistsError(
                    where, f"the copy and its source {'/' + member!r} would overlap"
                )
        target: Group | None = None
        if not dry_run:
            found = ends.dest_format.name
            if isinstance(dest, Group):
                target = dest
            else:
                target = open_group(store, "a", path=path, zarr_format=found)
            target._check_writable()
        done, made = _copy(
            source, ends, nodes, layout, if_exists, compare, log, progress, carrier,
            overwrite=overwrite, arrays_only=shallow or only is not None, dry_run=dry_run,
        )  # fmt: skip
        if target is not None:
            if target._consolidation is not None:
                target._consolidation.record(gone=made, there=made)
            if metadata.attributes and not without_attrs:
                target.attrs.update(metadata.attributes)
    return done


def _copy(
    source: Array | Group,
    ends: Ends,
    nodes: list[tuple[str, NodeMetadata]],
    layout: Mapping[str, Any],
    if_exists: IfExists,
    compare: Compare,
    log: Any,
    progress: Callable[[Progress], object] | bool | None,
    carrier: Carrier | None,
    *,
    overwrite: bool,
    arrays_only: bool,
    dry_run: bool,
) -> tuple[Copied, list[str]]:
    """Copy nodes; say how many, and the paths of all that are new."""
    with logging_to(log) as line:
        planned = plan(
            ends, nodes, if_exists, overwrite=overwrite, as_stored=not layout,
            arrays_only=arrays_only,
        )  # fmt: skip
        for step in planned.steps:
            word = "skip" if step.action in ("keep", "skip") else "copy"
            shape = f" {step.metadata.shape}" if isinstance(step.metadata, ArrayMetadata) else ""
            line(f"{word} /{step.source}{shape}")
        done, made = planned.counted(), []
        if not dry_run:
            made = make_places(planned)
            if layout:
                recode(planned, source, layout, progress, carrier)
            else:
                reporter = Reporter(progress, 1)
                reporter.begin(ends.dest_path, len(planned.pairs), "keys")
                try:
                    done = execute(planned, compare, reporter, carrier)
                    reporter.end()
                finally:
                    reporter.close()
            made += (step.target for step in planned.steps)
        line(summary(done, dry_run=dry_run))
    return done, made


def _nodes(
    ends: Ends,
    source: Array | Group,
    metadata: NodeMetadata,
    *,
    members_only: bool = False,
    only: Callable[[str], bool] | None,
    shallow: bool,
    without_attrs: bool,
) -> list[tuple[str, NodeMetadata]]:
    """Paths of what is copied, each with the metadata of its copy."""
    # Without listing, consolidated metadata are all that says what there is.
    listed = ends.source.supports_listing or not isinstance(source, Group)
    children = None if listed else source._children  # type: ignore[union-attr]  # it is a group
    nodes = nodes_of(ends, metadata, members_only=members_only, shallow=shallow, children=children)
    if only is not None:
        nodes = chosen(nodes, ends.source_path, only)
    changes: dict[str, Any] = {"attributes": {}} if without_attrs else {}
    changed: list[tuple[str, NodeMetadata]] = []
    for path, found in nodes:
        # Copies of documents that are not copied, or not as they are, would be wrong.
        partly = isinstance(found, GroupMetadata) and (shallow or without_attrs or only is not None)
        more = {"consolidated": None} if partly else {}
        changed.append((path, found.replace(**changes, **more)))
    return changed


def ends_of(
    source: Array | Group,
    store: Store,
    path: str,
    format_: Format | None,
    layout: Mapping[str, Any],
    *,
    overwrite: bool = False,
) -> Ends:
    """Where a copy goes, in which format.

    Parameters
    ----------
    source : Array or Group
        What is copied.
    store, path
        Where to.
    format_ : Format or None
        That of the group which the copy becomes a member of, if it is known.
    layout : mapping
        Not empty if arrays are decoded, so that formats may differ.
    overwrite : bool
        Whether a node at the path itself does not matter.

    Raises
    ------
    NodeExistsError
        If they differ.
    """
    own = source._format
    if layout:
        asked = layout.get("zarr_format", format_.name if format_ is not None else None)
        return Ends(own, source.store, source.path, format_of_new(store, path, asked), store, path)
    other = format_ if format_ is not None and format_.name != own.name else None
    parent = path.rpartition("/")[0]
    for place in dict.fromkeys((parent, "") if overwrite else (path, parent, "")):
        if other is None and (path or not overwrite) and own.read(store, place) is None:
            other = rival(store, place, own)
    if other is not None:
        raise NodeExistsError(
            f"{store} {'/' + path!r}",
            f"{source._where()} is of the format {own.name}, which does not go into a hierarchy of "
            f"{other.name} as it is stored: bring it there with zarr_formats.conversion.convert "
            "(pip install zarr-formats), or say how chunks are to be stored, as in "
            'chunks="auto", to have them decoded',
        )
    return Ends(own, source.store, source.path, own, store, path)


def read_source(source: Array | Group) -> NodeMetadata:
    """The metadata of what is copied, as it is stored now.

    Raises
    ------
    NodeNotFoundError
        If it is gone.
    """
    metadata = source._format.read(source.store, source.path)
    if metadata is None:
        raise NodeNotFoundError(source._where(), "the node to copy has been removed")
    return metadata


def _check(if_exists: str, compare: str, overwrite: bool, carrier: object) -> None:
    if if_exists not in ("raise", "replace", "skip"):
        raise ValueError(f'if_exists must be "raise", "replace" or "skip", not {if_exists!r}')
    if compare not in ("content", "size"):
        raise ValueError(f'compare must be "content" or "size", not {compare!r}')
    if overwrite and if_exists == "skip":
        raise ValueError('overwrite=True removes what if_exists="skip" keeps: give one of them')
    if carrier is not None and not hasattr(carrier, "elements"):
        raise TypeError(f"carrier is a Carrier, such as zarr_dask.Workers(...), not {carrier!r}")
