"""Human-readable numbers."""

from __future__ import annotations

from zarr_core.display.info import format_nbytes

__all__ = ["counted", "format_nbytes"]


def counted(number: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 chunk`` or ``12,000 chunks``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
