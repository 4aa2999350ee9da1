"""Parsing of the query parameters of a request."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import zarr_core
from starlette.exceptions import HTTPException
from zarr_core import Array, Group
from zarr_core.errors import NodeNameError
from zarr_core.extension import NodeNotFoundError
from zarr_core.names import normalise_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import Store


class NodeMissingError(HTTPException):
    """A path has no node."""

    def __init__(self, path: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, f"no node at '/{path}'")


def requested_path(root: str, query: Mapping[str, str]) -> str:
    """Return the path in the store of the requested node."""
    try:
        below = normalise_path(query.get("path", ""))
    except NodeNameError as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, str(error)) from error
    return "/".join(part for part in (root, below) if part)


def open_node(store: Store, root: str, path: str) -> Array | Group:
    """Open a node for reading.

    Consolidated metadata is used only if the store cannot list its keys.
    """
    try:
        if store.supports_listing or path == root:
            use = None if not store.supports_listing else False
            return zarr_core.open(store, "r", path=path, use_consolidated=use)
        top = zarr_core.open(store, "r", path=root)
        if isinstance(top, Group) and top.metadata.consolidated is not None:
            return top[path[len(root) :]]
        return zarr_core.open(store, "r", path=path)
    except (NodeNotFoundError, KeyError) as error:
        raise NodeMissingError(path) from error


def requested_array(store: Store, root: str, query: Mapping[str, str]) -> Array:
    """Open the requested array."""
    node = open_node(store, root, requested_path(root, query))
    if not isinstance(node, Array):
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"{node.name} is a group, not an array")
    return node


def query_int(query: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return an integer parameter from 0 to a maximum."""
    text = query.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > most:
        raise HTTPException(
            HTTPStatus.BAD_REQUEST, f"{name} must be an integer from 0 to {most}, not {text!r}"
        )
    return int(text)
