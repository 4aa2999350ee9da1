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
    if store == other:
        return not other_path or f"{path}/".startswith(f"{other_path}/")
    if store.realm != other.realm:
        return False
    return f"{_address(store, path)}/".startswith(f"{_address(other, other_path)}/")


def _address(store: Store, path: str) -> str:
    url = store.url
    if url.startswith("file:"):
        from zarr_core.stores import local_url  # noqa: PLC0415 - lazy: not for importing the door

        return f"file://{os.path.realpath(os.path.join(local_url.to_path(url), path))}".rstrip("/")
    return f"{url.rstrip('/')}/{path}".rstrip("/")
