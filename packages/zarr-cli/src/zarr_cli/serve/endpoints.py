"""The endpoints of the page by name."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from zarr_cli.serve.children import children
from zarr_cli.serve.chunk_map import chunk_map
from zarr_cli.serve.node import describe_node
from zarr_cli.serve.problems import problems_below
from zarr_cli.serve.window import window

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from zarr_core.extension import Store

    from zarr_cli.serve.responses import Response

    Endpoint = Callable[[Store, str, Mapping[str, str]], Response]

ENDPOINTS: dict[str, Endpoint] = {
    "children": children,
    "chunk-map": chunk_map,
    "node": describe_node,
    "problems": problems_below,
    "window": window,
}
"""Functions of the store, the served path and the query parameters."""

# A call may need several hundred megabytes and one processor, so concurrency is limited.
_working = threading.BoundedSemaphore(6)


def call_endpoint(name: str, store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Call an endpoint."""
    with _working:
        return ENDPOINTS[name](store, root, query)
