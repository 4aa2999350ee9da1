"""Keys in their order, for fast listings."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AFTER_SLASH = chr(ord("/") + 1)


class SortedKeys:
    """A sorted list of keys, for fast listings."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = sorted(keys)

    def below(self, prefix: str) -> Iterator[str]:
        """Iterate over all keys below a prefix."""
        for number in range(bisect_left(self._keys, prefix), len(self._keys)):
            if not self._keys[number].startswith(prefix):
                return
            yield self._keys[number]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Return the keys and prefixes directly below a prefix."""
        keys: list[str] = []
        prefixes: list[str] = []
        number = bisect_left(self._keys, prefix)
        while number < len(self._keys) and self._keys[number].startswith(prefix):
            head, slash, _ = self._keys[number][len(prefix) :].partition("/")
            if slash:
                prefixes.append(f"{prefix}{head}/")
                number = bisect_left(self._keys, f"{prefix}{head}{_AFTER_SLASH}", number)
            else:
                keys.append(prefix + head)
                number += 1
        return keys, prefixes
