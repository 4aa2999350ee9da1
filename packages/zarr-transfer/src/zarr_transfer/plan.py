"""Plans of copies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarr_core.errors import MetadataError
from zarr_core.extension import ArrayMetadata, GroupMetadata, StoreCapabilityError
from zarr_core.tools import occupied, strictjson

from zarr_transfer.copy_executor import CopyResult, KeyPair
from zarr_transfer.destination import existing_keys, existing_nodes
from zarr_transfer.source_keys import Owners, other_keys, tops_of
from zarr_transfer.unmanaged import check_keys_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from zarr_core.extension import Format
    from zarr_core.tools import NodeMetadata

    from zarr_transfer.spec import CopySpec

    Action = Literal["copy", "replace", "merge", "keep", "skip"]
    IfExists = Literal["raise", "replace", "skip"]


@dataclass(frozen=True, slots=True)
class Step:
    """The copy of one node.

    Parameters
    ----------
    source, target : str
        Paths of the node and of its copy.
    metadata : ArrayMetadata or GroupMetadata
        Metadata of the copy.
    action : {"copy", "replace", "merge", "keep", "skip"}
        ``replace``: the existing node is removed first; ``merge``: an existing group receives
        members and metadata; ``keep``: it receives members; ``skip``: the existing node is
        kept.
    """

    source: str
    target: str
    metadata: NodeMetadata
    action: Action

    @property
    def is_array(self) -> bool:
        """Whether the node is an array."""
        return isinstance(self.metadata, ArrayMetadata)

    @property
    def is_new(self) -> bool:
        """Whether the node is created."""
        return self.action in ("copy", "replace")

    @property
    def stays(self) -> bool:
        """Whether the metadata of the existing node is kept."""
        return self.action in ("keep", "skip")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a copy.

    Parameters
    ----------
    spec : CopySpec
        The source and the destination.
    steps : list of Step
        One for each node, parents first.
    pairs : list of KeyPair
        Keys of everything except metadata; their owners are indices of steps.
    """

    spec: CopySpec
    steps: list[Step]
    pairs: list[KeyPair] = field(repr=False)

    def counted(self, nbytes: int = 0) -> CopyResult:
        """Return the numbers of nodes that are copied and skipped."""
        skipped = sum(step.stays for step in self.steps)
        return CopyResult(len(self.steps) - skipped, skipped, nbytes)


def plan(
    spec: CopySpec,
    nodes: list[tuple[str, NodeMetadata]],
    if_exists: IfExists,
    *,
    overwrite: bool = False,
    as_stored: bool = True,
    arrays_only: bool = False,
) -> Plan:
    """Return the plan for copying nodes, after comparing them with the destination.

    Parameters
    ----------
    spec, nodes
        The source, the destination and the nodes.
    if_exists : {"raise", "replace", "skip"}
        For existing nodes.
    overwrite : bool
        Whether the top-level destinations are removed first, if they exist.
    as_stored : bool
        Whether chunks are copied without decoding; otherwise only nodes are planned.
    arrays_only : bool
        Whether to copy only keys of arrays, since some nodes are not copied.

    Raises
    ------
    NodeExistsError
        If there is a node, or keys that would be read as chunks of a copied array.
    StoreCapabilityError
        If the destination cannot remove keys, or the source cannot list them.
    """
    tops = tops_of(nodes)
    there = existing_keys(spec, tops)
    steps = list(_steps(spec, nodes, if_exists, overwrite, set(tops), there))
    if any(step.action == "replace" for step in steps) and not spec.dest.store.supports_erasing:
        raise StoreCapabilityError(
            "the store cannot remove keys, so nodes cannot be replaced; copy to another location",
            spec.dest.store,
        )
    if not as_stored:
        return Plan(spec, steps, [])
    owners = Owners(spec.source.format_, [path for path, _ in nodes])
    pairs = []
    for key, target in other_keys(spec, nodes, tops):
        owner = owners(key)
        if owner is None or (arrays_only and not steps[owner].is_array):
            continue
        action = steps[owner].action
        # Unmanaged keys of an existing group are kept.
        stays = action == "keep" or (action == "merge" and if_exists == "skip")
        if action == "skip" or (stays and target in there):
            continue
        pairs.append(KeyPair(key, target, not overwrite and target in there, owner))
    if not overwrite:
        check_keys_there(spec, steps, pairs, there)
    return Plan(spec, steps, pairs)


def _steps(
    spec: CopySpec,
    nodes: list[tuple[str, NodeMetadata]],
    if_exists: IfExists,
    overwrite: bool,
    tops: set[str],
    there: set[str],
) -> Iterator[Step]:
    if overwrite:
        for path, metadata in nodes:
            used = path in tops and (not spec.dest.store.supports_listing or bool(there))
            yield Step(path, spec.target(path), metadata, "replace" if used else "copy")
        return
    present = existing_nodes(spec, nodes, there)
    left: tuple[str, ...] = ()
    for path, metadata in nodes:
        target = spec.target(path)
        found = present.get(path)
        action: Action = "copy"
        if f"{path}/".startswith(left):
            action = "skip"
        elif found is not None:
            action = _action(spec, target, metadata, found, if_exists, path in tops)
            if isinstance(metadata, GroupMetadata):
                if action == "skip":
                    left = (*left, f"{path}/")  # an array exists at the path of the group
                if action == "merge":
                    metadata = metadata.replace(
                        consolidated=None
                    )  # the group may have other members
        yield Step(path, target, metadata, action)


def _action(
    spec: CopySpec,
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
        # Below a missing root, it is from an interrupted copy.
        if is_top or not _same_document(spec.dest.format_, found, metadata):
            raise occupied(spec.dest.store, target)
        return "copy"
    if isinstance(found, GroupMetadata) and isinstance(metadata, GroupMetadata):
        # An implied group without attributes was created by its members.
        implied = spec.dest.format_.implicit_groups and not found.attributes
        lacks = implied and bool(metadata.attributes)
        return "merge" if if_exists == "replace" or lacks else "keep"
    return "replace" if if_exists == "replace" else "skip"


def _same_document(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two metadata documents are identical."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )
