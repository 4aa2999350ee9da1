"""Whether a node is another one, or lies in it, though each is reached from a root of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zarr_core.interfaces.store import Store


def lies_within(store: Store, path: str, other: Store, other_path: str) -> bool:
    """Whether a node is another one, or would lie in it.

    Parameters
    ----------
    store, path
        The node that may be inside.
    other, other_path
        The node that may be around it.

    Notes
    -----
    ``a.zarr`` with the path ``north`` is what ``a.zarr/north`` is; so stores that are not
    equal are compared by their addresses, local ones with symbolic links followed.  Two
    buckets of one name at different endpoints are two.
    """
    return path_within(store, path, other, other_path) is not None


def path_within(store: Store, path: str, other: Store, other_path: str) -> str | None:
    """The path by which a place is reached from another around it; None if it is not inside.

    Parameters
    ----------
    store, path, other, other_path
        As for :func:`lies_within`.
    """
    if store == other:
        return _rest(path, other_path)
    if store.realm != other.realm:
        return None
    return _rest(_address(store, path), _address(other, other_path))


def _rest(path: str, around: str) -> str | None:
    if not around:
        return path
    return path[len(around) + 1 :] if f"{path}/".startswith(f"{around}/") else None


def _address(store: Store, path: str) -> str:
    url = store.url
    if url.startswith("file:"):
        from zarr_core.stores import local_url  # noqa: PLC0415 - lazy: not for importing the door

        return f"file://{os.path.realpath(os.path.join(local_url.to_path(url), path))}".rstrip("/")
    return f"{url.rstrip('/')}/{path}".rstrip("/")
