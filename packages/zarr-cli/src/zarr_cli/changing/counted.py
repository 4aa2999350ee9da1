"""Numbers of things, in words."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Such as ``1 node`` or ``3 nodes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
