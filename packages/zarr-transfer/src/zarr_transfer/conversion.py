"""Converting arrays or hierarchies."""

from __future__ import annotations

from inspect import signature
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from zarr_core import resolve_store_path
from zarr_core.extension import ValidationProblem, ZarrError
from zarr_core.formats.detect import read_node
from zarr_core.hierarchy.create_node import check_reserved_names
from zarr_core.hierarchy.delete import erase_node
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.optional import check_names, reporter_for
from zarr_core.registry.resolve import format_named, formats_without

from zarr_transfer.errors import ConversionError
from zarr_transfer.execute import execute, prepare_destination
from zarr_transfer.keys import nodes_of, readable_children
from zarr_transfer.plan import CopyOptions, CopySpec, NodeLocation
from zarr_transfer.planner import plan_nodes
from zarr_transfer.target_layout import KEEP

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Format, Store
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.copy_executor import CopyExecutor
    from zarr_transfer.plan import CopyPlan
    from zarr_transfer.progress import Progress


def convert(
    source: Any,
    dest: Any = None,
    *,
    source_path: str | None = None,
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
    on_error: Literal["raise", "skip"] = "raise",
    progress: Callable[[Progress], object] | bool | None = None,
    executor: CopyExecutor | None = None,
    storage_options: Mapping[str, Any] | None = None,
    dest_storage_options: Mapping[str, Any] | None = None,
) -> CopyPlan:
    """Convert an array, or a group with everything below it, to another format or layout.

    Parameters
    ----------
    source : store-like
        A path, a URL, a store, a mapping, an array or a group.
    dest : store-like, optional
        By default in place: the new metadata is stored next to the old, and the chunks are not
        moved.
    source_path : str, optional
        Path of the node in ``source``.
    dest_path : str, optional
        Path of the result in ``dest``; without ``dest``, in the store of the source.
    zarr_format : int or str
        Format of the result: 2, 3, or the name of an installed format.
    source_format : int or str, optional
        Format of the source; required only if a node has metadata of several formats.
    chunks, shards, filters, compressors, serializer, fill_value
        As for :func:`zarr_core.create_array`; ``"keep"`` for the value of the source.
        ``chunks`` and ``shards`` can have dimension names: ``{"time": 10}`` changes only this
        dimension, and only arrays that have it.
    dtype : data-type-like
        Another data type, for numbers.  Floating-point numbers are rounded; conversion to
        integers must be exact.
    chunk_key_encoding : str, dict or ExtensionDefinition, optional
        By default that of the source, if the format supports it.
    only : callable, optional
        Takes the path of an array below the source; returns whether it receives the requested
        layout.  Other arrays keep theirs.
    overwrite : bool
        Whether an existing node at the destination is removed first; in place, whether
        existing metadata is replaced.
    remove_source : bool
        Whether the source is removed at the end: in place, its metadata; otherwise the node and
        everything below it.
    max_memory : int, optional
        Maximum memory in bytes; an error before anything is written if it is too small.  By
        default 64 MiB of elements, or one chunk or shard if it is larger, and some chunks.
    verify : bool
        Whether elements that are decoded and encoded are read back and compared, bit by bit.
    on_error : {"raise", "skip"}
        For nodes that cannot be converted: raise an error before anything is written, or
        convert the others.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True shows a line on standard error.
    executor : CopyExecutor, optional
        Runs the tasks, such as the workers of a cluster (zarr-dask); by default the threads of
        this process.
    storage_options : mapping, optional
        Arguments for the store if ``source`` is a URL.
    dest_storage_options : mapping, optional
        Arguments for the store if ``dest`` is a URL.

    Returns
    -------
    CopyPlan
        What was done; equal to the result of :func:`plan_conversion` before the call.

    Raises
    ------
    ConversionError
        If there are problems, before anything is written; contains all problems.
    NodeNotFoundError
        If the source does not exist.
    ElementsDifferError
        If elements cannot be represented in the data type, or the verification fails.
    ChunkDecodeError, StoreError
        If a chunk cannot be read or written.

    Notes
    -----
    An array is decoded only if its chunks change.  If the other format supports its codecs and
    chunk keys, only metadata is written.

    Metadata is written after the chunks, and for groups after their members, so visible nodes are
    complete.  The same call without ``overwrite`` resumes an interrupted conversion: arrays with
    metadata are complete.  While an array is decoded, a checkpoint (key ``.copying``) identifies the
    chunks next to it, which are then kept.  The source must not change meanwhile.

    Arrays are decoded in regions of at most 64 MiB of elements, or one chunk or shard of the
    destination if it is larger.  Each thread needs memory for one more chunk.  If the chunks do
    not nest, such as rows and columns, an intermediate array is stored next to the result and
    removed at the end, so that chunks are not decoded several times.

    If the format does not support dimension names, they become the attribute
    ``_ARRAY_DIMENSIONS`` of xarray, and the reverse.  Between versions 2 and 3, arrays with such
    names keep what xarray masks: the fill value, or the attribute ``_FillValue``.  Missing chunks
    are stored if the fill value becomes another one.
    """
    plan = plan_conversion(
        source, dest, source_path=source_path, dest_path=dest_path, zarr_format=zarr_format,
        source_format=source_format, storage_options=storage_options,
        dest_storage_options=dest_storage_options, chunks=chunks, shards=shards, filters=filters,
        compressors=compressors, serializer=serializer, fill_value=fill_value, dtype=dtype,
        chunk_key_encoding=chunk_key_encoding, only=only, overwrite=overwrite,
        remove_source=remove_source, max_memory=max_memory, verify=verify, on_error=on_error,
        progress=progress, executor=executor,
    )  # fmt: skip
    try:
        _refuse(plan)
        _execute(plan)
    finally:
        # Close stores that were opened for this call; this completes an archive.
        for location, side in ((dest, plan.dest), (source, plan.source)):
            if isinstance(location, str | PathLike):
                side.store.close()
    return plan


def plan_conversion(
    source: Any,
    dest: Any = None,
    *,
    source_path: str | None = None,
    dest_path: str | None = None,
    zarr_format: int | str = 3,
    source_format: int | str | None = None,
    storage_options: Mapping[str, Any] | None = None,
    dest_storage_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> CopyPlan:
    """Return what :func:`convert` would do with each node, and all problems.

    Nothing is written, and chunks are not read.

    Parameters
    ----------
    source, dest, source_path, dest_path, zarr_format, source_format
        As for :func:`convert`.
    storage_options, dest_storage_options, **options
        As for :func:`convert`.

    Returns
    -------
    CopyPlan
        ``print`` shows it as text; ``problems`` is empty if the conversion is possible.

    Raises
    ------
    NodeNotFoundError
        If the source does not exist.
    UnknownExtensionError
        If a format is not installed.
    NodeNameError
        If the format reserves the name of the destination, and no node has it yet.
    """
    check_names(options, signature(convert).parameters)
    arguments = CopyOptions.from_arguments({**options, "is_conversion": True})
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
    spec = CopySpec(NodeLocation(from_store, from_path, format_), to)
    return plan_nodes(spec, _nodes(spec.source, root), arguments)


def _source(
    store: Store, path: str, name: int | str | None, avoid: str | None
) -> tuple[Format, NodeMetadata]:
    """Return the format and the metadata of the source; in place, ``avoid`` is the new format."""
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


def _nodes(
    side: NodeLocation, root: NodeMetadata | None
) -> list[tuple[str, NodeMetadata | ZarrError]]:
    """Return relative paths and metadata, or errors, of a node and those below it, parents first."""
    if root is None:
        return []
    return list(nodes_of(side, root, children=readable_children(side, root)))


def _refuse(plan: CopyPlan) -> None:
    """Raise an error if there are problems."""
    problems = plan.problems
    if not problems:
        return
    # The node itself is required.
    if plan.options.on_error == "raise" or plan.steps[0].problems:
        raise ConversionError(f"{plan.source} to {plan.dest}", problems)
    if plan.options.remove_source:
        problem = ValidationProblem(
            "", "the source is not removed, since some of its nodes cannot be converted"
        )
        raise ConversionError(f"{plan.source} to {plan.dest}", (problem, *problems))


def _execute(plan: CopyPlan) -> None:
    """Execute a plan without problems, and remove the source if that is requested."""
    with reporter_for(plan.options.progress, plan.parts) as reporter, Rollback() as rollback:
        if plan.todo:
            again = "convert again" if plan.in_place else "convert again, without overwrite,"
            prepare_destination(plan, rollback, again)
        execute(plan, reporter, rollback)
        if plan.options.remove_source:
            try:
                _remove(plan)
            except BaseException as error:
                error.add_note(
                    f"{plan.dest} is complete; {plan.source} is partly removed: convert again to "
                    "remove it"
                )
                raise


def _remove(plan: CopyPlan) -> None:
    """Remove the source."""
    source, dest = plan.source, plan.dest
    if not plan.in_place:
        erase_node(source.format_, source.store, source.path)
        return
    if source.format_.name == dest.format_.name:
        return
    # Remove the node itself last, so that this can be repeated.  Read the members from the
    # destination, since some may have lost their old metadata.
    for path in reversed([path for path, _ in _nodes(dest, dest.read(""))]):
        new = set(dest.format_.documents(dest.at(path)))
        old = source.format_.documents(source.at(path))
        source.store.erase_values([key for key in old if key not in new])
