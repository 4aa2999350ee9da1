"""A hierarchy as a tree in text or HTML."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.errors import MetadataError, ZarrError
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.group import GroupMetadata
from zarr_core.nodes.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from zarr_core.hierarchy.listed import ListedGroup
    from zarr_core.interfaces.format import NodeMetadata

MOST_NODES = 500

_GLIMPSE_NODES, _GLIMPSE_MEMBERS = 120, 30
_GLIMPSE_LEVELS = {True: 8, False: 2}  # where consolidated metadata know all, where not


class TreeNode(NamedTuple):
    """One line of a tree.

    Parameters
    ----------
    depth : int
        0 for the members of the group.
    name : str
        The last part of its path.
    metadata : ArrayMetadata or GroupMetadata or None
        Its document; None for a line that says something else: that there are more
        members, that one cannot be read.
    """

    depth: int
    name: str
    metadata: NodeMetadata | None

    @property
    def description(self) -> str:
        """What else is said of it."""
        if not isinstance(self.metadata, ArrayMetadata):
            return ""
        return f" {self.metadata.shape} {self.metadata.data_type.name}"


class Tree:
    """The nodes below a group, printed as a tree.

    Parameters
    ----------
    root : str
        What stands at the top.
    nodes : list of TreeNode
        Parents before children.
    cut : bool
        Whether there are more.
    """

    def __init__(self, root: str, nodes: list[TreeNode], cut: bool) -> None:
        self.root = root
        self.nodes = nodes
        self._cut = cut

    @property
    def more(self) -> str:
        """What is said of nodes that were left out; empty if there are none."""
        return f"... more than {len(self.nodes)} nodes" if self._cut else ""

    def __repr__(self) -> str:
        lines = [self.root]
        open_below: list[bool] = []
        for number, node in enumerate(self.nodes):
            last = self._is_last(number)
            del open_below[node.depth :]
            stem = "".join("│   " if more else "    " for more in open_below)
            lines.append(f"{stem}{'└── ' if last else '├── '}{node.name}{node.description}")
            open_below.append(not last)
        return "\n".join([*lines, self.more] if self.more else lines)

    def _repr_html_(self) -> str:
        from zarr_core.display.html_tree import tree_html  # noqa: PLC0415 - only if looked at

        return tree_html(self)

    def __rich__(self) -> RenderableType:
        from zarr_core.display.rich_forms import of_tree  # noqa: PLC0415 - only if rich asks

        return of_tree(self)

    def _is_last(self, number: int) -> bool:
        depth = self.nodes[number].depth
        for other in islice(self.nodes, number + 1, None):
            if other.depth <= depth:
                return other.depth < depth
        return True


def tree(group: ListedGroup, level: int | None = None) -> Tree:
    """Make the tree of a group.

    Parameters
    ----------
    group : Group
        The group.
    level : int, optional
        How many levels to show; all if not given.

    Raises
    ------
    ValueError
        If the number is negative.
    StoreError
        If the store cannot be read.

    Notes
    -----
    A member whose document is damaged is shown by its name.
    """
    if level is not None and level < 0:
        raise ValueError(f"level is at least 0, or None for all, not {level}")
    nodes: list[TreeNode] = []
    max_depth = None if level is None else level - 1
    own = group.path.count("/") + 1 if group.path else 0
    if level != 0:

        def members(path: str) -> Iterator[tuple[str, NodeMetadata | None]]:
            return _members(group, path, MetadataError)

        found = walk(group._format, group.store, group.path, max_depth, members)
        for path, metadata in found:
            if len(nodes) == MOST_NODES:
                return Tree(group.name, nodes, cut=True)
            depth = path.count("/") - own
            nodes.append(TreeNode(depth, path.rpartition("/")[2], metadata))
    return Tree(group.name, nodes, cut=False)


def glimpse(group: ListedGroup) -> Tree | None:
    """As much of the tree as may be read only because somebody looks at the group.

    The first members of each group, and two levels unless consolidated metadata know more.
    None where members would have to be asked of a store with latency.
    """
    known = group._consolidation is not None and group._consolidation.lookup
    if not known and group.store.requests is not None:
        return None
    found = _first(group, group.path, 0, _GLIMPSE_LEVELS[known])
    nodes = [*islice(found, _GLIMPSE_NODES)]
    return Tree(group.name, nodes, cut=next(found, None) is not None)


def _first(group: ListedGroup, path: str, depth: int, levels: int) -> Iterator[TreeNode]:
    for number, (name, metadata) in enumerate(_members(group, path, ZarrError)):
        if number == _GLIMPSE_MEMBERS:
            yield TreeNode(depth, "...", None)
            return
        yield TreeNode(depth, name, metadata)
        if isinstance(metadata, GroupMetadata):
            child = f"{path}/{name}" if path else name
            if depth + 1 < levels:
                yield from _first(group, child, depth + 1, levels)


def _members(
    group: ListedGroup, path: str, errors: type[ZarrError]
) -> Iterator[tuple[str, NodeMetadata | None]]:
    """Names and documents, with None for what is damaged: it must not hide the rest."""
    seen = set()
    try:
        for name, metadata in group._children(path):
            seen.add(name)
            yield name, metadata
        return
    except errors:
        pass  # whichever it was: one by one
    try:
        names = [*group._format.child_names(group.store, path)]
    except errors as error:
        yield f"... the members cannot be listed: {error}", None
        return
    for name in names:
        if name not in seen:
            try:
                yield name, group._format.read(group.store, f"{path}/{name}" if path else name)
            except errors:
                yield f"{name} (cannot be read)", None
