"""The problems of nodes, with JSON pointers; the endpoint ``problems``."""

from __future__ import annotations

from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

from zarr_core import Group
from zarr_core.extension import ZarrError

from zarr_cli.serve.query import open_node, query_int, requested_path
from zarr_cli.serve.responses import JsonResponse
from zarr_cli.serve.store_errors import without_location
from zarr_cli.validate.problem import problems_from_error

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from starlette.responses import Response
    from zarr_core import Array
    from zarr_core.extension import Store

_MOST_SECONDS = 30
_MOST_LISTED = 500
_MOST_WAITING = 100_000  # maximum number of nodes found and not opened yet


def problems_of(error: ZarrError, store: Store) -> list[dict[str, str]]:
    """Return the problems of an error, with JSON pointers."""
    return [
        {"pointer": problem.pointer, "message": without_location(problem.message, store)}
        for problem in problems_from_error(error, "")
    ]


def remarks(node: Array | Group) -> list[dict[str, str]]:
    """Return notes on a node: extensions that are ignored."""
    if isinstance(node, Group):
        return []
    return [
        {
            "pointer": "",
            "message": f"unknown extension {definition.name!r} is ignored (must_understand is "
            "false); install the distribution that provides it",
        }
        for definition in node.ignored_extensions
    ]


def problems_below(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Open every node below a path for at most ``seconds``; return those that fail."""
    deadline = monotonic() + query_int(query, "seconds", 5, _MOST_SECONDS)
    waiting = [requested_path(root, query)]
    damaged: list[dict[str, Any]] = []
    looked, complete = 0, True
    while waiting and monotonic() < deadline and len(damaged) < _MOST_LISTED:
        path = waiting.pop()
        looked += 1
        try:
            node = open_node(store, root, path)
            if isinstance(node, Group):
                names = islice(node, _MOST_WAITING - len(waiting))
                waiting += [f"{path}/{name}" if path else name for name in names]
                complete = complete and len(waiting) < _MOST_WAITING
        except ZarrError as error:
            shown = path[len(root) :].lstrip("/")
            damaged.append({"path": shown, "problems": problems_of(error, store)})
    damaged.sort(key=lambda item: str(item["path"]))
    return JsonResponse(
        {"damaged": damaged, "looked": looked, "complete": complete and not waiting}
    )
