"""Plans of copies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from zarr_core import MemoryStore, array_from_metadata, empty_like
from zarr_core.errors import MetadataError
from zarr_core.extension import ArrayMetadata, GroupMetadata, StoreCapabilityError
from zarr_core.tools import keep_nonfinite, node_exists_error

from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.copy_region import Memory, plan_rechunk
from zarr_transfer.destination import existing_keys, existing_nodes
from zarr_transfer.plan import CopyPlan, CopyStep, same_metadata
from zarr_transfer.source_keys import KeyOwners, other_keys, top_level
from zarr_transfer.unmanaged import check_existing_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.tools import NodeMetadata

    from zarr_transfer.plan import Action
    from zarr_transfer.spec import CopyOptions, CopySpec, IfExists


def plan_copy(
    spec: CopySpec, nodes: list[tuple[str, NodeMetadata]], options: CopyOptions
) -> CopyPlan:
    """Return the plan for copying nodes, after comparing them with the destination.

    With a layout, arrays are decoded; otherwise all keys are copied, or only those of arrays if
    some nodes are omitted.

    Raises
    ------
    NodeExistsError
        If there is a node, or keys that would be read as chunks of a copied array.
    StoreCapabilityError
        If the destination cannot remove keys, or the source cannot list them.
    MetadataValidationError, ExtensionError, ValueError, TypeError
        If the layout is not possible for an array.
    """
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
    """Return the step that decodes an array and encodes it with another layout."""
    if step.cost != "copy":
        return step
    assert step.source_metadata is not None
    old = spec.source.open_array(step.path, step.source_metadata, read_only=True)
    attributes = step.source_metadata.attributes
    if spec.same_format:  # stored NaN is kept
        attributes = keep_nonfinite(attributes)
    layout = {"attributes": attributes, **options.layout, "store": MemoryStore()}
    layout["zarr_format"] = spec.dest.format_.name
    if not spec.same_format:
        layout.setdefault("chunk_key_encoding", None)  # the default of the format
    made = empty_like(old, **layout)
    if options.max_memory is not None and options.executor is None:
        new = spec.dest.open_array(step.path, made.metadata)
        plan_rechunk(old, new, Memory.of(old, new, options))  # raises an error if it is too small
    return replace(step, cost="recode", metadata=made.metadata)


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
