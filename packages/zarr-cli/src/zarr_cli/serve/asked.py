"""Reading what stands behind the ``?`` of a question."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

import zarr_core
from zarr_core import Array, Group
from zarr_core.extension import NodeNameError, NodeNotFoundError, normalise_path

from zarr_cli.serve.answers import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.extension import Store


class NotThereError(RefusedError):
    """There is no node.

    Parameters
    ----------
    path : str
        Where none is.
    """

    def __init__(self, path: str) -> None:
        super().__init__(HTTPStatus.NOT_FOUND, f"no node at '/{path}'")


def path_of(root: str, asked: Mapping[str, str]) -> str:
    """The path in the store of the node that is asked for.

    Raises
    ------
    RefusedError
        If it is none.
    """
    try:
        below = normalise_path(asked.get("path", ""))
    except NodeNameError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from error
    return "/".join(part for part in (root, below) if part)


def open_node(store: Store, root: str, path: str) -> Array | Group:
    """Open a node for reading: as it is stored, or as the consolidated metadata has it.

    The latter only where the store cannot list, so that there is no other way to know.

    Raises
    ------
    NotThereError
        If there is no node.
    ZarrError
        If it cannot be understood.
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
        raise NotThereError(path) from error


def array_asked(store: Store, root: str, asked: Mapping[str, str]) -> Array:
    """Open the array that is asked for.

    Raises
    ------
    RefusedError
        If there is none.
    """
    node = open_node(store, root, path_of(root, asked))
    if not isinstance(node, Array):
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{node.name} is a group, not an array")
    return node


def number(asked: Mapping[str, str], name: str, default: int, most: int) -> int:
    """A number that is asked for, from 0 to a limit.

    Raises
    ------
    RefusedError
        If it is none, or beyond.
    """
    text = asked.get(name, "")
    if not text:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > most:
        raise RefusedError(
            HTTPStatus.BAD_REQUEST, f"{name} is a whole number from 0 to {most}, not {text!r}"
        )
    return int(text)
