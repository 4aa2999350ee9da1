"""The HTML representation of a tree, with a small drawing of each array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.display.tree import TreeNode
from zarr_core.errors import ExtensionError
from zarr_core.extension import ArrayMetadata, GroupMetadata
from zarr_core.tools import create_extension

from zarr_display.axis_scale import edges
from zarr_display.colours import CHUNK
from zarr_display.html import MUTED, number, tag, text

if TYPE_CHECKING:
    from zarr_core.display.tree import Tree
    from zarr_core.extension import ChunkAxis, ChunkGrid

_LIST = "list-style:none;margin:0;padding:0 0 0 1.3em"
_ITEM = "margin:1px 0"
_SIDE = 20  # side length of the drawing of an array
_MOST_OPEN = 40  # maximum number of nodes of a tree that is shown unfolded


def tree_html(tree: Tree) -> str:
    """Return the tree, including its root."""
    return tag("div", tag("b", text(tree.root)), members_html(tree), style="line-height:1.5")


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
    return small_drawing(metadata) + text(node.name) + tag("span", text(details), style=MUTED)


def small_drawing(metadata: ArrayMetadata) -> str:
    """Return a drawing of the last two dimensions with their chunks, as large as a letter."""
    if not metadata.shape:
        rows, columns, axes = 0.3 * _SIDE, 0.3 * _SIDE, None
    else:
        *_, height, width = (1, *metadata.shape)
        larger = max(height, width, 1)
        rows, columns = (max(it / larger * _SIDE, 0.25 * _SIDE) for it in (height, width))
        axes = _axes(metadata)
    lines = []
    if axes and all(axis.size for axis in axes):
        *vertical, along = axes[-2:]
        lines += [f"M{number(x)} 0v{number(rows)}" for x in _edges(along, columns)]
        for axis in vertical:
            lines += [f"M0 {number(y)}h{number(columns)}" for y in _edges(axis, rows)]
    frame = f"M0 0h{number(columns)}v{number(rows)}h-{number(columns)}z"
    return tag(
        "svg",
        tag("path", d=frame, fill=CHUNK, fill_opacity=0.25, stroke="currentColor"),
        tag("path", d="".join(lines), stroke="currentColor", stroke_opacity=0.5) if lines else "",
        width=_SIDE + 2, height=number(rows + 2),
        viewBox=f"{number((columns - _SIDE - 2) / 2)} -1 {_SIDE + 2} {number(rows + 2)}",
        aria_hidden="true", style="vertical-align:middle;margin-right:6px",
    )  # fmt: skip


def _edges(axis: ChunkAxis, pixels: float) -> tuple[float, ...]:
    return edges(axis.runs(), axis.size, pixels)[0]


def _axes(metadata: ArrayMetadata) -> tuple[ChunkAxis, ...] | None:
    """Return the axes of the chunk grid; None if the chunk grid is unknown or invalid."""
    try:
        grid: ChunkGrid | None = create_extension("chunk_grid", metadata.chunk_grid)
        return None if grid is None else grid.axes(metadata.shape)
    except (ExtensionError, ValueError):
        return None
