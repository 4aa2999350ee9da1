"""A cache of limited size."""

from __future__ import annotations

from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Cache(Generic[K, V]):
    """A mapping of limited size that drops the least recently used values.

    There are two generations.  When the newer is full, it replaces the older, whose values are
    dropped unless they were used meanwhile.  So there are at most twice as many values as the
    limit.  Needs no lock, neither for threads nor after a fork: at worst, a value is created
    twice.  Values must not be None.

    Parameters
    ----------
    limit : int
        Sum of the sizes of the values in a generation.
    largest : int, optional
        Maximum size of a value; larger ones are not kept.
    """

    __slots__ = ("_largest", "_limit", "_newer", "_older", "_size")

    def __init__(self, limit: int, largest: int | None = None) -> None:
        self._limit = limit
        self._largest = limit if largest is None else largest
        self._size = 0
        self._newer: dict[K, tuple[V, int]] = {}
        self._older: dict[K, tuple[V, int]] = {}

    def get(self, key: K) -> V | None:
        """The value of a key, or None."""
        entry = self._newer.get(key)
        if entry is None:
            entry = self._older.get(key)
            if entry is None:
                return None
            self.keep(key, *entry)
        return entry[0]

    def keep(self, key: K, value: V, size: int = 1) -> V:
        """Add a value, and return it."""
        if size <= self._largest:
            if self._size + size > self._limit:
                self._older, self._newer, self._size = self._newer, {}, 0
            self._newer[key] = (value, size)
            self._size += size
        return value

    def clear(self) -> None:
        """Drop all values."""
        self._newer, self._older, self._size = {}, {}, 0
