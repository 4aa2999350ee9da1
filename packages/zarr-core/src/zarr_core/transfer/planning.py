"""What becomes of each node that is copied, in view of what is at the destination."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import strictjson
from zarr_core.errors import MetadataError, NodeExistsError, StoreCapabilityError
from zarr_core.interfaces.carrier import Pair
from zarr_core.metadata.group import GroupMetadata
from zarr_core.names import located
from zarr_core.nodes.placing import occupied
from zarr_core.transfer.plan import Plan, Step, tops_of
from zarr_core.transfer.source import Owners, other_keys
from zarr_core.transfer.there import keys_there, nodes_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.transfer.ends import Ends
    from zarr_core.transfer.plan import Action

    IfExists = Literal["raise", "replace", "skip"]


def plan(
    ends: Ends,
    nodes: list[tuple[str, NodeMetadata]],
    if_exists: IfExists,
    *,
    overwrite: bool = False,
    as_stored: bool = True,
    arrays_only: bool = False,
) -> Plan:
    """Say what copying nodes means, in view of what is at the destination.

    Parameters
    ----------
    ends, nodes
        What is copied.
    if_exists : {"raise", "replace", "skip"}
        What to do about nodes that are there.
    overwrite : bool
        Whether those that lie in no other are removed with everything below them, if
        there is anything.
    as_stored : bool
        Whether chunks are copied as they are; if not, only nodes are planned.
    arrays_only : bool
        Whether to leave out keys that belong to no array, as some nodes are not copied.

    Raises
    ------
    NodeExistsError
        If there is a node, or keys that an array would take for its own.
    StoreCapabilityError
        If the store cannot remove what is to be replaced, or not list what is copied.
    """
    tops = tops_of(nodes)
    there = keys_there(ends, tops)
    steps = list(_steps(ends, nodes, if_exists, overwrite, set(tops), there))
    if any(step.action == "replace" for step in steps) and not ends.dest.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove anything, and so not replace a node; copy to another place",
            ends.dest,
        )
    if not as_stored:
        return Plan(ends, steps, [])
    owners = Owners(ends.format_, [path for path, _ in nodes])
    pairs = []
    for key, target in other_keys(ends, nodes, tops):
        owner = owners(key)
        if owner is None or (arrays_only and not steps[owner].is_array):
            continue
        action = steps[owner].action
        # In a group that is there, what belongs to no node stays as it is.
        stays = action == "keep" or (action == "merge" and if_exists == "skip")
        if action == "skip" or (stays and target in there):
            continue
        pairs.append(Pair(key, target, not overwrite and target in there, owner))
    if not overwrite:
        _refuse_strangers(ends, steps, pairs, there)
    return Plan(ends, steps, pairs)


def _steps(
    ends: Ends,
    nodes: list[tuple[str, NodeMetadata]],
    if_exists: IfExists,
    overwrite: bool,
    tops: set[str],
    there: set[str],
) -> Iterator[Step]:
    if overwrite:
        for path, metadata in nodes:
            used = path in tops and (not ends.dest.supports_listing or bool(there))
            yield Step(path, ends.target(path), metadata, "replace" if used else "copy")
        return
    present = nodes_there(ends, nodes, there)
    left: tuple[str, ...] = ()
    for path, metadata in nodes:
        target = ends.target(path)
        found = present.get(path)
        action: Action = "copy"
        if f"{path}/".startswith(left):
            action = "skip"
        elif found is not None:
            action = _action(ends, target, metadata, found, if_exists, path in tops)
            if isinstance(metadata, GroupMetadata):
                if action == "skip":
                    left = (*left, f"{path}/")  # an array stands where the group would be
                if action == "merge":
                    metadata = metadata.replace(consolidated=None)  # there may be more members
        yield Step(path, target, metadata, action)


def _action(
    ends: Ends,
    target: str,
    metadata: NodeMetadata,
    found: NodeMetadata | MetadataError,
    if_exists: IfExists,
    is_top: bool,
) -> Action:
    if isinstance(found, MetadataError):
        if if_exists == "replace":
            return "replace"
        raise found
    if if_exists == "raise":
        # Below a root that is not there, it is left from a copy that was interrupted.
        if is_top or not _same_document(ends.dest_format, found, metadata):
            raise occupied(ends.dest, target)
        return "copy"
    if isinstance(found, GroupMetadata) and isinstance(metadata, GroupMetadata):
        # Where members imply groups, one that says nothing is what they have made already.
        implied = ends.dest_format.implicit_groups and not found.attributes
        lacks = implied and bool(metadata.attributes)
        return "merge" if if_exists == "replace" or lacks else "keep"
    return "replace" if if_exists == "replace" else "skip"


def _same_document(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two nodes say the same of themselves."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _refuse_strangers(ends: Ends, steps: list[Step], pairs: list[Pair], there: set[str]) -> None:
    """Raise if there are keys that an array which is copied would take for its own."""
    arrays = [step for step in steps if step.action == "copy" and step.is_array]
    strangers = there.difference(pair.target for pair in pairs)
    strangers.difference_update(
        key for step in steps for key in ends.dest_format.documents(step.target)
    )
    if not strangers or not arrays:
        return
    prefixes = {ends.dest_format.chunk_prefix(step.target): step.target for step in arrays}
    for key in sorted(strangers):
        parts = key.split("/")
        for depth in range(len(parts)):
            path = prefixes.get("".join(f"{part}/" for part in parts[:depth]))
            if path is not None:
                raise NodeExistsError(
                    located(ends.dest, path),
                    f"holds {key!r}, which is not part of a node; remove it first",
                )
