"""The members of a group, for the tree of the page."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from zarr_core import Array, Group
from zarr_core.extension import ZarrError, in_flight

from zarr_cli.serve.answers import Answer, json_answer
from zarr_cli.serve.asked import NotThereError, number, open_node, path_of
from zarr_cli.serve.folders import Folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import Store

_AT_ONCE = 200


def children(store: Store, root: str, asked: Mapping[str, str]) -> Answer:
    """Some direct members of a group, from ``first`` on, sorted by name.

    One that cannot be understood is of the kind ``"damaged"``, and the others are shown.
    """
    first = number(asked, "first", 0, 10**9)
    path = path_of(root, asked)
    try:
        group: Any = open_node(store, root, path)
    except NotThereError:
        group = Folder(store, root, path)
    names = [] if isinstance(group, Array) else list(islice(group, first, first + _AT_ONCE + 1))
    found = in_flight(names[:_AT_ONCE], lambda name: _child(group, name), store.requests)
    return json_answer(
        {
            "children": [item for _, item in found if item is not None],
            "next": first + _AT_ONCE if len(names) > _AT_ONCE else None,
        }
    )


def _child(group: Any, name: str) -> dict[str, Any] | None:
    """What the tree shows of a member; None for one that has gone meanwhile."""
    try:
        node: Array | Group = group[name]
    except KeyError:
        return None
    except NotThereError:
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
