"""The display extension: HTML for zarr-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.engine.stored_node import StoredGroup
from zarr_core.extension import Display, StoredArray

if TYPE_CHECKING:
    from zarr_display.info import Info
    from zarr_display.tree import Tree


class DefaultDisplay(Display):
    """The default display extension."""

    def info(self, node: StoredArray | StoredGroup, complete: bool = False) -> Info:
        from zarr_display.info import array_info, group_info

        if isinstance(node, StoredArray):
            return array_info(node, list_chunks=complete)
        return group_info(node, count_members=complete)

    def tree(self, group: StoredGroup, level: int | None = None) -> Tree:
        from zarr_display.tree import tree

        return tree(group, level)

    def html(self, shown: Any) -> str:
        if isinstance(shown, StoredArray):
            from zarr_display.array_html import array_html

            return array_html(shown)
        if isinstance(shown, StoredGroup):
            from zarr_display.group_html import group_html

            return group_html(shown)
        from zarr_display.attributes_html import attributes_html

        return attributes_html(shown.asdict())
