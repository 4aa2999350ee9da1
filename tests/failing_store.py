"""Stores with artificial latency and failures."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from zarr_core.extension import ByteReader, StoreError, StoreReadError
from zarr_stores.wrappers.observer import READS, ObservedStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from zarr_core.extension import Buffers, ByteRange, Store

__all__ = ["READS", "FailingStore", "FaultyStore"]

T = TypeVar("T")


class FaultyStore(ObservedStore):
    """A wrapper that delays calls, and fails at a given call.

    Parameters
    ----------
    inner : Store
        The wrapped store.
    fail_at : int, optional
        Number of the call that fails, starting at 1; None for no failure.
    when : {"before", "after"}
        Whether the call fails before or after the inner store has processed it.
    forever : bool
        Whether all later calls fail, too.
    latency : float
        Additional duration of every call, in seconds.
    max_concurrency : int, optional
        Maximum number of concurrent calls, including reads of one value; by default that of
        the inner store and its readers.

    Attributes
    ----------
    calls : list of tuple of str
        Method and key of every call, including reads of an open value.  ``len(calls)`` of a
        run without failures is the number of possible values of ``fail_at``.
    """

    def __init__(
        self,
        inner: Store,
        fail_at: int | None = None,
        when: Literal["before", "after"] = "before",
        forever: bool = False,
        latency: float = 0.0,
        max_concurrency: int | None = None,
    ) -> None:
        super().__init__(inner)
        self._max_concurrency = max_concurrency
        if max_concurrency is not None:
            self.max_concurrency = max_concurrency
        self.fail_at = fail_at
        self.when = when
        self.forever = forever
        self.latency = latency
        self.calls: list[tuple[str, str]] = []
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
            if isinstance(result, ByteReader):
                result.close()
            raise self._error(operation, key, number)
        return result

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        reader = super().open_value(key, first)
        if reader is not None and self._max_concurrency is not None:
            reader.max_concurrency = self._max_concurrency
        return reader

    def _error(self, operation: str, key: str, number: int) -> StoreError:
        kind = StoreReadError if operation in READS else StoreError
        return kind(f"injected failure of call {number}, {operation}", self, key)

    def set_values(self, values: Iterable[tuple[str, Buffers]]) -> None:
        """Store the values one by one, so that each can fail."""
        for key, value in values:
            self.set(key, value)

    def erase_values(self, keys: Iterable[str]) -> None:
        """Erase the keys one by one, so that each can fail."""
        for key in keys:
            self.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Erase the keys one by one, so that a failure leaves some of them."""
        for key in self.inner.list_prefix(prefix):
            self.erase(key)
        super().erase_prefix(prefix)

    def _arguments(self) -> tuple[Any, ...]:
        return (
            self.inner,
            self.fail_at,
            self.when,
            self.forever,
            self.latency,
            self._max_concurrency,
        )


class FailingStore(FaultyStore):
    """Fails at one call, to test the state after a failure."""

    def __init__(self, inner: Store, *arguments: Any, **options: Any) -> None:
        super().__init__(inner, *arguments, **options)
        # As for a remote store, so that the calls do not depend on the inner store.
        self.in_memory = False
