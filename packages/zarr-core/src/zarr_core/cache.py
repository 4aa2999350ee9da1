"""A cache of limited size."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(dict[K, V]):
    """A mapping of limited size that drops the least recently used values.

    There are two generations; the newer one is the mapping itself.  When it is full, it replaces
    the older, whose values are dropped unless they were used meanwhile.  So there are at most twice
    as many values as the limit.  Needs no lock, neither for threads nor after a fork: at worst, a
    value is created twice.  Values must not be None.

    Parameters
    ----------
    limit : int
        Sum of the sizes of the values in a generation.
    largest : int, optional
        Maximum size of a value; larger ones are not kept.
    """

    __slots__ = ("_largest", "_limit", "_older", "_size", "_sizes")

    def __init__(self, limit: int, largest: int | None = None) -> None:
        self._limit = limit
        self._largest = limit if largest is None else largest
        self._size = 0
        self._sizes: dict[K, int] = {}
        self._older: dict[K, tuple[V, int]] = {}

    if TYPE_CHECKING:

        def get(self, key: K) -> V | None:  # type: ignore[override]  # no default
            """The value of a key, or None."""
    else:
        get = dict.__getitem__  # calls __missing__; compiled for a value of the newer generation

    def __missing__(self, key: K) -> V | None:
        entry = self._older.get(key)
        return None if entry is None else self.put(key, *entry)

    def put(self, key: K, value: V, size: int = 1) -> V:
        """Add a value, and return it."""
        if size <= self._largest:
            if self._size + size > self._limit:
                older = {
                    key: (value, self._sizes.get(key, 1)) for key, value in self.copy().items()
                }
                self.clear()
                self._older = older
            self[key] = value
            self._sizes[key] = size
            self._size += size
        return value

    def clear(self) -> None:
        """Drop all values."""
        super().clear()
        self._size, self._sizes, self._older = 0, {}, {}
