"""What the page may ask, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_cli.serve.children import children
from zarr_cli.serve.chunk_map import chunk_map
from zarr_cli.serve.described import described
from zarr_cli.serve.problems import problems_below
from zarr_cli.serve.window import window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Store

    from zarr_cli.serve.answers import Answer

    Question = Callable[[Store, str, Mapping[str, str]], Answer]

QUESTIONS: dict[str, Question] = {
    "children": children,
    "chunk-map": chunk_map,
    "node": described,
    "problems": problems_below,
    "window": window,
}
"""Each takes the store, the path in it that is served, what stands behind ``?``."""
