"""The display extension: HTML, rich output and chunk maps for zarr-core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.display.info import Info
from zarr_core.display.tree import Tree
from zarr_core.extension import Display
from zarr_core.tools import StoredArray, StoredGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType

    from zarr_display.chunk_map import ChunkMap


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

    def chunk_map(
        self,
        array: StoredArray,
        dims: Sequence[int | str] | None = None,
        at: Mapping[int | str, int] | None = None,
        *,
        sizes: bool = True,
        inner: bool = True,
        cells: int = 64,
        most: int = 100_000,
    ) -> ChunkMap:
        from zarr_display.chunk_map import chunk_map

        return chunk_map(array, dims, at, sizes=sizes, inner=inner, cells=cells, most=most)
