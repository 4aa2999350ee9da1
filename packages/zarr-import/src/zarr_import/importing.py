"""Bringing what a source holds into a hierarchy, so that nothing unfinished looks finished."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from zarr_core import (
    Array,
    Group,
    array_from_metadata,
    consolidate_metadata,
    create_group,
    locate,
    open_group,
)
from zarr_core.extension import (
    ArrayMetadata,
    Format,
    GroupMetadata,
    NodeExistsError,
    NodeNameError,
    NodeNotFoundError,
    ProgressReporter,
    Store,
    StoreReadOnlyError,
    format_of_new,
    is_node_name,
    normalise_path,
    read_node,
    strictjson,
)

from zarr_import.elements import copy_elements
from zarr_import.encoded import copy_chunks
from zarr_import.layout import Layout, Planned, plan
from zarr_import.report import Imported, ImportReport, LeftOut
from zarr_import.unsupported import UnsupportedSourceError
from zarr_import.variable import Folder, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Progress

    from zarr_import.report import How
    from zarr_import.variable import Contents

    Node = tuple[Folder, GroupMetadata] | Planned


@dataclass(frozen=True, slots=True)
class Target:
    """Where nodes are brought.

    Parameters
    ----------
    store : Store
        The store.
    path : str
        Path of the root of what is brought.
    format : Format
        The format of the new nodes.
    """

    store: Store
    path: str
    format: Format

    def path_of(self, below: str) -> str:
        """The path of a node in the store."""
        return "/".join(part for part in (self.path, below) if part)


def open_target(
    place: Any,
    path: str,
    zarr_format: int | str | None,
    storage_options: Mapping[str, Any] | None,
    *,
    overwrite: bool,
) -> Target:
    """Find the place, and see to it that nothing is there.

    Raises
    ------
    NodeExistsError
        If there is a node and ``overwrite`` is false.
    StoreReadOnlyError
        If the store refuses changes.
    """
    store, below = locate(place, path, storage_options=storage_options)
    if isinstance(place, Array | Group) and zarr_format is None:
        zarr_format = place.zarr_format
    format_ = format_of_new(store, below, zarr_format)
    where = f"{store} {'/' + below!r}"
    if store.read_only:
        raise StoreReadOnlyError("the store is open for reading only", where)
    if overwrite:
        # Removes what is there, or says why it will not; then it is nothing again.
        create_group(store, path=below, zarr_format=format_.name, overwrite=True)
        for key in format_.documents(below):
            store.erase(key)
        return Target(store, below, format_)
    try:
        found, _ = read_node(store, below)
    except NodeNotFoundError:
        pass
    else:
        raise NodeExistsError(
            where,
            f"there is a node of the format {found.name} already; give another path, or "
            "overwrite=True to remove it first",
        )
    parent = below.rpartition("/")[0]
    if below:
        open_group(store, "a", path=parent, zarr_format=format_.name)
    return Target(store, below, format_)


def bring(
    contents: Contents,
    target: Target,
    layout: Layout,
    report: ImportReport,
    *,
    unsupported: Literal["raise", "skip"],
    max_memory: int,
    consolidated: bool,
    progress: Callable[[Progress], object] | bool | None,
) -> None:
    """Make nodes of all that a source holds.

    Notes
    -----
    Everything is planned before anything is stored.  The document of an array is
    stored after its chunks, those of groups after their members, the root's last: until
    then there is nothing at that place.  The same call continues what was interrupted:
    arrays whose documents are there are complete.
    """
    report.left_out += (LeftOut(source, reason) for source, reason in contents.left_out)
    nodes = _planned(contents, target, layout, report, unsupported)
    there = _found(target, nodes)
    arrays = sum(isinstance(node, Planned) for node in nodes)
    done: dict[str, How] = {}
    with ProgressReporter(progress, arrays) as reporter:
        for node in nodes:
            if isinstance(node, Planned):
                done[node.variable.path] = _bring_array(node, target, there, max_memory, reporter)
    for node in reversed(nodes):
        if not isinstance(node, Planned):
            folder, metadata = node
            target.format.write(target.store, target.path_of(folder.path), metadata)
    if consolidated and not isinstance(nodes[0], Planned):
        consolidate_metadata(target.store, target.path, target.format.name)
    report.imported += (_told(node, target, done) for node in nodes)


def _planned(
    contents: Contents,
    target: Target,
    layout: Layout,
    report: ImportReport,
    unsupported: Literal["raise", "skip"],
) -> list[Node]:
    nodes: list[Node] = []
    refused: tuple[str, ...] = ()
    for node in contents.nodes:
        try:
            if node.path.startswith(refused):
                raise UnsupportedSourceError(node.source, "the group that it is in is left out")
            _check_name(node, target.format)
            if isinstance(node, Folder):
                group = GroupMetadata(attributes=node.attributes)
                nodes.append((node, target.format.express(group, node.source)))
            else:
                nodes.append(plan(node, layout, target.format))
        except UnsupportedSourceError as error:
            if unsupported == "raise" or not node.path:
                raise UnsupportedSourceError(
                    error.source, f'{error.reason}; unsupported="skip" leaves it out'
                ) from error
            report.left_out.append(LeftOut(error.source, error.reason))
            refused += (f"{node.path}/",)
    return nodes


def _check_name(node: Folder | Variable, format_: Format) -> None:
    """Raise if a node cannot be called as it is in the source."""
    try:
        normalise_path(node.path)
        format_.check_path(node.path)
    except NodeNameError as error:
        raise UnsupportedSourceError(node.source, str(error)) from error
    name = node.path.rpartition("/")[2]
    if name and not (is_node_name(name) and format_.may_be_named(name)):
        raise UnsupportedSourceError(node.source, f"{name!r} is no name of a node here")


def _found(target: Target, nodes: list[Node]) -> list[str] | None:
    """Keys that are there, sorted, of an import that was interrupted; None if the store cannot tell.

    Raises
    ------
    NodeExistsError
        If there are others, which would become part of what is brought.
    """
    store, format_ = target.store, target.format
    if not store.supports_listing:
        return None
    documents: set[str] = set()
    prefixes: list[str] = []
    for node in nodes:
        if isinstance(node, Planned):
            path = target.path_of(node.variable.path)
            prefixes.append(format_.chunk_prefix(path))
        else:
            path = target.path_of(node[0].path)
        documents.update(format_.documents(path))
    own = tuple(prefixes)
    found = sorted(store.list_prefix(f"{target.path}/" if target.path else ""))
    for key in found:
        if key not in documents and not key.startswith(own):
            raise NodeExistsError(
                f"{store} {'/' + target.path!r}",
                f"holds {key!r}, which is no part of what is imported; choose another place, or "
                "give overwrite=True to remove what is there",
            )
    return found


def _bring_array(
    planned: Planned,
    target: Target,
    there: list[str] | None,
    max_memory: int,
    reporter: ProgressReporter,
) -> How:
    store, format_ = target.store, target.format
    variable, metadata = planned.variable, planned.metadata
    path = target.path_of(variable.path)
    reporter.begin(path, prod(variable.shape), "elements")
    listed = there is None or any(_below(there, key) for key in format_.documents(path))
    found = format_.read(store, path) if listed else None
    if found is not None:
        if not _same(format_, found, metadata):
            raise NodeExistsError(
                f"{store} {'/' + path!r}",
                "there is another node, which is no part of what is imported; give "
                "overwrite=True to remove what is there",
            )
        reporter.end()
        return "there already"
    left = _below(there or [], format_.chunk_prefix(path))
    if left:
        if (key := format_.foreign_key(store, path)) is not None:
            raise NodeExistsError(
                f"{store} {'/' + path!r}", f"holds {key!r}, which is not part of a Zarr node"
            )
        store.erase_values(left)  # of an import that was interrupted
    array = array_from_metadata(store, metadata, path=path, zarr_format=format_.name)
    how: How = "elements copied"
    if planned.direct and variable.stored is not None:
        if copy_chunks(variable, variable.stored, array, format_, reporter):
            how = "chunks copied"
        else:
            planned.notes.append("chunks of the source decode to something else here")
    if how == "elements copied" and array.size:
        copy_elements(variable, array, max_memory, reporter)
    variable.close()
    format_.write(store, path, metadata)
    reporter.end()
    return how


def _below(keys: list[str], prefix: str) -> list[str]:
    """Those of some sorted keys that begin so."""
    first = bisect_left(keys, prefix)
    last = bisect_left(keys, True, first, key=lambda key: not key.startswith(prefix))
    return keys[first:last]


def _same(format_: Format, one: Any, other: Any) -> bool:
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _told(node: Node, target: Target, done: Mapping[str, How]) -> Imported:
    if not isinstance(node, Planned):
        folder, _ = node
        path = target.path_of(folder.path)
        return Imported(path, folder.source, "group", "made", notes=tuple(folder.notes))
    variable, metadata = node.variable, node.metadata
    path = target.path_of(variable.path)
    return Imported(
        path, variable.source, "array", done[variable.path], metadata.shape,
        metadata.data_type.name, node.chunks, node.shards, _names(metadata), tuple(node.notes),
    )  # fmt: skip


def _names(metadata: ArrayMetadata) -> tuple[str, ...]:
    """Names of the codecs; of a shard, those of its chunks."""
    codecs: Any = [codec.to_json() for codec in metadata.codecs]
    inner = [it for it in codecs if isinstance(it, dict) and it["name"] == "sharding_indexed"]
    if inner:
        codecs = inner[0]["configuration"]["codecs"]
    return tuple(it if isinstance(it, str) else it["name"] for it in codecs)
