"""Numbers of bytes as people read them."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def bytes_for_people(count: int) -> str:
    """Such as ``1.5 MiB``: three digits at most behind a unit of 1024."""
    size, unit = float(count), 0
    while size >= 1023.5 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    if unit == 0:
        return f"{count} B"
    return f"{size:.{0 if size >= 99.95 else 1}f} {_UNITS[unit]}"
