"""A store that counts operations, bytes and seconds."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypedDict

from zarr_stores._after_fork import register_after_fork
from zarr_stores.wrappers.observer import ObservedStore

if TYPE_CHECKING:
    from zarr_core.extension import Store

    from zarr_stores.wrappers.observer import Call

__all__ = ["Metrics", "MetricsStore"]


class Metrics(TypedDict):
    """Statistics of one operation."""

    count: int
    """Number of calls."""
    errors: int
    """Number of calls that raised an exception."""
    nbytes: int
    """Bytes read or written."""
    seconds: float
    """Duration, summed over all threads."""


class MetricsStore(ObservedStore):
    """A wrapper that measures every operation.

    Parameters
    ----------
    inner : Store
        The store.

    Notes
    -----
    Pickles and copies start with empty statistics.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner)
        self._measured: dict[str, Metrics] = {}
        self._guard = threading.Lock()
        register_after_fork(self, MetricsStore._reinitialize)

    def _reinitialize(self) -> None:
        self._guard = threading.Lock()

    def snapshot(self) -> dict[str, Metrics]:
        """Return a copy of the statistics by operation name."""
        with self._guard:
            return {name: measured.copy() for name, measured in self._measured.items()}

    def reset(self) -> None:
        """Remove all statistics."""
        with self._guard:
            self._measured.clear()

    def note(self, call: Call) -> None:
        with self._guard:
            measured = self._measured.setdefault(
                call.operation, {"count": 0, "errors": 0, "nbytes": 0, "seconds": 0.0}
            )
            measured["count"] += 1
            measured["errors"] += call.error is not None
            measured["nbytes"] += call.nbytes
            measured["seconds"] += call.seconds
