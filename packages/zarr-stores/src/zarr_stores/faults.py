"""A store that is slow or fails as it is told to, for tests."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from zarr_core.extension import StoreError, StoreReadError, ValueReader

from zarr_stores._forked import in_children
from zarr_stores.observed import READS, ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_core.extension import ByteRange, Store

__all__ = ["FaultyStore"]

T = TypeVar("T")


class FaultyStore(ObservedStore):
    """Passes every call on to another store, late, but for one.

    Parameters
    ----------
    inner : Store
        The store that does the work.
    fail_at : int, optional
        Number of the call that fails, from 1; None for none.
    when : {"before", "after"}
        Whether the inner store has done its work when the call fails: after a
        failure nobody can know.
    forever : bool
        Whether all later calls fail as well.
    latency : float
        Seconds that every call takes longer.
    requests : int, optional
        How many calls to keep in flight, reads of one value among them; as many as the
        inner store and its values want by default.

    Attributes
    ----------
    calls : list of tuple of str
        Method and key of every call; ``len(calls)`` of a run without failures is the
        number of places to fail at.  Reads of an open value are calls too.
    """

    def __init__(
        self,
        inner: Store,
        fail_at: int | None = None,
        when: Literal["before", "after"] = "before",
        forever: bool = False,
        latency: float = 0.0,
        requests: int | None = None,
    ) -> None:
        super().__init__(inner)
        self._requests = requests
        if requests is not None:
            self.requests = requests
        self.fail_at = fail_at
        self.when = when
        self.forever = forever
        self.latency = latency
        self.calls: list[tuple[str, str]] = []
        self._guard = threading.Lock()
        in_children(self, FaultyStore._renew)

    def _renew(self) -> None:
        self._guard = threading.Lock()

    def perform(
        self, operation: str, key: str, work: Callable[[], T], nbytes: Callable[[T], int]
    ) -> T:
        with self._guard:
            self.calls.append((operation, key))
            number = len(self.calls)
        if self.latency:
            time.sleep(self.latency)
        fails = self.fail_at is not None and (
            number == self.fail_at or (self.forever and number > self.fail_at)
        )
        if fails and self.when == "before":
            raise self._error(operation, key, number)
        result = work()
        if fails:
            if isinstance(result, ValueReader):
                result.close()
            raise self._error(operation, key, number)
        return result

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        reader = super().open_value(key, first)
        if reader is not None and self._requests is not None:
            reader.requests = self._requests
        return reader

    def _error(self, operation: str, key: str, number: int) -> StoreError:
        kind = StoreReadError if operation in READS else StoreError
        return kind(f"call {number}, {operation}, fails as it was told to", self, key)

    def erase_values(self, keys: Iterable[str]) -> None:
        """Erase key by key, each a place to stop at."""
        for key in keys:
            self.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Erase key by key, so that half of them may be left."""
        for key in self.inner.list_prefix(prefix):
            self.erase(key)
        super().erase_prefix(prefix)

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.fail_at, self.when, self.forever, self.latency, self._requests
