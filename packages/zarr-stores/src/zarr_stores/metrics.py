"""A store that counts operations, their bytes, their seconds."""

from __future__ import annotations

import threading
from time import perf_counter
from typing import TYPE_CHECKING, TypedDict, TypeVar

from zarr_stores._forked import in_children
from zarr_stores.observed import ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_core.extension import Store

__all__ = ["Metrics", "MetricsStore"]

T = TypeVar("T")


class Metrics(TypedDict):
    """What was measured of one operation."""

    count: int
    """How often it was called."""
    errors: int
    """How often it raised."""
    nbytes: int
    """Bytes of values that went in or out."""
    seconds: float
    """Time it took, all threads added up."""


class MetricsStore(ObservedStore):
    """Measures every operation on the way to another store.

    Parameters
    ----------
    inner : Store
        The store.

    Notes
    -----
    A pickled one, or a copy, begins with nothing measured.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._measured: dict[str, Metrics] = {}
        self._guard = threading.Lock()
        in_children(self, MetricsStore._renew)

    def _renew(self) -> None:
        self._guard = threading.Lock()

    def snapshot(self) -> dict[str, Metrics]:
        """What was measured since the beginning, by the name of the operation.

        Numbers for whichever system collects them; later operations do not change it.
        """
        with self._guard:
            return {name: measured.copy() for name, measured in self._measured.items()}

    def reset(self) -> None:
        """Begin anew."""
        with self._guard:
            self._measured.clear()

    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        begun = perf_counter()
        errors, count = 1, 0
        try:
            result = work()
            errors, count = 0, nbytes(result)
        finally:
            seconds = perf_counter() - begun
            with self._guard:
                measured = self._measured.setdefault(
                    operation, {"count": 0, "errors": 0, "nbytes": 0, "seconds": 0.0}
                )
                measured["count"] += 1
                measured["errors"] += errors
                measured["nbytes"] += count
                measured["seconds"] += seconds
        return result
