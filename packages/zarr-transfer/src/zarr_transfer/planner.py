"""Plans of copies and conversions: one step for each node, compared with the destination.

A copy is a conversion in which a problem is an error: a copy raises the first problem, and a
conversion collects the problems of all nodes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from zarr_core.errors import ExtensionError, MetadataError, NodeExistsError
from zarr_core.extension import (
    ArrayMetadata,
    GroupMetadata,
    StoreCapabilityError,
    ValidationProblem,
    ZarrError,
)
from zarr_core.hierarchy.create_node import node_exists_error
from zarr_core.registry.resolve import formats_without
from zarr_core.strictjson import keep_nonfinite
from zarr_core.threads import concurrent_map

from zarr_transfer.conventions import dimension_names, follows_convention
from zarr_transfer.copy_elements import plan_rechunk
from zarr_transfer.copy_executor import KeyPair
from zarr_transfer.execute import is_bare
from zarr_transfer.keys import KeyOwners, other_keys, present_keys, top_level
from zarr_transfer.plan import CopyPlan, CopyStep, same_metadata
from zarr_transfer.plan_array import plan_array
from zarr_transfer.target_layout import is_by_name, requested_parts
from zarr_transfer.to_format import NODE_ERRORS, group_to_format, problems_of
from zarr_transfer.unmanaged import note_unmanaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.interfaces.format import NodeMetadata

    from zarr_transfer.plan import Action, CopyOptions, CopySpec, NodeLocation

    Nodes = Sequence[tuple[str, NodeMetadata | ZarrError]]

_OFTEN = 2.0  # a plan has a note if each chunk is decoded at least this many times


def plan_nodes(spec: CopySpec, nodes: Nodes, options: CopyOptions) -> CopyPlan:
    """Return the plan for copying or converting nodes, after comparing them with the destination.

    ``nodes`` has the paths below the source, parents first, each with its metadata or the error
    that reading it raised.
    """
    planner = _Conversion if options.is_conversion else _Copy
    return planner(spec, nodes, options).plan()


class _Planner:
    """Base class of the planners, which plan one node after the other."""

    def __init__(self, spec: CopySpec, nodes: Nodes, options: CopyOptions) -> None:
        self.spec = spec
        self.source = spec.source
        self.dest = spec.dest
        self.nodes = nodes
        self.options = options
        self.requested = requested_parts(options.layout)

    def decoded(self, path: str, node: ArrayMetadata) -> CopyStep:
        """Return the step for an array that may be decoded; raise an error if it is not possible."""
        requested, only, is_conversion = (
            self.requested,
            self.options.only,
            self.options.is_conversion,
        )
        if is_conversion and only is not None and not only(path):  # a copy has only such nodes
            requested = {key: requested[key] for key in requested if key == "chunk_key_encoding"}
        return plan_array(self.spec, path, node, requested, is_conversion=is_conversion)

    def unknown_names(self) -> Iterator[str]:
        """Iterate over problems for dimension names that no array has."""
        by_name = {part: self.requested.get(part) for part in ("chunks", "shards")}
        if not any(map(is_by_name, by_name.values())):
            return
        arrays = (node for _, node in self.nodes if isinstance(node, ArrayMetadata))
        known = {name for array in arrays for name in dimension_names(array)}
        for part, value in by_name.items():
            for name in value if is_by_name(value) else ():
                if name not in known:
                    names = ", ".join(sorted(map(repr, known - {None}))) or "none"
                    yield f"{part}: no dimension has the name {name!r}; existing names: {names}"

    def group(self, path: str, node: GroupMetadata) -> CopyStep:
        """Return the step for a group; raise an error if it is not possible."""
        metadata = node
        notes: list[str] = []
        if not self.spec.same_format:
            metadata, notes = group_to_format(self.spec, path, node)
        return CopyStep(path, node, "document", metadata, notes=tuple(notes))

    def without_consolidated(self, node: GroupMetadata) -> GroupMetadata:
        """Return a group without consolidated metadata, which is never copied to another format."""
        return node.replace(consolidated=None) if self.spec.same_format else node

    def check_memory(self, step: CopyStep) -> CopyStep:
        """Return the step, with a note if memory is small; raise ValueError if it is too small."""
        if step.cost != "recode":
            return step
        options = self.options
        rechunking = plan_rechunk(
            self.source.open_array(step.path, step.source_metadata, read_only=True),
            self.dest.open_array(step.path, step.metadata),
            options.max_memory,
            verify=options.verify,
            executor=options.executor,
        )
        times = rechunking.stages[0].decodings
        if rechunking.between is not None:
            note = (
                "uses an intermediate array next to the result, as large as the array, since memory "
                "is too small for chunks of both layouts; more memory may avoid it"
            )
        elif times >= _OFTEN:
            note = f"each chunk is decoded {times:.0f} times; more memory reduces this"
        else:
            return step
        return replace(step, notes=(*step.notes, note))


def existing_nodes(dest: NodeLocation, paths: Iterable[str]) -> dict[str, NodeMetadata | ZarrError]:
    """Return existing metadata, or errors, at the destination; implied groups do not count."""

    def read(path: str) -> NodeMetadata | ZarrError | None:
        try:
            return dest.read(path)
        except (MetadataError, ExtensionError) as error:
            return error

    pairs = concurrent_map(paths, read, dest.store.max_concurrency)
    return {path: metadata for path, metadata in pairs if metadata is not None}


# --- copies ---


class _Copy(_Planner):
    """Nodes that are copied as they are, or with another layout; the first problem is an error."""

    def __init__(self, spec: CopySpec, nodes: Nodes, options: CopyOptions) -> None:
        super().__init__(spec, nodes, options)
        self.requested.pop("zarr_format", None)
        if "chunks" in self.requested:
            self.requested.setdefault("shards", None)
        self._tops = top_level(path for path, _ in nodes)
        self._keys = _existing_keys(self.dest, self._tops)
        self._existing = {} if options.overwrite else existing_nodes(self.dest, self._stored())
        self._skipped: tuple[str, ...] = ()

    def _stored(self) -> Iterator[str]:
        """Iterate over the paths of nodes that have metadata at the destination."""
        documents = self.dest.format_.documents
        for path, _ in self.nodes:
            if not self.dest.store.supports_listing or not self._keys.isdisjoint(
                documents(self.dest.at(path))
            ):
                yield path

    def plan(self) -> CopyPlan:
        """Return the plan; raise the first problem."""
        spec, options = self.spec, self.options
        for problem in self.unknown_names():
            raise ValueError(f"cannot copy {self.source}: {problem}")
        steps = []
        for path, node in self.nodes:
            if isinstance(node, ZarrError):
                raise node
            steps.append(self._step(path, self._metadata(node)))
        replaces = any(step.action == "replace" for step in steps)
        if replaces and not self.dest.store.traits.supports_erasing:
            raise StoreCapabilityError(
                "the store cannot remove keys, so nodes cannot be replaced; copy to another location",
                self.dest.store,
            )
        if options.layout:
            return CopyPlan(spec, tuple(steps), options=options)
        pairs = list(self._pairs(steps))
        if not options.overwrite:
            _check_existing_keys(self.dest, steps, pairs, self._keys)
        return CopyPlan(spec, tuple(steps), pairs, options)

    def _metadata(self, node: NodeMetadata) -> NodeMetadata:
        """Return the metadata to copy."""
        options = self.options
        if node.nonstandard:
            node = node.replace(nonstandard=())
        if options.without_attrs:
            node = node.replace(attributes={})
        # Consolidated metadata would differ from the copied metadata, or the store needs none.
        differs = options.is_partial or options.without_attrs or options.layout
        if isinstance(node, GroupMetadata) and (
            differs or not self.dest.store.traits.supports_consolidated_metadata
        ):
            return self.without_consolidated(node)
        return node

    def _step(self, path: str, node: NodeMetadata) -> CopyStep:
        action = self._action(path, node)
        if action in ("keep", "skip"):
            return CopyStep(path, node, "nothing", node, action=action)
        if isinstance(node, GroupMetadata):
            if action == "merge":  # the group may have other members
                node = self.without_consolidated(node)
            return replace(self.group(path, node), action=action)
        if not self.options.layout:
            return CopyStep(path, node, "copy", node, action=action)
        if self.spec.same_format:  # stored NaN is kept
            node = node.replace(attributes=keep_nonfinite(node.attributes))
        step = self.decoded(path, node)
        if self.options.max_memory is not None or self.options.executor:  # otherwise no limit
            step = self.check_memory(step)
        return replace(step, action=action)

    def _action(self, path: str, node: NodeMetadata) -> Action:
        if_exists, format_ = self.options.if_exists, self.dest.format_
        is_top = path in self._tops
        if self.options.overwrite:
            used = not self.dest.store.supports_listing or bool(self._keys)
            return "replace" if is_top and used else "copy"
        if f"{path}/".startswith(self._skipped):
            return "skip"
        existing = self._existing.get(path)
        if existing is None:
            return "copy"
        if isinstance(existing, ZarrError):
            if if_exists == "replace":
                return "replace"
            raise existing
        if if_exists == "raise":
            # Below a missing root, it is from an interrupted copy.
            new = self.group(path, node).metadata if isinstance(node, GroupMetadata) else node
            if is_top or new is None or not same_metadata(format_, existing, new):
                raise node_exists_error(self.dest.store, self.dest.at(path))
            return "copy"
        if isinstance(existing, GroupMetadata) and isinstance(node, GroupMetadata):
            # An implied group without attributes was created by its members.
            implied = format_.implicit_groups and not existing.attributes
            return "merge" if if_exists == "replace" or (implied and node.attributes) else "keep"
        if if_exists == "replace":
            return "replace"
        if if_exists == "skip_initialized" and isinstance(existing, ArrayMetadata):
            array = self.dest.open_array(path, existing, read_only=True)
            if array.nchunks_initialized != array.nchunks:
                return "replace"
        if isinstance(node, GroupMetadata):  # an array exists at the path of the group
            self._skipped += (f"{path}/" if path else "",)
        return "skip"

    def _pairs(self, steps: Sequence[CopyStep]) -> Iterator[KeyPair]:
        """Iterate over the keys to copy, except metadata; their owners are indices of steps."""
        options = self.options
        owners = KeyOwners(self.source.format_, [self.source.at(step.path) for step in steps])
        nodes = [(step.path, step.source_metadata) for step in steps]
        for key, target in other_keys(self.spec, nodes, self._tops):
            owner = owners(key)
            if owner is None or (options.is_partial and not steps[owner].is_array):
                continue
            action = steps[owner].action
            # Unmanaged keys of an existing group are kept.
            stays = action == "keep" or (action == "merge" and options.if_exists != "replace")
            if action == "skip" or (stays and target in self._keys):
                continue
            yield KeyPair(key, target, not options.overwrite and target in self._keys, owner)


def _existing_keys(dest: NodeLocation, tops: list[str]) -> set[str]:
    """Return all existing keys at the destination of top-level nodes; none without listing."""
    store, format_ = dest.before, dest.format_
    if not store.supports_listing:
        return set()
    prefixes: list[str] = []
    outside: list[str] = []  # metadata outside the prefixes
    for target in map(dest.at, tops):
        own = tuple(format_.prefixes(target))
        prefixes += own
        outside += (key for key in format_.documents(target) if not key.startswith(own))
    present = present_keys(store, outside)
    listed = concurrent_map(
        prefixes, lambda prefix: list(store.list_prefix(prefix)), store.max_concurrency
    )
    return present.union(*(keys for _, keys in listed))


def _check_existing_keys(
    dest: NodeLocation, steps: Sequence[CopyStep], pairs: list[KeyPair], existing: set[str]
) -> None:
    """Raise an error if there are keys that would be read as chunks of a copied array."""
    arrays = [step.path for step in steps if step.action == "copy" and step.is_array]
    unmanaged = existing.difference(pair.target for pair in pairs)
    unmanaged.difference_update(
        key for step in steps for key in dest.format_.documents(dest.at(step.path))
    )
    if not unmanaged or not arrays:
        return
    prefixes = {dest.format_.chunk_prefix(dest.at(path)): path for path in arrays}
    for key in sorted(unmanaged):
        parts = key.split("/")
        for depth in range(len(parts)):
            path = prefixes.get("".join(f"{part}/" for part in parts[:depth]))
            if path is not None:
                raise NodeExistsError(
                    dest.location(path),
                    f"holds {key!r}, which is not part of a node; remove it first",
                )


# --- conversions ---


class _Conversion(_Planner):
    """Nodes that are converted to another format or layout; all problems are collected."""

    def __init__(self, spec: CopySpec, nodes: Nodes, options: CopyOptions) -> None:
        super().__init__(spec, nodes, options)
        self._existing = existing_nodes(self.dest, [path for path, _ in nodes])

    def plan(self) -> CopyPlan:
        """Return the plan."""
        spec, options = self.spec, self.options
        steps = list(note_unmanaged(spec, list(self._steps())))
        if steps:
            messages = (*self._general_problems(), *self.unknown_names())
            problems = (*(ValidationProblem("", text) for text in messages), *steps[0].problems)
            replaced = options.overwrite and not spec.in_place
            action = "replace" if replaced else steps[0].action
            steps[0] = replace(steps[0], problems=problems, action=action)
        return CopyPlan(spec, tuple(steps), options=options)

    def _steps(self) -> Iterator[CopyStep]:
        named = {
            path.rpartition("/")[0]
            for path, node in self.nodes
            if isinstance(node, ArrayMetadata) and follows_convention(node)
        }
        for path, node in self.nodes:
            if self._is_named_scalar(node) and path.rpartition("/")[0] in named:
                node = node.replace(dimension_names=())
            yield self._step(path, node)

    def _is_named_scalar(self, node: NodeMetadata | ZarrError) -> TypeGuard[ArrayMetadata]:
        """Whether an array is a scalar, which has no dimensions to name, for another format."""
        return (
            isinstance(node, ArrayMetadata)
            and not node.ndim
            and node.dimension_names is None
            and not self.spec.same_format
        )

    def _step(self, path: str, node: NodeMetadata | ZarrError) -> CopyStep:
        """Return the step for a node, with problems if it is not possible."""
        step = CopyStep(path, None if isinstance(node, ZarrError) else node)
        try:
            step = self._planned(path, node)
            return self.check_memory(self._compared(step))
        except NODE_ERRORS as error:
            return replace(step, problems=problems_of(error), metadata=None)

    def _planned(self, path: str, node: NodeMetadata | ZarrError) -> CopyStep:
        """Return the step for a node, without regard to the destination."""
        if isinstance(node, ZarrError):
            raise ValueError(f"cannot be read: {node}")
        if isinstance(node, ArrayMetadata):
            return self.decoded(path, node)
        if node.consolidated is None:
            return self.group(path, node)
        step = self.group(path, self.without_consolidated(node))
        note = "consolidated metadata is not copied; consolidate again"
        return replace(step, notes=(*step.notes, note))

    def _compared(self, step: CopyStep) -> CopyStep:
        """Return the step after comparing it with the destination; raise an error if it conflicts."""
        spec, dest, overwrite = self.spec, self.dest, self.options.overwrite
        location, in_place = dest.location(step.path), spec.in_place
        if in_place and step.cost in ("recode", "copy"):
            why = "decoded" if step.cost == "recode" else "stored with other keys"
            raise ValueError(f"chunks must be {why}, which is not supported in place; pass a dest")
        if in_place and spec.same_format:
            return replace(step, cost="nothing", notes=())
        assert step.metadata is not None
        format_, at = dest.format_, dest.at(step.path)
        existing = self._existing.get(step.path)
        if existing is None:
            # Two formats may use the same key for metadata.
            main = format_.documents(at)[0]
            if dest.store.exists(main) and (in_place or not overwrite):
                message = f"{main!r} exists and is not a metadata document of {format_.name}"
                raise NodeExistsError(location, f"{message}; use another dest")
            return step
        if overwrite:
            return step
        if isinstance(existing, ZarrError):
            message = f"the node at the destination cannot be read: {existing}"
            raise NodeExistsError(location, message)
        if same_metadata(format_, existing, step.metadata):
            return replace(step, cost="nothing")
        if isinstance(existing, GroupMetadata) and existing.consolidated is not None:
            bare = existing.replace(consolidated=None, document=None)
            if same_metadata(format_, bare, step.metadata.replace(document=None)):
                note = "consolidated metadata is unchanged; consolidate again"
                return replace(step, cost="nothing", notes=(*step.notes, note))
        if isinstance(step.metadata, GroupMetadata) and is_bare(existing):
            return step
        message = "another node exists at the destination; pass overwrite=True to remove it first"
        raise NodeExistsError(location, message)

    def _general_problems(self) -> Iterator[str]:
        """Iterate over problems of the whole conversion."""
        source, dest, options = self.source, self.dest, self.options
        if dest.store.read_only:
            yield f"{dest.store} is open for reading only"
        if options.remove_source and source.store.read_only:
            yield f"{source.store} is open for reading only; nothing can be removed"
        if self.spec.in_place:
            return
        if source.is_within(dest) or dest.is_within(source):
            yield "source and destination overlap; use another dest_path"
        parents = dest.path.split("/")[:-1]
        for depth in range(len(parents) + 1 if dest.path else 0):
            ancestor = "/".join(parents[:depth])
            try:
                above = dest.format_.read(dest.store, ancestor)
            except MetadataError as error:
                yield (
                    f"the metadata of {'/' + ancestor!r} cannot be read; repair or remove it: {error}"
                )
                continue
            if isinstance(above, ArrayMetadata):
                yield f"the destination is below {'/' + ancestor!r}, which is an array"
        for other in formats_without(dest.format_.name):
            if dest.has(other):
                yield f"the destination has a node of the format {other.name}; remove it"
        for is_removed, side, doing in (
            (options.overwrite, dest, "overwriting"),
            (options.remove_source, source, "removing the source"),
        ):
            if is_removed and (key := side.format_.find_unmanaged_key(side.store, side.path)):
                yield f"{doing} would remove {key!r}, which is not part of a node"
