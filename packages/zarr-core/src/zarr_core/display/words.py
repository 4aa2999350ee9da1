"""Numbers in the words of people."""

from __future__ import annotations

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def nbytes_in_words(nbytes: float) -> str:
    """Bytes in the unit that suits them, such as ``1.6 KiB``."""
    size = float(nbytes)
    for unit in _UNITS:
        if size < 1024 or unit == _UNITS[-1]:
            break
        size /= 1024
    return f"{nbytes:.0f} B" if unit == "B" else f"{size:.1f} {unit}"


def counted(number: int, what: str) -> str:
    """A number with what it counts, such as ``1 chunk`` or ``12,000 chunks``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
