"""A group in a notebook: what it is above the tree of its members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.display.html_attributes import attributes_html
from zarr_core.display.html_table import MUTED, folded
from zarr_core.display.html_tree import members_html
from zarr_core.display.markup import tag, text
from zarr_core.display.tree import glimpse
from zarr_core.display.words import counted

if TYPE_CHECKING:
    from zarr_core.hierarchy.listed import ListedGroup


def group_html(group: ListedGroup) -> str:
    """What a group is, with some of its members where listing them costs next to nothing."""
    kind = ["group", group._format.name]
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
    attributes = len(group.attrs)
    return tag(
        "div",
        title,
        tag("div", text(store), style=f"{MUTED};word-break:break-all;margin-bottom:4px"),
        folded(counted(attributes, "attribute"), attributes_html(group._attributes()))
        if attributes
        else "",
        _members(group),
        style="font-size:13px;line-height:1.5;margin:4px 0",
    )


def _members(group: ListedGroup) -> str:
    tree = glimpse(group)
    if tree is None:
        said = "Its members were not listed, as that takes a request for each: see tree()."
        return tag("div", said, style=MUTED)
    if not tree.nodes:
        return tag("div", "no members", style=MUTED)
    return members_html(tree)
