"""Parser of selections such as ``10:20,:,3`` or ``time=0,y=10:20``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

Part: TypeAlias = "int | range"
"""The selection of one dimension: an index, which drops the dimension, or a range."""

_PART = re.compile(r"\s*(-?\d{1,18})?\s*(:)?\s*(-?\d{1,18})?\s*(?:(:)\s*(-?\d{1,18})?)?\s*")


class SelectionTextError(click.BadParameter):
    """A selection is invalid or does not fit the array."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param_hint="SELECTION")


def parse_selection(
    text: str, shape: Sequence[int], names: Sequence[str | None] | None = None
) -> tuple[Part, ...]:
    """Parse a selection; return an index or a range for each dimension.

    Items are separated by commas: an index, a slice ``start:stop:step``, ``...`` for all other
    dimensions, or ``name=item`` for a dimension by name.  Negative numbers count from the end.  An
    empty text selects everything.  SelectionTextError if it is not a selection, or an index is out of
    bounds.
    """
    wanted = ["" for _ in shape]
    positions = list(range(len(shape)))
    plain: list[str] = []
    for item in text.split(",") if text.strip() else []:
        name, equals, value = item.partition("=")
        if not equals:
            plain.append(item.strip())
            continue
        wanted[_dimension(name.strip(), names or ())] = value.strip()
    for position, item in zip(_spread(plain, positions, text), plain, strict=True):
        if position is not None:
            wanted[position] = item
    return tuple(
        _part(item, length, _label(number, names))
        for number, (item, length) in enumerate(zip(wanted, shape, strict=True))
    )


def _spread(items: list[str], positions: list[int], text: str) -> list[int | None]:
    """Return the dimension of each item; None for an ellipsis."""
    if items.count("...") > 1:
        raise SelectionTextError(f"{text!r} contains ... more than once")
    count = len(items) - ("..." in items)
    if count > len(positions):
        raise SelectionTextError(
            f"{text!r} has {count} items, but the array has {len(positions)} dimensions"
        )
    if "..." not in items:
        return [*positions[:count]]
    before = items.index("...")
    after = count - before
    return [*positions[:before], None, *positions[len(positions) - after :]]


def _dimension(name: str, names: Sequence[str | None]) -> int:
    if name not in names:
        known = ", ".join(str(known) for known in names if known is not None)
        raise SelectionTextError(
            f"unknown dimension {name!r}; "
            + (f"the dimensions are {known}" if known else "the dimensions have no names")
        )
    return list(names).index(name)


def _label(number: int, names: Sequence[str | None] | None) -> str:
    name = names[number] if names else None
    return f"dimension {number}" if name is None else f"dimension {name!r}"


def _part(item: str, length: int, label: str) -> Part:
    match = _PART.fullmatch(item)
    if match is None:
        raise SelectionTextError(f"{item!r} is not an index, a slice or ...")
    start, colon, stop, _, step = match.groups()
    if colon or not item:
        numbers = [None if text is None else int(text) for text in (start, stop, step)]
        if numbers[2] == 0:
            raise SelectionTextError(f"{item!r}: the step cannot be 0")
        return range(*slice(*numbers).indices(length))
    index = int(item)
    if not -length <= index < length:
        raise SelectionTextError(f"{index} is out of bounds: {label} has {length} elements")
    return index % length


def as_index(parts: Sequence[Part]) -> tuple[int | slice, ...]:
    """Return the selection as a NumPy index."""
    return tuple(part if isinstance(part, int) else _slice(part) for part in parts)


def _slice(part: range) -> slice:
    if not part:
        return slice(0, 0)
    stop = part[-1] + (1 if part.step > 0 else -1)
    return slice(part[0], None if stop < 0 else stop, part.step)


def lengths(parts: Sequence[Part]) -> tuple[int, ...]:
    """Return the shape of the selection."""
    return tuple(len(part) for part in parts if not isinstance(part, int))
