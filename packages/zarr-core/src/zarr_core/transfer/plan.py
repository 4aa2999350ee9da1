"""Nodes that are copied as they are stored, with everything below them."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from zarr_core import strictjson
from zarr_core.errors import MetadataError, NodeExistsError, StoreCapabilityError
from zarr_core.interfaces.carrier import Pair
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.nodes.placing import make_room, occupied
from zarr_core.threads import run
from zarr_core.transfer.source import Ends, Owners, largest_value, lies_in, other_keys
from zarr_core.transfer.values import Move, Transfer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Literal

    from zarr_core.interfaces.carrier import Carrier, Moved
    from zarr_core.interfaces.format import Format, NodeMetadata
    from zarr_core.interfaces.progress import Reporter
    from zarr_core.interfaces.store import Store
    from zarr_core.transfer.values import Compare

    IfExists = Literal["raise", "replace", "skip"]
    Action = Literal["copy", "replace", "merge", "keep", "skip"]


class Copied(NamedTuple):
    """What a copy has done."""

    copied: int
    """How many nodes, or keys, were copied."""
    skipped: int
    """How many were not, as they were there already."""
    nbytes: int
    """Bytes that were stored, of all but the documents of nodes."""


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to one node.

    Parameters
    ----------
    source, target : str
        Paths of the node, of its copy.
    metadata : ArrayMetadata or GroupMetadata
        What the copy says of itself.
    action : {"copy", "replace", "merge", "keep", "skip"}
        ``replace``: what is there is removed first; ``merge``: a group that is there gets
        the members and the document; ``keep``: it gets the members; ``skip``: what is
        there stays.
    """

    source: str
    target: str
    metadata: NodeMetadata
    action: Action


@dataclass(frozen=True, slots=True)
class Plan:
    """What a copy does.

    Parameters
    ----------
    ends : Ends
        From where, where to.
    steps : list of Step
        One a node, parents first.
    pairs : list of Pair
        Keys of all but documents; their owners are numbers of steps.
    """

    ends: Ends
    steps: list[Step]
    pairs: list[Pair] = field(repr=False)

    def counted(self, nbytes: int = 0) -> Copied:
        """How many nodes are copied, or are not."""
        skipped = sum(step.action in ("keep", "skip") for step in self.steps)
        return Copied(len(self.steps) - skipped, skipped, nbytes)


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
    tops = _tops(nodes)
    there = set(_listed(ends, tops))
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
        if owner is None or (arrays_only and not isinstance(steps[owner].metadata, ArrayMetadata)):
            continue
        action = steps[owner].action
        # In a group that is there, what belongs to no node stays as it is.
        if action == "skip" or (action == "keep" and target in there):
            continue
        pairs.append(Pair(key, target, not overwrite and target in there, owner))
    if not overwrite:
        _refuse_strangers(ends, steps, pairs, there)
    return Plan(ends, steps, pairs)


def _tops(nodes: list[tuple[str, NodeMetadata]]) -> list[str]:
    """Paths of the nodes that lie in no other, of a list with parents first."""
    tops: list[str] = []
    for path, _ in nodes:
        if not tops or not lies_in(path, tops[-1]):
            tops.append(path)
    return tops


def _listed(ends: Ends, tops: list[str]) -> Iterator[str]:
    """All keys that lie where something is copied to."""
    if not ends.dest.supports_listing:
        return
    found: list[str] = []
    prefixes: list[str] = []
    beside: list[str] = []  # documents of formats that keep them elsewhere
    for path in tops:
        target = ends.target(path)
        own = tuple(ends.dest_format.prefixes(target))
        prefixes += own
        documents = ends.dest_format.documents(target)
        beside += (key for key in documents if not key.startswith(own))

    def list_(prefix: str) -> None:
        found.extend(ends.dest.list_prefix(prefix))

    def ask(key: str) -> None:
        if ends.dest.exists(key):
            found.append(key)

    requests = ends.dest.requests
    run(prefixes, list_, requests is not None, requests)
    run(beside, ask, requests is not None, requests)
    yield from found


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
    present = _present(ends, nodes, there)
    left: tuple[str, ...] = ()
    for path, metadata in nodes:
        target = ends.target(path)
        found = present.get(path)
        action: Action = "copy"
        if f"{path}/".startswith(left):
            action = "skip"
        elif found is not None:
            action = _action(ends, target, metadata, found, if_exists, path in tops)
            if action == "skip" and isinstance(metadata, GroupMetadata):
                left = (*left, f"{path}/")  # an array stands where the group would be
        yield Step(path, target, metadata, action)


def _present(
    ends: Ends, nodes: list[tuple[str, NodeMetadata]], there: set[str]
) -> dict[str, NodeMetadata | MetadataError]:
    """What is at the destination, or why it cannot be read, by the path of its source."""
    found: dict[str, NodeMetadata | MetadataError] = {}

    def read(path: str) -> None:
        try:
            metadata = ends.dest_format.read(ends.dest, ends.target(path))
        except MetadataError as error:
            found[path] = error
        else:
            if metadata is not None:
                found[path] = metadata

    # A group may be there without a document, implied by its members: that does not count.
    listed = ends.dest.supports_listing
    paths = [
        path
        for path, _ in nodes
        if not (listed and there.isdisjoint(ends.dest_format.documents(ends.target(path))))
    ]
    run(paths, read, ends.dest.requests is not None, ends.dest.requests)
    return found


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
        if is_top or not same_document(ends.dest_format, found, metadata):
            raise occupied(ends.dest, target)
        return "copy"
    if isinstance(found, GroupMetadata) and isinstance(metadata, GroupMetadata):
        return "merge" if if_exists == "replace" else "keep"
    return "replace" if if_exists == "replace" else "skip"


def same_document(format_: Format, one: NodeMetadata, other: NodeMetadata) -> bool:
    """Whether two nodes say the same of themselves."""
    return type(one) is type(other) and strictjson.identical(
        format_.to_json(one), format_.to_json(other)
    )


def _refuse_strangers(ends: Ends, steps: list[Step], pairs: list[Pair], there: set[str]) -> None:
    """Raise if there are keys that an array which is copied would take for its own."""
    arrays = [
        step for step in steps if step.action == "copy" and isinstance(step.metadata, ArrayMetadata)
    ]
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
                    f"{ends.dest} {'/' + path!r}",
                    f"holds {key!r}, which is not part of a node; remove it first",
                )


def make_places(plan: Plan) -> list[str]:
    """Remove what is replaced, and make the groups that lead to the copies; give their paths."""
    ends = plan.ends
    tops = set(_tops([(step.source, step.metadata) for step in plan.steps]))
    made: list[str] = []
    for step in plan.steps:
        replaced = step.action == "replace"
        if replaced or (step.action == "copy" and step.source in tops):
            made += make_room(
                ends.dest, step.target, ends.dest_format, step.metadata, overwrite=replaced
            )
    return made


def execute(
    plan: Plan, compare: Compare, reporter: Reporter, carrier: Carrier | None = None
) -> Copied:
    """Do what a plan says, once the places are made.

    Notes
    -----
    The document of an array is written as soon as all its values are there; those of
    groups at the end, members first.
    """
    ends = plan.ends
    write = _writing(ends, plan.steps)
    left = [0] * len(plan.steps)
    for pair in plan.pairs:
        left[pair.owner] += 1
    guard = threading.Lock()

    def after(pair: Pair) -> None:
        with guard:
            left[pair.owner] -= 1
            done = not left[pair.owner]
        if done and isinstance(plan.steps[pair.owner].metadata, ArrayMetadata):
            write(pair.owner)

    empty = [
        number
        for number, step in enumerate(plan.steps)
        if not left[number] and isinstance(step.metadata, ArrayMetadata)
    ]
    sizes = {number: largest_value(step.metadata) for number, step in enumerate(plan.steps)}
    nbytes = 0
    if carrier is None:
        transfer = Transfer(ends.source, ends.dest, compare, reporter, sizes)
        transfer.run(plan.pairs, after)
        nbytes = transfer.nbytes
    else:

        def done(pairs: Sequence[Pair], moved: Moved) -> None:
            nonlocal nbytes
            nbytes += moved.nbytes
            reporter.advance(len(pairs), moved.nbytes)
            for pair in pairs:
                after(pair)

        carrier.values(plan.pairs, Move(ends.source, ends.dest, compare), done)
    _in_flight(ends.dest, empty, write)
    groups: dict[int, list[int]] = {}
    for number, step in enumerate(plan.steps):
        if isinstance(step.metadata, GroupMetadata):
            depth = step.target.count("/") + bool(step.target)
            groups.setdefault(-depth, []).append(number)
    for depth in sorted(groups):
        _in_flight(ends.dest, groups[depth], write)
    return plan.counted(nbytes)


def _writing(ends: Ends, steps: list[Step]) -> Callable[[int], None]:
    """What writes the document of a copy."""

    def write(number: int) -> None:
        step = steps[number]
        metadata = step.metadata
        if step.action in ("keep", "skip"):
            return
        if step.action == "merge" and isinstance(metadata, GroupMetadata):
            metadata = metadata.replace(consolidated=None)  # there may be more members
        ends.dest_format.write(ends.dest, step.target, metadata)

    return write


def _in_flight(store: Store, numbers: list[int], work: Callable[[int], None]) -> None:
    run(numbers, work, store.requests is not None, store.requests)
