"""The part of a value that a request asks for.

Specification: RFC 9110, section 14.
"""

from __future__ import annotations

import re

# One range: "first-", "first-last" or "-length".
_ONE = re.compile(r"(?:([0-9]{1,19})-([0-9]{0,19})|-([0-9]{1,19}))\Z").match
_SEVERAL = re.compile(r"[0-9, \t-]+\Z").match


class UnsatisfiableRangeError(Exception):
    """No byte of the value lies in the range, or what was asked for is no range."""


def part_of(header: str | None, size: int) -> tuple[int, int] | None:
    """First byte, and the one behind the last, of what a ``Range`` field asks for.

    Parameters
    ----------
    header : str or None
        The field, if the request has one.
    size : int
        Length of the value, in bytes.

    Returns
    -------
    tuple of int, or None
        None if the whole value is to be sent: nothing was asked, in another unit than
        bytes, or for several parts, which a server may answer with all.

    Raises
    ------
    UnsatisfiableRangeError
        If the part begins behind the end of the value, or the field is malformed, which
        clause 14.2 lets a server reject: to send a whole value of some gigabytes to a
        client that misspelt a part of it would help nobody.
    """
    if header is None:
        return None
    unit, equals, ranges = header.partition("=")
    if not equals or unit.strip().lower() != "bytes":
        return None
    if "," in ranges and _SEVERAL(ranges):
        return None
    found = _ONE(ranges.strip())
    if found is None:
        raise UnsatisfiableRangeError
    first, last, suffix = found.groups()
    if suffix is not None:
        start, stop = max(0, size - int(suffix)), size
    else:
        start = int(first)
        stop = min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            raise UnsatisfiableRangeError
    if start >= stop:
        raise UnsatisfiableRangeError
    return start, stop
