"""The names of chunks below an array: how they are written, which numbers they carry.

The forms of every version are understood: ``c0/0`` of the drafts, ``c/0/0`` of
version 3, ``0.0`` of version 2, each with either separator; without dimensions
``c``, ``c0`` or ``0``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

# Canonical: no sign, no leading zeros, ASCII digits; no more of them than an index can have.
_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


class Form(NamedTuple):
    """How the names of an array's chunks are written.

    A shard is named in the form of its chunks.
    """

    before: str
    """What stands before the first number."""

    between: str
    """What stands between two of them."""

    def name(self, numbers: Iterable[int]) -> str:
        """Write a name."""
        return self.before + self.between.join(map(str, numbers))

    def prefix(self, numbers: Iterable[int]) -> str:
        """Write what all names with these first numbers begin with."""
        return self.name(numbers) + self.between


def parse_name(name: str, ndim: int) -> tuple[Form, list[int]] | None:
    """Take the name of a chunk apart; None if it is none.

    Parameters
    ----------
    name : str
        A key, without the prefix of the array.
    ndim : int
        Number of dimensions of the array.
    """
    if ndim == 0:
        return (Form(name, ""), []) if name in ("c", "c0", "0") else None
    before = _before(name)
    between = "/" if "/" in name[len(before) :] else "."
    if ndim > 1 and before not in ("", "c", f"c{between}"):
        return None
    parts = name[len(before) :].split(between)
    if len(parts) != ndim or not all(map(_NUMBER, parts)):
        return None
    return Form(before, between), list(map(int, parts))


def parse_prefix(prefix: str, ndim: int) -> tuple[Form, list[int]] | None:
    """Take the beginning of names apart; None if it holds no number, or those of a whole name.

    Parameters
    ----------
    prefix : str
        A prefix, without that of the array: ends in ``/``.
    ndim : int
        Number of dimensions of the array.
    """
    before = _before(prefix)
    parts = prefix[len(before) : -1].split("/")
    if before == "c." or len(parts) >= ndim or not all(map(_NUMBER, parts)):
        return None
    return Form(before, "/"), list(map(int, parts))


def _before(name: str) -> str:
    if not name.startswith("c"):
        return ""
    return name[:2] if name[1:2] in ("/", ".") else "c"
