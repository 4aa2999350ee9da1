"""Forking: what a store has whose changes stay with it until its user commits them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


@runtime_checkable
class Forking(Protocol):
    """A store in a transaction that many processes can take part in.

    What another process writes into its copy of the store is in that copy, and would be lost
    with it.  So who shares work out gives each a fork, has it back, and merges it.
    """

    def fork(self) -> Self:
        """A store for the same place that pickles, with changes of its own.

        Raises
        ------
        StoreError
            If that cannot be had now.
        """

    def merge(self, forks: Sequence[Any]) -> None:
        """Take over what was written into forks, all of which may have come from elsewhere."""
