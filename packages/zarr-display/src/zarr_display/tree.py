"""A hierarchy as a tree: as text and as HTML."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.errors import MetadataError, ZarrError
from zarr_core.extension import ArrayMetadata, GroupMetadata, escape_controls
from zarr_core.formats.walk import walk
from zarr_core.messages import shorten

from zarr_display.html import MUTED, tag, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.engine.stored_node import StoredGroup

    NodeMetadata = ArrayMetadata | GroupMetadata

MOST_NODES = 500
_LONGEST = 1000  # characters of a name
_LIST = "list-style:none;margin:0;padding:0 0 0 1.3em"
_ITEM = "margin:1px 0"
_MOST_OPEN = 40  # maximum number of nodes of a tree that is shown unfolded


class TreeNode(NamedTuple):
    """One line of a tree.

    ``depth`` is 0 for the members of the group.  ``name`` is the last part of the path, not
    escaped.  ``metadata`` is None for a message, or if it cannot be read.
    """

    depth: int
    name: str
    metadata: NodeMetadata | None

    @property
    def label(self) -> str:
        """The printable name."""
        return _shown(self.name)

    @property
    def description(self) -> str:
        """Shape and data type of an array."""
        if not isinstance(self.metadata, ArrayMetadata):
            return ""
        return f" {self.metadata.shape} {_shown(self.metadata.data_type.name)}"


class Tree:
    """The nodes below a group, printed as a tree.

    ``root`` is the first line, ``nodes`` has parents before children, ``cut`` means that there are
    more nodes.
    """

    def __init__(self, root: str, nodes: list[TreeNode], cut: bool) -> None:
        self.root = root
        self.nodes = nodes
        self._cut = cut

    @property
    def more(self) -> str:
        """A line about nodes that are not shown; empty if there are none."""
        return f"... more than {len(self.nodes)} nodes" if self._cut else ""

    def __repr__(self) -> str:
        lines = [_shown(self.root)]
        open_below: list[bool] = []
        for position, node in enumerate(self.nodes):
            last = self._is_last(position)
            del open_below[node.depth :]
            stem = "".join("│   " if more else "    " for more in open_below)
            lines.append(f"{stem}{'└── ' if last else '├── '}{node.label}{node.description}")
            open_below.append(not last)
        return "\n".join([*lines, self.more] if self.more else lines)

    def _repr_html_(self) -> str:
        return tag("div", tag("b", text(self.root)), members_html(self), style="line-height:1.5")

    def _is_last(self, position: int) -> bool:
        depth = self.nodes[position].depth
        for other in islice(self.nodes, position + 1, None):
            if other.depth <= depth:
                return other.depth < depth
        return True


def _shown(name: str) -> str:
    return escape_controls(shorten(name, _LONGEST))


def tree(group: StoredGroup, level: int | None = None) -> Tree:
    """Create the tree of a group, with at most ``level`` levels.

    Members with damaged metadata have no details.  Raises a StoreError if the store cannot be read.
    """
    nodes: list[TreeNode] = []
    max_depth = None if level is None else level - 1
    own = group.path.count("/") + 1 if group.path else 0
    if level != 0:

        def members(path: str) -> Iterator[tuple[str, NodeMetadata | None]]:
            return members_of(group, path, MetadataError)

        walked = walk(group.format, group.store, group.path, max_depth, members)
        for path, metadata in walked:
            if len(nodes) == MOST_NODES:
                return Tree(group.name, nodes, cut=True)
            depth = path.count("/") - own
            nodes.append(TreeNode(depth, path.rpartition("/")[2], metadata))
    return Tree(group.name, nodes, cut=False)


def members_of(
    group: StoredGroup, path: str, errors: type[ZarrError]
) -> Iterator[tuple[str, NodeMetadata | None]]:
    """Names and metadata of the members of a group, including damaged ones.

    ``path`` is the group whose members are listed.  Exceptions of the type ``errors`` are shown in
    the name, with None for the metadata.
    """
    seen = set()
    try:
        for name, metadata in group.children(path):
            seen.add(name)
            yield name, metadata
        return
    except errors:
        pass  # read the members one by one
    try:
        names = [*group.format.child_names(group.store, path)]
    except errors as error:
        yield f"... the members cannot be listed: {error}", None
        return
    for name in names:
        if name not in seen:
            try:
                yield (
                    name,
                    group.format.read(group.store, f"{path}/{name}" if path else name),
                )
            except errors:
                yield f"{name} (cannot be read)", None


def members_html(tree: Tree) -> str:
    """Return nested lists of members; groups are folded if there are many nodes."""
    is_open = len(tree.nodes) <= _MOST_OPEN
    # The items of the lists that are not closed yet, the innermost last.
    lists: list[list[str]] = [[]]
    groups: list[TreeNode] = []
    for node in (*tree.nodes, TreeNode(0, "", None)):
        while len(lists) > node.depth + 1:
            _put_group(lists, groups.pop(), is_open)
        if isinstance(node.metadata, GroupMetadata):
            groups.append(node)
            lists.append([])
        else:
            lists[-1].append(tag("li", _line(node), style=_ITEM))
    lists[0].pop()  # the last node only closes open lists
    more = tag("div", text(tree.more), style=MUTED) if tree.more else ""
    return (tag("ul", *lists[0], style=_LIST) if lists[0] else "") + more


def _put_group(lists: list[list[str]], group: TreeNode, is_open: bool) -> None:
    members = lists.pop()
    name = tag("b", text(group.name))
    if not members:
        line = tag("span", name, style="padding-left:1em")
    else:
        line = tag(
            "details",
            tag("summary", name, style="cursor:pointer"),
            tag("ul", *members, style=_LIST),
            open="" if is_open else None,
        )
    lists[-1].append(tag("li", line, style=_ITEM))


def _line(node: TreeNode) -> str:
    if not isinstance(node.metadata, ArrayMetadata):
        return text(node.name)
    metadata = node.metadata
    names = metadata.dimension_names or (None,) * len(metadata.shape)
    shape = ", ".join(
        f"{length:,}" if name is None else f"{name}: {length:,}"
        for name, length in zip(names, metadata.shape, strict=True)
    )
    details = f" ({shape}) {metadata.data_type.name}"
    return text(node.name) + tag("span", text(details), style=MUTED)
