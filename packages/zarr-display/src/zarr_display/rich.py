"""Representations for the library rich."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as RichTree
from zarr_core.extension import ArrayMetadata
from zarr_core.tools import escape_controls

from zarr_display.colours import CHUNK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.display.info import Info
    from zarr_core.display.tree import Tree


def of_info(info: Info) -> Table:
    """Return a table of names and values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in info.items():
        table.add_row(Text(name), Text(value))
    return table


def of_tree(tree: Tree) -> RichTree:
    """Return a tree with coloured arrays and bold groups."""
    root = RichTree(Text(escape_controls(tree.root), style="bold"))
    branches = [root]
    for node in tree.nodes:
        is_array = isinstance(node.metadata, ArrayMetadata)
        line = Text(node.label, style=CHUNK if is_array else "bold")
        line.append(node.description, style=Style(bold=False, dim=True))
        del branches[node.depth + 1 :]
        branches.append(branches[-1].add(line))
    if tree.more:
        root.add(Text(tree.more))
    return root


def of_symbols(text: str, styles: Mapping[str, str]) -> Text:
    """Return a text whose symbols have styles, such as colours."""
    shown = Text(no_wrap=True)
    for symbol in text:
        shown.append(symbol, style=styles.get(symbol, ""))
    return shown
