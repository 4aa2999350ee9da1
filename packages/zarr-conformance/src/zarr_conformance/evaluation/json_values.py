"""Comparison of JSON values."""

from __future__ import annotations

from typing import Any


def same(first: Any, second: Any) -> bool:
    """Return whether two JSON values are equal.

    1 and 1.0 are equal, as RFC 8259 has only one kind of number; true is not a number.
    """
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, int | float) and isinstance(second, int | float):
        return bool(first == second)
    return type(first) is type(second) and bool(first == second)
