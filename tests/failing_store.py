"""A store that fails at its k-th call, to try what a failure leaves behind."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import Store, StoreError, StoreReadError, ValueReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

READS = frozenset(
    {
        "get",
        "get_partial_values",
        "get_into",
        "open_value",
        "exists",
        "getsize",
        "list_prefix",
        "list_dir",
        "reader.read_into",
        "reader.read",
    }
)


class FailingStore(Store):
    """Passes every call on to another store, but for one.

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
    ) -> None:
        self.inner = inner
        self.fail_at = fail_at
        self.when = when
        self.forever = forever
        self.calls: list[tuple[str, str]] = []
        self.read_only = inner.read_only
        self.supports_listing = inner.supports_listing
        self.supports_erasing = inner.supports_erasing
        self.requests = inner.requests
        self._guard = threading.Lock()

    @property
    def url(self) -> str:
        return self.inner.url

    def call(self, method: str, key: str, work: Callable[[], Any]) -> Any:
        """Do a piece of work, or fail."""
        with self._guard:
            self.calls.append((method, key))
            number = len(self.calls)
        fails = self.fail_at is not None and (
            number == self.fail_at or (self.forever and number > self.fail_at)
        )
        if fails and self.when == "before":
            raise self._error(method, key, number)
        result = work()
        if fails:
            if isinstance(result, ValueReader):
                result.close()
            raise self._error(method, key, number)
        return result

    def _error(self, method: str, key: str, number: int) -> StoreError:
        kind = StoreReadError if method in READS else StoreError
        return kind(f"call {number}, {method}, fails as it was told to", self, key)

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        return self.call("get", key, lambda: self.inner.get(key))

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        asked = list(key_ranges)
        keys = " ".join(key for key, _ in asked)
        return self.call("get_partial_values", keys, lambda: self.inner.get_partial_values(asked))

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        return self.call("get_into", key, lambda: self.inner.get_into(key, buffer))

    def open_value(self, key: str) -> ValueReader | None:
        reader = self.call("open_value", key, lambda: self.inner.open_value(key))
        return None if reader is None else _Reader(self, reader, key)

    def exists(self, key: str) -> bool:
        return self.call("exists", key, lambda: self.inner.exists(key))

    def getsize(self, key: str) -> int | None:
        return self.call("getsize", key, lambda: self.inner.getsize(key))

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self.call("set", key, lambda: self.inner.set(key, value))

    def update(self, key: str, change: Change) -> None:
        def watched(reader: ValueReader | None) -> Pieces | ValueReader | None:
            return change(None if reader is None else _Reader(self, reader, key))

        self.call("update", key, lambda: self.inner.update(key, watched))

    def erase(self, key: str) -> None:
        self.call("erase", key, lambda: self.inner.erase(key))

    def erase_values(self, keys: Iterable[str]) -> None:
        for key in keys:  # each is a place to stop at
            self.erase(key)

    def erase_prefix(self, prefix: str) -> None:
        """Erase key by key, so that half of them may be left."""
        for key in self.inner.list_prefix(prefix):
            self.erase(key)
        self.call("erase_prefix", prefix, lambda: self.inner.erase_prefix(prefix))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self.call("list_prefix", prefix, lambda: self.inner.list_prefix(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        return self.call("list_dir", prefix, lambda: self.inner.list_dir(prefix))

    # --- the object ---

    def close(self) -> None:
        self.inner.close()

    def __eq__(self, other: object) -> bool:
        return self.inner == (other.inner if isinstance(other, FailingStore) else other)

    def __hash__(self) -> int:
        return hash(self.inner)

    def __repr__(self) -> str:
        return f"FailingStore({self.inner!r}, fail_at={self.fail_at})"


class _Reader(ValueReader):
    """An open value of a failing store."""

    def __init__(self, store: FailingStore, inner: ValueReader, key: str) -> None:
        self._store = store
        self._inner = inner
        self._key = key

    @property
    def size(self) -> int:
        return self._inner.size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        self._store.call("reader.read_into", self._key, lambda: self._inner.read_into(parts))

    def read(self, start: int, length: int) -> memoryview:
        return self._store.call("reader.read", self._key, lambda: self._inner.read(start, length))

    def close(self) -> None:
        self._inner.close()
