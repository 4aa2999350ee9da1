"""Comparison of locations in different stores."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from zarr_core.tools import path_from_url

if TYPE_CHECKING:
    from zarr_core.extension import Store


def is_within_location(store: Store, path: str, other: Store, other_path: str) -> bool:
    """Whether a location (``store``, ``path``) is the same as another, or below it.

    ``a.zarr`` with the path ``north`` is the same location as ``a.zarr/north``: different stores
    are compared by URL, local ones after resolving symbolic links.  Buckets with the same name
    at different endpoints are different.
    """
    return path_within(store, path, other, other_path) is not None


def path_within(store: Store, path: str, other: Store, other_path: str) -> str | None:
    """Return the path of a location relative to an outer one; None if it is not inside.

    Locations are compared as in :func:`is_within_location`.
    """
    if store == other:
        return _rest(path, other_path)
    if store.traits.endpoint != other.traits.endpoint:
        return None
    return _rest(_address(store, path), _address(other, other_path))


def _rest(path: str, around: str) -> str | None:
    if not around:
        return path
    return path[len(around) + 1 :] if f"{path}/".startswith(f"{around}/") else None


def _address(store: Store, path: str) -> str:
    url = store.url
    if url.startswith("file:"):
        return f"file://{os.path.realpath(os.path.join(path_from_url(url), path))}".rstrip("/")
    return f"{url.rstrip('/')}/{path}".rstrip("/")
