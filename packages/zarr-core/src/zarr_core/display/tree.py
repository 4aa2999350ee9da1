"""A hierarchy as a tree."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.display.extension import html, rich
from zarr_core.errors import MetadataError, ZarrError
from zarr_core.formats.walk import walk
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.printable import escape_controls, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from zarr_core.engine.stored_node import StoredGroup
    from zarr_core.interfaces.format import NodeMetadata

MOST_NODES = 500
_LONGEST = 1000  # characters of a name


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
        for number, node in enumerate(self.nodes):
            last = self._is_last(number)
            del open_below[node.depth :]
            stem = "".join("│   " if more else "    " for more in open_below)
            lines.append(f"{stem}{'└── ' if last else '├── '}{node.label}{node.description}")
            open_below.append(not last)
        return "\n".join([*lines, self.more] if self.more else lines)

    def _repr_html_(self) -> str | None:
        return html(self)

    def __rich__(self) -> RenderableType:
        return rich(self)

    def _is_last(self, number: int) -> bool:
        depth = self.nodes[number].depth
        for other in islice(self.nodes, number + 1, None):
            if other.depth <= depth:
                return other.depth < depth
        return True


def _shown(name: str) -> str:
    return escape_controls(shorten(name, _LONGEST))


def tree(group: StoredGroup, level: int | None = None) -> Tree:
    """Create the tree of a group, with at most ``level`` levels.

    Members with damaged metadata have no details.  Raises a ValueError for a negative level, and a
    StoreError if the store cannot be read.
    """
    if level is not None and level < 0:
        raise ValueError(f"level must be at least 0, or None for all levels, not {level}")
    nodes: list[TreeNode] = []
    max_depth = None if level is None else level - 1
    own = group.path.count("/") + 1 if group.path else 0
    if level != 0:

        def members(path: str) -> Iterator[tuple[str, NodeMetadata | None]]:
            return members_of(group, path, MetadataError)

        found = walk(group.format, group.store, group.path, max_depth, members)
        for path, metadata in found:
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
