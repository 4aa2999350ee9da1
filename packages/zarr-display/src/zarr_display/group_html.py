"""The HTML representation of a group: its properties and the tree of its members."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from zarr_core.extension import GroupMetadata, ZarrError

from zarr_display.attributes_html import folded_attributes
from zarr_display.html import MUTED, tag, text
from zarr_display.tree import Tree, TreeNode, members_html, members_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.engine.stored_node import StoredGroup

_MOST_NODES, _MOST_MEMBERS = 120, 30
_MOST_LEVELS = {True: 8, False: 2}  # with, without consolidated metadata


def group_html(group: StoredGroup) -> str:
    """Return the HTML of a group, with some members if listing them is fast."""
    kind = ["group", group.format.name]
    if group.metadata.consolidated is not None:
        kind.append("consolidated")
    if group.read_only:
        kind.append("read-only")
    store = f"{type(group.store).__name__} {group.store}"
    title = tag(
        "div",
        tag("b", text(group.name, 120)),
        tag("span", f" {text(', '.join(kind))}", style=MUTED),
        style="font-size:14px",
    )
    return tag(
        "div",
        title,
        tag("div", text(store), style=f"{MUTED};word-break:break-all;margin-bottom:4px"),
        folded_attributes(group.metadata.attributes),
        _members(group),
        style="font-size:13px;line-height:1.5;margin:4px 0",
    )


def _members(group: StoredGroup) -> str:
    tree = first_members(group)
    if tree is None:
        message = "Members are not listed, because each requires a request; use tree()."
        return tag("div", message, style=MUTED)
    if not tree.nodes:
        return tag("div", "no members", style=MUTED)
    return members_html(tree)


def first_members(group: StoredGroup) -> Tree | None:
    """Return the first members of each group: two levels, more with consolidated metadata.

    None if they would have to be requested from a store with latency.
    """
    is_consolidated = group.uses_consolidated
    if not is_consolidated and group.store.max_concurrency is not None:
        return None
    members = _first(group, group.path, 0, _MOST_LEVELS[is_consolidated])
    nodes = [*islice(members, _MOST_NODES)]
    return Tree(group.name, nodes, cut=next(members, None) is not None)


def _first(group: StoredGroup, path: str, depth: int, levels: int) -> Iterator[TreeNode]:
    for number, (name, metadata) in enumerate(members_of(group, path, ZarrError)):
        if number == _MOST_MEMBERS:
            yield TreeNode(depth, "...", None)
            return
        yield TreeNode(depth, name, metadata)
        if isinstance(metadata, GroupMetadata):
            child = f"{path}/{name}" if path else name
            if depth + 1 < levels:
                yield from _first(group, child, depth + 1, levels)
