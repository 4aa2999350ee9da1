"""Human-readable numbers."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def counted(number: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 chunk`` or ``12,000 chunks``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_nbytes(nbytes: float) -> str:
    """Return a number of bytes with a unit, such as ``1.6 KiB``."""
    size = float(nbytes)
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{nbytes:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
