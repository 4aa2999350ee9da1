"""A hierarchy as a tree in text or HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from zarr_core.hierarchy.walk import walk
from zarr_core.metadata.array import ArrayMetadata

if TYPE_CHECKING:
    from zarr_core.hierarchy.listed import ListedGroup
    from zarr_core.interfaces.format import NodeMetadata

MOST_NODES = 500


class Tree:
    """The nodes below a group, printed as a tree.

    Parameters
    ----------
    root : str
        What stands at the top.
    nodes : list of (int, str, str)
        Depth, name and description of each node, parents before children.
    cut : bool
        Whether there are more.
    """

    def __init__(self, root: str, nodes: list[tuple[int, str, str]], cut: bool) -> None:
        self._root = root
        self._nodes = nodes
        self._cut = cut

    def __repr__(self) -> str:
        lines = [self._root]
        open_below: list[bool] = []
        for number, (depth, name, description) in enumerate(self._nodes):
            last = self._is_last(number)
            del open_below[depth:]
            stem = "".join("│   " if more else "    " for more in open_below)
            lines.append(f"{stem}{'└── ' if last else '├── '}{name}{description}")
            open_below.append(not last)
        if self._cut:
            lines.append(self._more())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<div><b>{escape(self._root)}</b>"]
        depth = -1
        for level, name, description in self._nodes:
            parts.append("<ul>" if level > depth else "</li>" + "</ul></li>" * (depth - level))
            parts.append(f"<li>{escape(name)}<span>{escape(description)}</span>")
            depth = level
        parts.append("</li></ul>" * (depth + 1))
        parts.append(f"<p>{escape(self._more())}</p>" if self._cut else "")
        return "".join([*parts, "</div>"])

    def _more(self) -> str:
        return f"... more than {len(self._nodes)} nodes"

    def _is_last(self, number: int) -> bool:
        depth = self._nodes[number][0]
        for other, _, _ in self._nodes[number + 1 :]:
            if other <= depth:
                return other < depth
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
    """
    if level is not None and level < 0:
        raise ValueError(f"level is at least 0, or None for all, not {level}")
    nodes: list[tuple[int, str, str]] = []
    max_depth = None if level is None else level - 1
    own = group.path.count("/") + 1 if group.path else 0
    if level != 0:
        found = walk(group._format, group.store, group.path, max_depth, group._children)
        for path, metadata in found:
            if len(nodes) == MOST_NODES:
                return Tree(group.name, nodes, cut=True)
            depth = path.count("/") - own
            nodes.append((depth, path.rpartition("/")[2], _described(metadata)))
    return Tree(group.name, nodes, cut=False)


def _described(metadata: NodeMetadata) -> str:
    if not isinstance(metadata, ArrayMetadata):
        return ""
    return f" {metadata.shape} {metadata.data_type.name}"
