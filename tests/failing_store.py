"""Stores with artificial latency and failures."""

import threading
import time

from zarr_core.extension import ByteReader, StoreError, StoreReadError
from zarr_stores.wrappers.observer import READS, ObservedStore


class FaultyStore(ObservedStore):
    """A wrapper that delays calls by ``latency`` seconds, and fails at a given call.

    The call with the number ``fail_at``, which starts at 1, fails before or after (``when``) the inner
    store has processed it; with ``forever`` all later calls fail, too.  ``max_concurrency`` replaces
    that of the inner store and its readers.  ``calls`` has method and key of every call, including
    reads of an open value, so its length without failures is the number of possible ``fail_at``.
    """

    def __init__(
        self,
        inner,
        fail_at=None,
        when="before",
        forever=False,
        latency=0.0,
        max_concurrency=None,
    ):
        super().__init__(inner)
        self._max_concurrency = max_concurrency
        if max_concurrency is not None:
            self.max_concurrency = max_concurrency
        self.fail_at = fail_at
        self.when = when
        self.forever = forever
        self.latency = latency
        self.calls = []
        self._guard = threading.Lock()

    def perform(self, operation, key, work, nbytes):
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

    def open_value(self, key, first=None):
        reader = super().open_value(key, first)
        if reader is not None and self._max_concurrency is not None:
            reader.max_concurrency = self._max_concurrency
        return reader

    def _error(self, operation, key, number):
        kind = StoreReadError if operation in READS else StoreError
        return kind(f"injected failure of call {number}, {operation}", self, key)

    def set_values(self, values):
        """Store the values one by one, so that each can fail."""
        for key, value in values:
            self.set(key, value)

    def erase_values(self, keys):
        """Erase the keys one by one, so that each can fail."""
        for key in keys:
            self.erase(key)

    def erase_prefix(self, prefix):
        """Erase the keys one by one, so that a failure leaves some of them."""
        for key in self.inner.list_prefix(prefix):
            self.erase(key)
        super().erase_prefix(prefix)


class FailingStore(FaultyStore):
    """Fails at one call, to test the state after a failure."""

    def __init__(self, inner, *arguments, **options):
        super().__init__(inner, *arguments, **options)
        # As for a remote store, so that the calls do not depend on the inner store.
        self.in_memory = False
