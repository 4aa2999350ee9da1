"""Places that are opened for the length of a call."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr_core.errors import NodeNotFoundError
from zarr_core.hierarchy.location import locate
from zarr_core.names import located

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.hierarchy.location import StoreLike
    from zarr_core.interfaces.store import Store


@contextmanager
def briefly(
    place: StoreLike, path: str | None = None, *, read_only: bool = False
) -> Iterator[tuple[Store, str]]:
    """Find a store, and a path in it, as :func:`zarr_core.locate` does.

    A store that was opened for this is closed in the end: it is then that a zip archive
    gets its directory.
    """
    store, below = locate(place, path, read_only=read_only)
    try:
        yield store, below
    finally:
        if isinstance(place, str | os.PathLike):
            store.close()


def refuse_misspelt(place: StoreLike, store: Store, below: str, missing: str) -> None:
    """Raise where nothing is stored, unless it is a store object that was given: a name may be wrong.

    Raises
    ------
    NodeNotFoundError
        If the place has a name.
    """
    if below or isinstance(place, str | os.PathLike):
        raise NodeNotFoundError(located(store, below), f"{missing}; check the path")
