"""What the page may ask, by name."""

from __future__ import annotations

import threading
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

# Each may take some hundred megabytes and a processor: few are answered at once.
_working = threading.BoundedSemaphore(6)


def answer_to(name: str, store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """Answer one of the questions."""
    with _working:
        return QUESTIONS[name](store, root, asked)
