"""What is shown in terminals by the library rich, which is imported only if it asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from rich.table import Table
from rich.text import Text
from rich.tree import Tree as RichTree

from zarr_core.display.colours import CHUNK, SCALE, WARNING
from zarr_core.display.map_text import BARS, FAILS, text
from zarr_core.metadata.array import ArrayMetadata

if TYPE_CHECKING:
    from zarr_core.display.chunk_map import ChunkMap
    from zarr_core.display.info import Info
    from zarr_core.display.tree import Tree


def of_info(info: Info) -> Table:
    """Names beside values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in info.items():
        table.add_row(Text(name), Text(value))
    return table


def of_tree(tree: Tree) -> RichTree:
    """Arrays in one colour, groups in bold."""
    root = RichTree(Text(tree.root, style="bold"))
    branches = [root]
    for node in tree.nodes:
        is_array = isinstance(node.metadata, ArrayMetadata)
        line = Text(node.name, style=CHUNK if is_array else "bold")
        line.append(node.description, style=Style(bold=False, dim=True))
        del branches[node.depth + 1 :]
        branches.append(branches[-1].add(line))
    if tree.more:
        root.add(Text(tree.more))
    return root


def of_map(found: ChunkMap) -> Text:
    """The map in colours."""
    shown = Text(no_wrap=True)
    for sign in text(found):
        if sign in BARS:
            shown.append(sign, style=SCALE[BARS.index(sign) + 1])
        else:
            shown.append(sign, style=WARNING if sign == FAILS else "")
    return shown
