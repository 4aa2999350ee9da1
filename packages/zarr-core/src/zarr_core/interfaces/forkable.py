"""Forkable: stores with transactions in which several processes take part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


@runtime_checkable
class Forkable(Protocol):
    """A store in a transaction in which several processes take part.

    Changes in another process are only in its copy of the store.  Programs that distribute work
    pass a fork to each process, receive it back and merge it.
    """

    def fork(self) -> Self:
        """Return a store for the same location that can be pickled and has its own changes.

        Raises
        ------
        StoreError
            If forking is not possible in the present state.
        """

    def merge(self, forks: Sequence[Any]) -> None:
        """Add the changes of forks, which other processes may have returned."""
