"""The endpoint ``children``: the members of a group, for the tree of the page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.extension import ZarrError
from zarr_core.threads import concurrent_map

from zarr_cli.serve.folders import Folder
from zarr_cli.serve.query import NodeMissingError, open_node, query_int, requested_path
from zarr_cli.serve.responses import JsonResponse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from zarr_core.extension import Store

_PAGE_SIZE = 200


def children(store: Store, root: str, query: Mapping[str, str]) -> Response:
    """Return a page of direct members of a group, from ``first`` on, sorted by name.

    A member that cannot be opened has the kind ``"damaged"``.
    """
    first = query_int(query, "first", 0, 10**9)
    path = requested_path(root, query)
    try:
        group: Any = open_node(store, root, path)
    except NodeMissingError:
        group = Folder(store, root, path)
    names = [] if isinstance(group, Array) else list(islice(group, first, first + _PAGE_SIZE + 1))
    members = concurrent_map(
        names[:_PAGE_SIZE], lambda name: _child(group, name), store.max_concurrency
    )
    return JsonResponse(
        {
            "children": [item for _, item in members if item is not None],
            "next": first + _PAGE_SIZE if len(names) > _PAGE_SIZE else None,
        }
    )


def _child(group: Any, name: str) -> dict[str, Any] | None:
    """Return the properties of a member; None if it no longer exists."""
    try:
        node: Array | Group = group[name]
    except KeyError:
        return None
    except NodeMissingError:
        return {"name": name, "kind": "folder"}
    except ZarrError as error:
        return {"name": name, "kind": "damaged", "reason": str(error).partition("\n")[0]}
    if isinstance(node, Group):
        return {"name": name, "kind": "group"}
    return {
        "name": name,
        "kind": "array",
        "shape": list(node.shape),
        "data_type": node.metadata.data_type.name,
    }
