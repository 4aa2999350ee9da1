"""References of references: targets and inline values."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from zarr_core.extension import (
    ByteRange,
    MetadataValidationError,
    StoreReadError,
    ValidationProblem,
)
from zarr_core.interfaces.byte_reader import WrapperReader

from zarr_stores.databases.database_store import is_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import ByteReader, Location


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


class Target(NamedTuple):
    """A file, or a part of a file."""

    url: str
    """URL of the file."""
    offset: int = 0
    """Offset of the part in bytes."""
    length: int | None = None
    """Length of the part in bytes; None for the rest of the file."""

    def part(self, first: ByteRange | None) -> ByteRange | None:
        """Return the range of the file for a range of the part."""
        if self.length is None:
            return first
        if first is None:
            return ByteRange(self.offset, self.length)
        start, stop = first.within(self.length)
        return ByteRange(self.offset + start, stop - start)


class PartReader(WrapperReader):
    """Reader of the part of a file to which a reference refers."""

    def __init__(self, whole: ByteReader, target: Target) -> None:
        size = whole.size if target.length is None else target.length
        super().__init__(whole, target.offset, size)
        if self.start + size > whole.size:
            whole.close()
            raise StoreReadError(
                f"has {whole.size} bytes, but the reference is to bytes {self.start} to "
                f"{self.start + size}"
            )


class References:
    """Targets and inline values by key.

    Lists ``[url, offset, length]`` are converted on access: there may be millions, of which few
    are needed.  Invalid keys are not listed, because no chunk can have such a key.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._entries: dict[str, bytes | Target | list[Any]] = {}

    def get(self, key: str) -> bytes | Target | None:
        """Return the target or inline value of a key; None if the key is missing."""
        entry = self._entries.get(key)
        return Target(*entry) if isinstance(entry, list) else entry

    def keys(self, prefix: str) -> Iterator[str]:
        """Iterate over all keys below a prefix."""
        return self._sorted.below(prefix)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        """Return the keys and prefixes directly below a prefix."""
        return self._sorted.list_dir(prefix)

    def urls(self) -> Iterable[str] | None:
        """Return the URLs of the targets; None if all files would have to be read."""
        return {
            entry[0] for entry in list(self._entries.values()) if isinstance(entry, Target | list)
        }

    @cached_property
    def _sorted(self) -> SortedKeys:
        return SortedKeys(filter(is_key, list(self._entries)))

    def _wrong(self, pointer: str, message: str) -> MetadataValidationError:
        return MetadataValidationError(self._location, [ValidationProblem(pointer, message)])
