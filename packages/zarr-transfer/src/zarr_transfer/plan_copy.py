"""Plans of copies: the nodes of the source, compared with the destination."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any

from zarr_core import Group, array_from_metadata
from zarr_core.errors import MetadataError, NodeExistsError, NodeTypeError
from zarr_core.extension import (
    ArrayMetadata,
    GroupMetadata,
    Location,
    NodeNotFoundError,
    Store,
    StoreCapabilityError,
)
from zarr_core.formats.detect import conflicting_format, format_of_new
from zarr_core.hierarchy.create_node import StoreSnapshot, node_exists_error
from zarr_core.hierarchy.node import Node
from zarr_core.strictjson import keep_nonfinite
from zarr_core.threads import concurrent_map

from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.keys import KeyOwners, chosen, nodes_of, other_keys, present_keys, top_level
from zarr_transfer.plan import CopyPlan, CopyStep, same_metadata
from zarr_transfer.plan_array import plan_array, rechunk_plan
from zarr_transfer.spec import CopySpec, NodeLocation
from zarr_transfer.target_layout import RequestedLayout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zarr_core import Array
    from zarr_core.extension import Format
    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.plan import Action
    from zarr_transfer.spec import CopyOptions, IfExists


def check_source(source: object) -> None:
    """Raise NodeTypeError if the source is not an array or group, but, for example, a path."""
    if not isinstance(source, Node):
        given = brief(source)
        unopened = isinstance(source, str | PathLike | Store)
        advice = f"pass zarr_core.open({given})" if unopened else "pass what zarr_core.open returns"
        raise NodeTypeError(given, f"the source must be an array or a group; {advice}")


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


def copied_nodes(
    spec: CopySpec,
    source: Array | Group,
    metadata: NodeMetadata,
    options: CopyOptions,
    *,
    members_only: bool = False,
) -> list[tuple[str, NodeMetadata]]:
    """Return the paths of the copied nodes, parents first, each with the metadata of its copy."""
    # Without listing, members are known from consolidated metadata only.
    children = None
    if isinstance(source, Group) and not spec.source.store.supports_listing:
        children = source.stored.children
    nodes = nodes_of(
        spec, metadata, members_only=members_only, shallow=options.shallow, children=children
    )
    if options.only is not None:
        nodes = chosen(nodes, spec.source.path, options.only)
    return [(path, _of_copy(spec, path, node, options)) for path, node in nodes]


def _of_copy(
    spec: CopySpec, path: str, metadata: NodeMetadata, options: CopyOptions
) -> NodeMetadata:
    if metadata.nonstandard:
        metadata = metadata.replace(nonstandard=())
    if options.without_attrs:
        metadata = metadata.replace(attributes={})
    if not isinstance(metadata, GroupMetadata):
        return metadata
    if not spec.same_format:
        location = Location(spec.dest.store, spec.target(path))
        return spec.dest.format_.to_format(GroupMetadata(attributes=metadata.attributes), location)
    # Consolidated metadata would differ from the copied metadata, or the store needs none.
    differs = options.is_partial or options.without_attrs or options.layout
    if differs or not spec.dest.store.traits.supports_consolidated_metadata:
        return metadata.replace(consolidated=None)
    return metadata


def existing_keys(spec: CopySpec, tops: list[str]) -> set[str]:
    """Return all existing keys at the destination of top-level nodes; none without listing."""
    store, format_ = spec.dest.before, spec.dest.format_
    if not store.supports_listing:
        return set()
    prefixes: list[str] = []
    outside: list[str] = []  # metadata outside the prefixes
    for target in map(spec.target, tops):
        own = tuple(format_.prefixes(target))
        prefixes += own
        outside += (key for key in format_.documents(target) if not key.startswith(own))
    present = present_keys(store, outside)
    listed = concurrent_map(
        prefixes, lambda prefix: list(store.list_prefix(prefix)), store.max_concurrency
    )
    return present.union(*(keys for _, keys in listed))


def existing_nodes(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata]], keys: set[str]
) -> dict[str, NodeMetadata | MetadataError]:
    """Return existing metadata, or errors, at the destination, by the path of the source."""

    def read(path: str) -> NodeMetadata | MetadataError | None:
        try:
            return spec.dest.format_.read(spec.dest.store, spec.target(path))
        except MetadataError as error:
            return error

    # Implied groups, without metadata, do not count.
    listed = spec.dest.store.supports_listing
    paths = [
        path
        for path, _ in nodes
        if not (listed and keys.isdisjoint(spec.dest.format_.documents(spec.target(path))))
    ]
    pairs = concurrent_map(paths, read, spec.dest.store.max_concurrency)
    return {path: metadata for path, metadata in pairs if metadata is not None}


def plan_copy(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata]], options: CopyOptions
) -> CopyPlan:
    """Return the plan for copying nodes, after comparing them with the destination."""
    if_exists, overwrite = options.if_exists, options.overwrite
    arrays_only = options.is_partial
    tops = top_level(path for path, _ in nodes)
    existing = existing_keys(spec, tops)
    steps = tuple(_steps(spec, nodes, if_exists, overwrite, set(tops), existing))
    traits = spec.dest.store.traits
    if any(step.action == "replace" for step in steps) and not traits.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove keys, so nodes cannot be replaced; copy to another location",
            spec.dest.store,
        )
    if options.layout:
        steps = tuple(_with_layout(spec, step, options) for step in steps)
        return CopyPlan(spec, steps)
    owners = KeyOwners(spec.source.format_, [path for path, _ in nodes])
    pairs = []
    for key, target in other_keys(spec, nodes, tops):
        owner = owners(key)
        if owner is None or (arrays_only and not steps[owner].is_array):
            continue
        action = steps[owner].action
        # Unmanaged keys of an existing group are kept.
        stays = action == "keep" or (action == "merge" and if_exists != "replace")
        if action == "skip" or (stays and target in existing):
            continue
        pairs.append(KeyPair(key, target, not overwrite and target in existing, owner))
    if not overwrite:
        check_existing_keys(spec, steps, pairs, existing)
    return CopyPlan(spec, steps, pairs)


def _steps(
    spec: CopySpec,
    nodes: list[tuple[str, NodeMetadata]],
    if_exists: IfExists,
    overwrite: bool,
    tops: set[str],
    existing: set[str],
) -> Iterator[CopyStep]:
    if overwrite:
        for path, metadata in nodes:
            used = path in tops and (not spec.dest.store.supports_listing or bool(existing))
            yield _step(spec, path, metadata, "replace" if used else "copy")
        return
    present = existing_nodes(spec, nodes, existing)
    left: tuple[str, ...] = ()
    for path, metadata in nodes:
        target = spec.target(path)
        stored = present.get(path)
        action: Action = "copy"
        if f"{path}/".startswith(left):
            action = "skip"
        elif stored is not None:
            action = _action(spec, target, metadata, stored, if_exists, path in tops)
            if isinstance(metadata, GroupMetadata):
                if action == "skip":
                    left = (*left, f"{path}/")  # an array exists at the path of the group
                if action == "merge":
                    metadata = metadata.replace(
                        consolidated=None
                    )  # the group may have other members
        yield _step(spec, path, metadata, action)


def _step(spec: CopySpec, path: str, metadata: NodeMetadata, action: Action) -> CopyStep:
    is_array = isinstance(metadata, ArrayMetadata)
    stays = action in ("keep", "skip")
    return CopyStep(
        spec.below(path),
        "array" if is_array else "group",
        "nothing" if stays else "copy" if is_array else "document",
        source_metadata=metadata,
        metadata=metadata,
        action=action,
    )


def _with_layout(spec: CopySpec, step: CopyStep, options: CopyOptions) -> CopyStep:
    """Return the step that copies an array with another layout; a loss is an error."""
    metadata = step.source_metadata
    if step.cost != "copy" or not isinstance(metadata, ArrayMetadata):
        return step
    if spec.same_format:  # stored NaN is kept
        metadata = metadata.replace(attributes=keep_nonfinite(metadata.attributes))
    requested = RequestedLayout.of_copy(options.layout, exact=spec.same_format)
    planned = plan_array(spec, step.path, metadata, requested)
    if planned.cost == "recode" and (options.max_memory is not None or options.executor):
        rechunk_plan(spec, planned, options)  # too small: an error
    return replace(planned, action=step.action)


def _action(
    spec: CopySpec,
    target: str,
    metadata: NodeMetadata,
    existing: NodeMetadata | MetadataError,
    if_exists: IfExists,
    is_top: bool,
) -> Action:
    if isinstance(existing, MetadataError):
        if if_exists == "replace":
            return "replace"
        raise existing
    if if_exists == "raise":
        # Below a missing root, it is from an interrupted copy.
        if is_top or not same_metadata(spec.dest.format_, existing, metadata):
            raise node_exists_error(spec.dest.store, target)
        return "copy"
    if isinstance(existing, GroupMetadata) and isinstance(metadata, GroupMetadata):
        # An implied group without attributes was created by its members.
        implied = spec.dest.format_.implicit_groups and not existing.attributes
        lacks = implied and bool(metadata.attributes)
        return "merge" if if_exists == "replace" or lacks else "keep"
    if if_exists == "skip_initialized" and isinstance(existing, ArrayMetadata):
        return "skip" if _is_initialized(spec, target, existing) else "replace"
    return "replace" if if_exists == "replace" else "skip"


def _is_initialized(spec: CopySpec, path: str, metadata: ArrayMetadata) -> bool:
    """Whether all chunks of an array in the destination are stored."""
    array = array_from_metadata(
        spec.dest.store, metadata, path=path, zarr_format=spec.dest.format_.name, read_only=True
    )
    return array.nchunks_initialized == array.nchunks


def check_existing_keys(
    spec: CopySpec, steps: Sequence[CopyStep], pairs: list[KeyPair], existing: set[str]
) -> None:
    """Raise an error if there are keys that would be read as chunks of a copied array."""
    arrays = [spec.dest.at(step.path) for step in steps if step.action == "copy" and step.is_array]
    unmanaged = existing.difference(pair.target for pair in pairs)
    unmanaged.difference_update(
        key for step in steps for key in spec.dest.format_.documents(spec.dest.at(step.path))
    )
    if not unmanaged or not arrays:
        return
    prefixes = {spec.dest.format_.chunk_prefix(path): path for path in arrays}
    for key in sorted(unmanaged):
        parts = key.split("/")
        for depth in range(len(parts)):
            path = prefixes.get("".join(f"{part}/" for part in parts[:depth]))
            if path is not None:
                raise NodeExistsError(
                    Location(spec.dest.store, path),
                    f"holds {key!r}, which is not part of a node; remove it first",
                )
