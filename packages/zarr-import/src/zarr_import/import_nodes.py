"""Create the nodes of a hierarchy from the contents of a source."""

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
    resolve_store_path,
)
from zarr_core.errors import NodeExistsError, NodeNameError
from zarr_core.extension import (
    ArrayMetadata,
    Format,
    GroupMetadata,
    Location,
    NodeNotFoundError,
    Store,
    StoreReadOnlyError,
    strictjson,
)
from zarr_core.formats.detect import format_of_new, read_node
from zarr_core.hierarchy.create_node import check_reserved_names, prepare_path
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.messages import log
from zarr_core.names import is_node_name, normalise_path
from zarr_core.optional import Reporter, reporter_for

from zarr_import.chunks import copy_chunks
from zarr_import.elements import copy_elements
from zarr_import.errors import UnsupportedSourceError
from zarr_import.layout import Layout, PlannedArray, plan
from zarr_import.report import ImportedNode, ImportReport, SkippedObject
from zarr_import.variable import SourceGroup, Variable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_import.report import How
    from zarr_import.variable import Contents

    Node = tuple[SourceGroup, GroupMetadata] | PlannedArray


@dataclass(frozen=True, slots=True)
class Target:
    """The location and the format of the imported nodes."""

    store: Store
    path: str  # of the root
    format: Format
    overwrite: bool = False  # whether existing contents are removed first

    def path_of(self, below: str) -> str:
        """Return the path of a node in the store."""
        return "/".join(part for part in (self.path, below) if part)


def open_target(
    dest: Any,
    path: str,
    zarr_format: int | str | None,
    storage_options: Mapping[str, Any] | None,
    *,
    overwrite: bool,
) -> Target:
    """Resolve the location.

    Raises NodeExistsError if it contains a node that is not overwritten, and StoreReadOnlyError.
    """
    store, below = resolve_store_path(dest, path, storage_options=storage_options)
    if isinstance(dest, Array | Group) and zarr_format is None:
        zarr_format = dest.zarr_format
    format_ = format_of_new(store, below, zarr_format)
    location = Location(store, below)
    if store.read_only:
        raise StoreReadOnlyError("the store was opened read-only", location)
    if overwrite:
        return Target(store, below, format_, overwrite=True)
    try:
        existing, _ = read_node(store, below)
    except NodeNotFoundError:
        pass
    else:
        raise NodeExistsError(
            location,
            f"a node of the format {existing.name} exists; pass another path, or overwrite=True to "
            "remove it first",
        )
    return Target(store, below, format_)


def import_contents(
    contents: Contents,
    target: Target,
    layout: Layout,
    report: ImportReport,
    *,
    unsupported: Literal["raise", "skip"],
    max_memory: int,
    consolidated: bool,
    progress: Callable[[Any], object] | bool | None,
) -> None:
    """Create nodes for all contents of a source.

    Everything is planned before anything is stored.  The metadata document of an array is
    stored after its chunks, those of groups after their members, that of the root last.  Until
    then the location contains no node.  The same call without ``overwrite`` resumes an
    interrupted import: arrays with metadata documents are complete.  For stores that require
    documents first, they are written first; those of a failed call are removed again.
    """
    report.left_out += (SkippedObject(source, reason) for source, reason in contents.left_out)
    nodes = _plan_nodes(contents, target, layout, report, unsupported)
    arrays = sum(isinstance(node, PlannedArray) for node in nodes)
    done: dict[str, How] = {}
    groups = [node for node in nodes if not isinstance(node, PlannedArray)]
    store, format_ = target.store, target.format
    with Rollback() as rollback, reporter_for(progress, arrays) as reporter:
        root = nodes[0].metadata if isinstance(nodes[0], PlannedArray) else nodes[0][1]
        new = root if target.overwrite else None
        prepare_path(store, target.path, format_, new, rollback, overwrite=target.overwrite)
        existing_keys = _existing_keys(target, nodes)
        remedy = "import again, without overwrite, to continue, or remove it with zarr_core.rmdir"
        rollback.note_incomplete(store, format_, [target.path], remedy)
        for folder, metadata in groups if store.traits.metadata_first else ():
            path = target.path_of(folder.path)
            rollback.write(store, path, format_, metadata)
        for node in nodes:
            if isinstance(node, PlannedArray):
                done[node.variable.path] = _import_array(
                    node, target, existing_keys, max_memory, reporter, rollback
                )
        for folder, metadata in () if store.traits.metadata_first else reversed(groups):
            format_.write(store, target.path_of(folder.path), metadata)
        rollback.complete()
    if consolidated and not isinstance(nodes[0], PlannedArray):
        consolidate_metadata(target.store, target.path, target.format.name)
    report.imported += (_imported_node(node, target, done) for node in nodes)


def _plan_nodes(
    contents: Contents,
    target: Target,
    layout: Layout,
    report: ImportReport,
    unsupported: Literal["raise", "skip"],
) -> list[Node]:
    nodes: list[Node] = []
    skipped: tuple[str, ...] = ()
    taken: dict[str, SourceGroup | Variable] = {}
    for node in contents.nodes:
        try:
            if node.path.startswith(skipped):
                raise UnsupportedSourceError(node.source, "its group was not imported")
            _check_name(node, target.format)
            if (other := _conflicting_source(node.path, taken)) is not None:
                raise UnsupportedSourceError(
                    node.source,
                    f"has the same path as another object of the source, {other!r}, or one below",
                )
            taken[node.path] = node
            if isinstance(node, SourceGroup):
                group = GroupMetadata(attributes=node.attributes)
                nodes.append((node, target.format.to_format(group, Location(node.source))))
            else:
                nodes.append(plan(node, layout, target.format))
        except UnsupportedSourceError as error:
            if unsupported == "raise" or not node.path:
                raise type(error)(
                    error.source, f'{error.reason}; pass unsupported="skip" to skip it'
                ) from error
            report.left_out.append(SkippedObject(error.source, error.reason))
            skipped += (f"{node.path}/",)
    return nodes


def _conflicting_source(path: str, taken: Mapping[str, SourceGroup | Variable]) -> str | None:
    """Return the source of a node with the same path, or of an array above it, if any."""
    if path in taken:
        return taken[path].source
    while path:
        path = path.rpartition("/")[0]
        if isinstance(above := taken.get(path), Variable):
            return above.source
    return None


def _check_name(node: SourceGroup | Variable, format_: Format) -> None:
    """Raise if the name of an object in the source is not a valid node name."""
    try:
        normalise_path(node.path)
        format_.check_path(node.path)
        check_reserved_names(format_, [node.path])
    except NodeNameError as error:
        raise UnsupportedSourceError(node.source, str(error)) from error
    name = node.path.rpartition("/")[2]
    is_name = is_node_name(name) or format_.is_reserved(name)
    if name and not (is_name and format_.is_valid_name(name)):
        raise UnsupportedSourceError(node.source, f"{name!r} is not a valid node name")


def _existing_keys(target: Target, nodes: list[Node]) -> list[str] | None:
    """Return the sorted keys of an interrupted import, or None if the store cannot list keys.

    Raises NodeExistsError for other keys, which would become part of the new hierarchy.
    """
    store, format_ = target.store, target.format
    if not store.supports_listing:
        return None
    documents: set[str] = set()
    prefixes: list[str] = []
    for node in nodes:
        if isinstance(node, PlannedArray):
            path = target.path_of(node.variable.path)
            prefixes.append(format_.chunk_prefix(path))
        else:
            path = target.path_of(node[0].path)
        documents.update(format_.documents(path))
    own = tuple(prefixes)
    keys = sorted(store.list_prefix(f"{target.path}/" if target.path else ""))
    for key in keys:
        if key not in documents and not key.startswith(own):
            raise NodeExistsError(
                Location(store, target.path),
                f"contains {key!r}, which is not part of the import; choose another location, or "
                "pass overwrite=True to remove existing contents",
            )
    return keys


def _import_array(
    planned: PlannedArray,
    target: Target,
    existing_keys: list[str] | None,
    max_memory: int,
    reporter: Reporter,
    rollback: Rollback,
) -> How:
    store, format_ = target.store, target.format
    variable, metadata = planned.variable, planned.metadata
    path = target.path_of(variable.path)
    reporter.begin(path, prod(variable.shape), "elements")
    may_exist = existing_keys is None or any(
        _with_prefix(existing_keys, key) for key in format_.documents(path)
    )
    existing = format_.read(store, path) if may_exist else None
    if existing is not None:
        if not _same(format_, existing, metadata):
            raise NodeExistsError(
                Location(store, path),
                "another node exists, which is not part of the import; pass overwrite=True to "
                "remove existing contents",
            )
        reporter.end()
        return "already imported"
    leftover = _with_prefix(existing_keys or [], format_.chunk_prefix(path))
    if leftover:
        if (key := format_.find_unmanaged_key(store, path)) is not None:
            raise NodeExistsError(
                Location(store, path), f"holds {key!r}, which is not part of a Zarr node"
            )
        log("recovery", "%s: %d keys of an interrupted import removed",
            Location(store, path), len(leftover),
        )  # fmt: skip
        store.erase_values(leftover)
    if store.traits.metadata_first:
        rollback.write(store, path, format_, metadata)
    array = array_from_metadata(store, metadata, path=path, zarr_format=format_.name)
    how: How = "elements copied"
    if planned.direct and variable.stored is not None:
        if copy_chunks(variable, variable.stored, array, format_, reporter):
            how = "chunks copied"
        else:
            planned.notes.append("the codecs do not decode the chunks of the source identically")
    if how == "elements copied" and array.size:
        copy_elements(variable, array, max_memory, reporter)
    variable.close()
    if not store.traits.metadata_first:
        format_.write(store, path, metadata)
    reporter.end()
    return how


def _with_prefix(keys: list[str], prefix: str) -> list[str]:
    """Return those of the sorted keys that have a prefix."""
    first = bisect_left(keys, prefix)
    last = bisect_left(keys, True, first, key=lambda key: not key.startswith(prefix))
    return keys[first:last]


def _same(format_: Format, one: Any, other: Any) -> bool:
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _imported_node(node: Node, target: Target, done: Mapping[str, How]) -> ImportedNode:
    if not isinstance(node, PlannedArray):
        folder, _ = node
        path = target.path_of(folder.path)
        return ImportedNode(path, folder.source, "group", "created", notes=tuple(folder.notes))
    variable, metadata = node.variable, node.metadata
    path = target.path_of(variable.path)
    return ImportedNode(
        path, variable.source, "array", done[variable.path], metadata.shape,
        metadata.data_type.name, node.chunks, node.shards, _names(metadata), tuple(node.notes),
    )  # fmt: skip


def _names(metadata: ArrayMetadata) -> tuple[str, ...]:
    """Return the names of the codecs; for shards, of the inner codecs."""
    codecs: Any = [codec.to_json() for codec in metadata.codecs]
    inner = [one for one in codecs if isinstance(one, dict) and one["name"] == "sharding_indexed"]
    if inner:
        codecs = inner[0]["configuration"]["codecs"]
    return tuple(item if isinstance(item, str) else item["name"] for item in codecs)
