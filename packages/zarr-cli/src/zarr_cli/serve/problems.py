"""The problems of nodes, with JSON pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core import Group

from zarr_cli.serve.store_errors import without_location
from zarr_cli.validate.problem import problems_from_error

if TYPE_CHECKING:
    from zarr_core import Array
    from zarr_core.extension import Store, ZarrError


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
