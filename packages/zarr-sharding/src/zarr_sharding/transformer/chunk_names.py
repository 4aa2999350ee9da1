"""Formatting and parsing of chunk keys below an array.

Keys of all versions are supported: ``c0/0`` (drafts of version 3), ``c/0/0`` (version 3)
and ``0.0`` (version 2), each with either separator; ``c``, ``c0`` or ``0`` for
zero-dimensional arrays.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# Canonical: no sign, no leading zeros, at most 19 ASCII digits.
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


class KeyFormat(NamedTuple):
    """Format of the chunk keys of an array, and of the keys of its shards."""

    leading: str
    """Text before the first coordinate."""

    separator: str
    """Separator of the coordinates."""

    def name(self, numbers: Iterable[int]) -> str:
        """Return the key with these coordinates."""
        return self.leading + self.separator.join(map(str, numbers))

    def prefix(self, numbers: Iterable[int]) -> str:
        """Return the common prefix of all keys with these first coordinates."""
        return self.name(numbers) + self.separator


def parse_name(name: str, ndim: int) -> tuple[KeyFormat, list[int]] | None:
    """Parse a chunk key without the prefix of the array; return None if it is not one."""
    if ndim == 0:
        return (KeyFormat(name, ""), []) if name in ("c", "c0", "0") else None
    leading = _leading(name)
    separator = "/" if "/" in name[len(leading) :] else "."
    if ndim > 1 and leading not in ("", "c", f"c{separator}"):
        return None
    parts = name[len(leading) :].split(separator)
    if len(parts) != ndim or not all(map(_NUMBER, parts)):
        return None
    return KeyFormat(leading, separator), list(map(int, parts))


def parse_prefix(prefix: str, ndim: int) -> tuple[KeyFormat, list[int]] | None:
    """Parse a prefix of chunk keys, without the prefix of the array, that ends in ``/``.

    Returns None if it has no coordinates, or all of them.
    """
    leading = _leading(prefix)
    parts = prefix[len(leading) : -1].split("/")
    if leading == "c." or len(parts) >= ndim or not all(map(_NUMBER, parts)):
        return None
    return KeyFormat(leading, "/"), list(map(int, parts))


def _leading(name: str) -> str:
    if not name.startswith("c"):
        return ""
    return name[:2] if name[1:2] in ("/", ".") else "c"
