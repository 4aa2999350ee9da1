"""Parsing of ``Range`` header fields.

Specification: RFC 9110, section 14.
"""

from __future__ import annotations

import re

# One range: "first-", "first-last" or "-length".
_ONE = re.compile(r"(?:([0-9]{1,19})-([0-9]{0,19})|-([0-9]{1,19}))\Z").match
_SEVERAL = re.compile(r"[0-9, \t-]+\Z").match


class UnsatisfiableRangeError(Exception):
    """The range contains no byte of the value, or is malformed."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the start and stop of the byte range in a ``Range`` field.

    None for the whole value: the field is missing, has another unit than bytes, or has several
    ranges, for which a server may send the whole value.  UnsatisfiableRangeError if the range starts
    after the end of the value, or the field is malformed.  Clause 14.2 permits a server to reject
    malformed fields; sending a large value instead of a part would not help the client.
    """
    if header is None:
        return None
    unit, equals, ranges = header.partition("=")
    if not equals or unit.strip().lower() != "bytes":
        return None
    if "," in ranges and _SEVERAL(ranges):
        return None
    match = _ONE(ranges.strip())
    if match is None:
        raise UnsatisfiableRangeError
    first, last, suffix = match.groups()
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
