"""Converting arrays or hierarchies."""

from __future__ import annotations

from contextlib import nullcontext
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from zarr_core import extensions as scope
from zarr_core import open_group
from zarr_core.extension import (
    GroupMetadata,
    NodeExistsError,
    Problem,
    ProgressReporter,
    strictjson,
)

from zarr_formats.conversion.asked import KEEP
from zarr_formats.conversion.copying import copy_chunks, erase_copied
from zarr_formats.conversion.errors import ConversionError
from zarr_formats.conversion.planning import is_bare, nodes, plan
from zarr_formats.conversion.recoding import recode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Carrier, Progress

    from zarr_formats.conversion.steps import Plan, Step


def convert(
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
    on_error: Literal["raise", "skip"] = "raise",
    progress: Callable[[Progress], object] | bool | None = None,
    carrier: Carrier | None = None,
    storage_options: Mapping[str, Any] | None = None,
    extensions: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """Convert an array, or a group with everything below it, to another format or layout.

    Parameters
    ----------
    source : store-like
        What to convert: a path, a URL, a store, a mapping, an array or group.
    dest : store-like, optional
        Where to.  By default in place: the new documents come to stand beside the old
        ones, and the chunks stay where they are.
    path : str, optional
        Path of the node in ``source``.
    dest_path : str, optional
        Path of the result in ``dest``, or in the store of the source.
    zarr_format : int or str
        Format of the result: 2, 3, or the name of any that is installed.
    source_format : int or str, optional
        Format of the source; needed only where a node has documents of several.
    chunks, shards, filters, compressors, serializer, fill_value
        As for :func:`zarr_core.create_array`; ``"keep"`` for what the source has.
        ``chunks`` and ``shards`` may name dimensions: ``{"time": 10}`` leaves the others,
        and arrays without such a dimension, as they are.
    dtype : data-type-like
        Another data type, for numbers.  Floating-point numbers are rounded; what becomes an
        integer must be one, and fit.
    chunk_key_encoding : str, dict or ExtensionDefinition, optional
        How chunks are named.  By default as in the source, if the format has that.
    only : callable, optional
        Takes the path of an array, below the node that is converted, and says whether it
        gets the layout that is asked for.  Others keep theirs.
    overwrite : bool
        Whether a node that is at the destination is removed first; in place, whether
        documents that are there already are replaced.
    remove_source : bool
        Whether the source is removed when all is done: in place its documents, and its
        chunks where they were copied to other keys; else the node with all below it.
    max_memory : int, optional
        Bytes for elements and chunks; where it is too little, nothing is begun.  By default
        64 MiB of elements, or one stored object if it has more, and some chunks.
    verify : bool
        Whether what is decoded and encoded is read back and compared, bit by bit.
    on_error : {"raise", "skip"}
        What to do about nodes that cannot be converted: refuse everything, or convert
        the others.
    progress : callable or True, optional
        Called with a :class:`Progress` a few times a second; True draws a line on
        standard error.
    carrier : Carrier, optional
        Who moves chunks and elements, such as the workers of a cluster (zarr-dask); by
        default the threads of this process.  Other data types are made here in any case.
    storage_options : mapping, optional
        Further arguments for the store that a URL as ``source`` names.
    extensions : mapping, optional
        Code for this call: ``{"codec": {"acme.xor": Xor}}``.

    Returns
    -------
    Plan
        What was done.  :func:`plan` says the same beforehand.

    Raises
    ------
    ConversionError
        If there is a problem, before anything is written; carries all of them.
    NodeNotFoundError
        If there is nothing to convert.
    ElementsDifferError
        If elements do not fit into another data type; if what was written is not read back
        as it was, where that is verified.
    ChunkDecodeError, StoreError
        If a chunk cannot be read or stored.

    Notes
    -----
    An array is decoded only if its chunks have to be others.  If its codecs can be said
    in the other format, and its keys too, documents are all that is written.

    A document is written after its chunks, that of a group after its members.  So what
    can be seen is complete, and a conversion that was interrupted is continued by the same
    call without ``overwrite``: arrays whose document is there are done.  Of one that is
    decoded, how far it came is noted every few seconds in a key ``.copying`` beside its
    chunks; with the same arguments it goes on from there.  The source stays as it was until
    everything is there, and nobody should write to it meanwhile.

    Arrays that are decoded are held in memory in pieces of at most 64 MiB (of decoded
    elements), or one stored object of the target if it is larger: a shard is written
    whole, so its size bounds the memory.  Threads decode and encode one chunk each
    besides.  Between chunks that do not nest, such as rows and columns, an array goes by way
    of pieces that are stored beside the result, and removed in the end: else chunks would
    be decoded once for each box of memory that they reach into.

    Names of dimensions become the attribute ``_ARRAY_DIMENSIONS`` of xarray in a format
    that has no place for them, and the other way round.
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f'on_error must be "raise" or "skip", not {on_error!r}')
    if verify and carrier is not None:
        raise ValueError("verify=True compares elements here, where a carrier never has them")
    with scope(extensions) if extensions else nullcontext():
        made = plan(
            source, dest, path=path, dest_path=dest_path, zarr_format=zarr_format,
            source_format=source_format, chunks=chunks, shards=shards, filters=filters,
            compressors=compressors, serializer=serializer, fill_value=fill_value,
            dtype=dtype, chunk_key_encoding=chunk_key_encoding, only=only, overwrite=overwrite,
            remove_source=remove_source, max_memory=max_memory, verify=verify,
            storage_options=storage_options,
        )  # fmt: skip
        try:
            _refuse(made, on_error)
            _execute(made, progress, carrier, verify=verify)
        finally:
            # What was opened for this call is finished with it; an archive is, by closing it.
            for place, side in ((dest, made.dest), (source, made.source)):
                if isinstance(place, str | PathLike):
                    side.store.close()
    return made


def _refuse(plan: Plan, on_error: str) -> None:
    """Raise if something is in the way."""
    problems = plan.problems
    if not problems:
        return
    # Without the node itself there is nothing to convert, and no place for the others.
    if on_error == "raise" or plan.steps[0].problems:
        raise ConversionError(f"{plan.source} to {plan.dest}", problems)
    if plan.remove_source:
        problem = Problem("", "a source of which nodes are left out is not removed")
        raise ConversionError(f"{plan.source} to {plan.dest}", (problem, *problems))


def _execute(
    plan: Plan,
    progress: Callable[[Progress], object] | bool | None,
    carrier: Carrier | None,
    *,
    verify: bool,
) -> None:
    # Without a group, there is no place for what lies below it.
    left = tuple(f"{step.path}/" for step in plan.steps if step.problems)
    todo = [
        step
        for step in plan.steps
        if step.cost != "nothing" and not f"{step.path}/".startswith(left)
    ]
    reporter = ProgressReporter(progress, len(todo))
    try:
        if todo:
            _make_room(plan)
        arrays = [step for step in todo if step.kind == "array"]
        groups = [step for step in todo if step.kind == "group"]
        # Members before the groups that show them.
        for step in [*arrays, *reversed(groups)]:
            if step.cost == "copy":
                copy_chunks(plan.source, plan.dest, step, reporter, carrier)
            elif step.cost == "recode":
                recode(plan.source, plan.dest, step, reporter, plan.memory, carrier, verify=verify)
            else:
                reporter.begin(step.path, 1, "documents")
                reporter.end()
            _write_document(plan, step)
        if plan.remove_source:
            _remove(plan)
    finally:
        reporter.close()


def _make_room(plan: Plan) -> None:
    """Remove what is to be overwritten, and make the groups that lead to the destination."""
    dest = plan.dest
    if plan.in_place:
        return
    if plan.overwrite:
        dest.format_.erase(dest.store, dest.path)
    parent, slash, _ = dest.path.rpartition("/")
    if dest.path and not dest.format_.implicit_groups:
        open_group(dest.store, "a", path=parent if slash else "", zarr_format=dest.format_.name)


def _write_document(plan: Plan, step: Step) -> None:
    dest = plan.dest
    at, new = dest.at(step.path), step.metadata
    assert new is not None, "what has no problems has new metadata"
    if plan.in_place and plan.overwrite:
        dest.format_.write(dest.store, at, new)
        return
    if dest.format_.create(dest.store, at, new):
        return
    found = dest.read(step.path)
    if found is None and dest.format_.implicit_groups:
        # A group was implied there, by the chunks that lie there now.
        dest.format_.write(dest.store, at, new)
    elif isinstance(new, GroupMetadata) and found is not None and is_bare(found):
        dest.format_.update(dest.store, at, lambda group: group.replace(attributes=new.attributes))
    elif found is None or not strictjson.identical(
        dest.format_.to_json(found), dest.format_.to_json(new)
    ):
        raise NodeExistsError(
            dest.where(step.path), "somebody else has made a node here during the conversion"
        )


def _remove(plan: Plan) -> None:
    """Remove the source, now that all is there."""
    source, dest = plan.source, plan.dest
    if not plan.in_place:
        source.format_.erase(source.store, source.path)
        return
    if source.format_.name == dest.format_.name:
        return
    # The node itself last: as long as it is there, this can be run again.  Its members as
    # the destination has them, for some may have lost their old document already.
    steps = {step.path: step for step in plan.steps}
    for path in reversed([path for path, _ in nodes(dest)]):
        new = set(dest.format_.documents(dest.at(path)))
        old = source.format_.documents(source.at(path))
        source.store.erase_values([key for key in old if key not in new])
        if path in steps and steps[path].kind == "array":
            erase_copied(source, dest, steps[path])
