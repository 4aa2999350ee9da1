"""The display extension: HTML and rich output for zarr-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.display.info import Info
from zarr_core.display.tree import Tree
from zarr_core.extension import Display
from zarr_core.tools import StoredArray, StoredGroup

if TYPE_CHECKING:
    from rich.console import RenderableType


class DefaultDisplay(Display):
    """The default display extension."""

    def html(self, shown: Any) -> str:
        if isinstance(shown, StoredArray):
            from zarr_display.array_html import array_html

            return array_html(shown)
        if isinstance(shown, StoredGroup):
            from zarr_display.group_html import group_html

            return group_html(shown)
        if isinstance(shown, Tree):
            from zarr_display.tree_html import tree_html

            return tree_html(shown)
        if isinstance(shown, Info):
            from zarr_display.html import row, table, text

            return table(*(row(text(name), text(value)) for name, value in shown.items()))
        from zarr_display.attributes_html import attributes_html

        return attributes_html(shown.asdict())

    def rich(self, shown: Any) -> RenderableType:
        from zarr_display import rich  # optional dependency

        return rich.of_tree(shown) if isinstance(shown, Tree) else rich.of_info(shown)
