"""Human-readable sizes and counts."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def format_bytes(count: int) -> str:
    """Return a text such as ``1.5 MiB``, with at most three digits and a unit of 1024."""
    size, unit = float(count), 0
    while size >= 1023.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    if unit == 0:
        return f"{count} B"
    return f"{size:.{0 if size >= 99.95 else 1}f} {_UNITS[unit]}"


def pluralize(number: int, noun: str) -> str:
    """Return a text such as ``1 node`` or ``3 nodes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
