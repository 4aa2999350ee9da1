"""What the keys of references lead to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from zarr_core.extension import ByteRange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_AFTER_SLASH = chr(ord("/") + 1)


class Target(NamedTuple):
    """A file, or a part of one."""

    url: str
    """Where it is."""
    offset: int = 0
    """The first byte of the part."""
    length: int | None = None
    """How many bytes it has; None for all that there are."""

    def part(self, first: ByteRange | None) -> ByteRange | None:
        """What of the file is read first, if that is known of the part."""
        if self.length is None:
            return first
        if first is None:
            return ByteRange(self.offset, self.length)
        start, stop = first.within(self.length)
        return ByteRange(self.offset + start, stop - start)


class Entries(ABC):
    """What all keys lead to."""

    @abstractmethod
    def get(self, key: str) -> bytes | Target | None:
        """What a key leads to; None if there is no such key."""

    @abstractmethod
    def keys(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix."""

    @abstractmethod
    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Keys and prefixes directly below a prefix."""

    @abstractmethod
    def urls(self) -> Iterable[str] | None:
        """Where targets are; None if only reading everything would tell."""


class SortedKeys:
    """Keys that are listed without looking at all of them.

    Parameters
    ----------
    keys : iterable of str
        The keys.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = sorted(keys)

    def below(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix."""
        for number in range(bisect_left(self._keys, prefix), len(self._keys)):
            if not self._keys[number].startswith(prefix):
                return
            yield self._keys[number]

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Keys and prefixes directly below a prefix."""
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
