"""Copying nodes from one place to another."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, overload

from zarr_core.copying.asked import Asked
from zarr_core.copying.copied import copied_nodes, ends_of, read_source
from zarr_core.copying.log import logging_to, summary
from zarr_core.copying.recoding import drafts, recode
from zarr_core.errors import NodeExistsError, NodeNameError, NodeTypeError
from zarr_core.hierarchy.briefly import briefly
from zarr_core.hierarchy.group import Group
from zarr_core.hierarchy.node import Node
from zarr_core.hierarchy.open import open as open_node
from zarr_core.hierarchy.open import open_group
from zarr_core.interfaces.progress import reporting
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.names import located
from zarr_core.stores.nesting import lies_within
from zarr_core.transfer.executing import execute, make_places
from zarr_core.transfer.left_behind import left_behind
from zarr_core.transfer.planning import plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.hierarchy.array import Array
    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.carrier import Carrier
    from zarr_core.interfaces.format import NodeMetadata
    from zarr_core.interfaces.progress import Progress
    from zarr_core.transfer.ends import Ends
    from zarr_core.transfer.plan import Copied
    from zarr_core.transfer.planning import IfExists
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
    arrays are decoded, give ``if_exists="skip"``: those that are done are left, and of the
    one at which it stopped, the chunks that are there, by a note ``.copying`` beside them.
    Decoding holds 64 MiB of elements, or one stored object if that is more.  Between chunks
    that do not nest, such as rows and columns, an array goes by way of pieces, which are
    stored beside the copy and removed in the end.

    Keys that are part of no node, such as a text beside an array, are copied with the rest;
    not if arrays are decoded, of which there is a warning.
    """
    asked = Asked(
        overwrite=overwrite, if_exists=if_exists, shallow=shallow, without_attrs=without_attrs,
        only=only, compare=compare, dry_run=dry_run, progress=progress, log=log,
        carrier=carrier, layout=layout,
    )  # fmt: skip
    if not isinstance(source, Node):
        raise NodeTypeError(repr(source), "is no array or group; give zarr_core.open of it")
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
            where = located(store, path)
            raise NodeExistsError(where, f"the copy and its source {source.name!r} would overlap")
        format_ = dest._format if isinstance(dest, Node) else None
        ends = ends_of(source, store, path, format_, layout, overwrite=replaces)
        nodes = copied_nodes(ends, source, metadata, asked)
        done, made = _copy(source, ends, nodes, asked)
    if dry_run:
        return None
    if isinstance(dest, Node):
        dest._record(gone=[path], there=made)
    copied = open_node(
        store, "r+", path=path, zarr_format=ends.dest_format.name, extensions=source._extensions
    )
    if done.skipped:  # a group that was there may have copies of documents that lack the new ones
        copied._record(there=made)
    return copied


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
    asked = Asked(
        overwrite=overwrite, if_exists=if_exists, shallow=shallow, without_attrs=without_attrs,
        only=only, compare=compare, dry_run=dry_run, progress=progress, log=log,
        carrier=carrier, layout=layout,
    )  # fmt: skip
    if not isinstance(source, Group):
        raise NodeTypeError(repr(source), "is no group; copy an array with copy()")
    if isinstance(dest, Node) and not isinstance(dest, Group):
        raise NodeTypeError(dest._where(), "is an array, and can have no members")
    with briefly(dest) as (store, path):
        metadata = read_source(source)
        format_ = dest._format if isinstance(dest, Node) else None
        ends = ends_of(source, store, path, format_, layout)
        nodes = copied_nodes(ends, source, metadata, asked, members_only=True)
        within = lies_within(store, path, source.store, source.path)
        same = within and lies_within(source.store, source.path, store, path)
        for member, _ in nodes if within else ():
            if same or lies_within(store, path, source.store, member):
                raise NodeExistsError(
                    located(store, ends.target(member)),
                    f"the copy and its source {'/' + member!r} would overlap",
                )
        if dry_run:
            return _copy(source, ends, nodes, asked)[0]
        target = dest
        if not isinstance(target, Group):
            target = open_group(store, "a", path=path, zarr_format=ends.dest_format.name)
        target._check_writable()
        done, made = _copy(source, ends, nodes, asked)
        target._record(gone=made, there=made)
        if metadata.attributes and not without_attrs:
            target.attrs.update(metadata.attributes)
    return done


def _copy(
    source: Array | Group,
    ends: Ends,
    nodes: list[tuple[str, NodeMetadata]],
    asked: Asked,
) -> tuple[Copied, list[str]]:
    """Copy nodes; say how many, and the paths of all that are new."""
    with logging_to(asked.log) as line:
        planned = plan(
            ends, nodes, asked.if_exists, overwrite=asked.overwrite, as_stored=not asked.layout,
            arrays_only=asked.is_partial,
        )  # fmt: skip
        for step in planned.steps:
            shape = f" {step.metadata.shape}" if isinstance(step.metadata, ArrayMetadata) else ""
            line(f"{'skip' if step.stays else 'copy'} /{step.source}{shape}")
        if asked.layout and not asked.is_partial:
            _tell_of(left_behind(ends, nodes), line)
        arrays = drafts(planned, source, asked) if asked.layout else []
        done, made = planned.counted(), []
        if not asked.dry_run:
            made = make_places(planned)
            if asked.layout:
                recode(planned, arrays, source, asked)
            else:
                with reporting(
                    asked.progress, ends.dest_path, len(planned.pairs), "keys"
                ) as reporter:
                    done = execute(planned, asked.compare, reporter, asked.carrier)
            made += (step.target for step in planned.steps)
        line(summary(done, dry_run=asked.dry_run))
    return done, made


def _tell_of(left: list[str], line: Callable[[str], object]) -> None:
    """Say which keys are not carried over where arrays are decoded."""
    for key in left:
        line(f"leave {key}")
    if left:
        more = f" with {len(left) - 1} more" if len(left) > 1 else ""
        warnings.warn(
            f"what is part of no array or group is left behind: {left[0]!r}{more}; log= names "
            "every key, copy_store copies whatever there is",
            UserWarning,
            stacklevel=4,  # who called copy
        )
