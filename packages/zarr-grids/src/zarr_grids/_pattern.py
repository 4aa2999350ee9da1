"""Patterns of text into which numbers are put, read back by regular expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"(?P<text>(?:[^{}]|\{\{|\}\})+)"
    r"|\{(?P<index>\*|-?[0-9]{1,3})(?::0(?P<width>[0-9]{1,3}))?\}",
    re.ASCII,
)
_HAS_NO_OTHER_THAN_DIGITS = re.compile(r"[0-9]*", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Text:
    """Text that stands in every key."""

    text: str


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A place for a coordinate.

    Parameters
    ----------
    index : int or None
        Number of the dimension; None for all that are not named.
    width : int
        Digits to which the number is padded with zeros.
    """

    index: int | None
    width: int


Part: TypeAlias = Text | Coordinate


def parse(template: str) -> tuple[Part, ...]:
    """Read a template.

    Raises
    ------
    ValueError
        If it has a brace that belongs to nothing, or more than one ``{*}``.
    """
    parts: list[Part] = []
    at = 0
    while at < len(template):
        found = _TOKEN.match(template, at)
        if found is None:
            raise ValueError(
                f"what begins with {template[at:]!r:.30} is no expression; there are {{0}}, {{-1}}, "
                "{*} and {0:04}, and {{ for a brace"
            )
        at = found.end()
        if found["text"] is not None:
            parts.append(Text(found["text"].replace("{{", "{").replace("}}", "}")))
            continue
        index = None if found["index"] == "*" else int(found["index"])
        parts.append(Coordinate(index, int(found["width"] or 0)))
    if sum(isinstance(part, Coordinate) and part.index is None for part in parts) > 1:
        raise ValueError("{*} may stand in a template once")
    return tuple(parts)


class Pattern:
    """A template for a number of dimensions.

    Parameters
    ----------
    parts : sequence of Text and Coordinate
        Each dimension once, counted from the front.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._groups = tuple(_groups(parts))
        places = [part for part in parts if isinstance(part, Coordinate)]
        self._order = sorted(range(len(places)), key=lambda at: places[at].index or 0)
        texts = (
            part.text.replace("{", "{{").replace("}", "}}")
            if isinstance(part, Text)
            else f"{{{part.index}:0{part.width}}}"
            for part in parts
        )
        self._format = "".join(texts).format
        fixed = {part for group in self._groups if len(group) > 1 for part in group if part.width}
        self._fixed = frozenset(fixed)
        expressions = (
            re.escape(part.text) if isinstance(part, Text) else _digits(part, part in fixed)
            for part in parts
        )
        self._match = re.compile("".join(expressions), re.ASCII).fullmatch

    def check(self, counts: tuple[int, ...]) -> None:
        """Refuse arrays of which two chunks could have the same key.

        Parameters
        ----------
        counts : tuple of int
            Number of chunks along each dimension.

        Raises
        ------
        ValueError
            If numbers follow each other without anything between them.
        """
        for group in self._groups:
            if sum(part not in self._fixed for part in group) > 1 or any(
                part in self._fixed and counts[part.index or 0] > 10**part.width for part in group
            ):
                raise ValueError(
                    "numbers that follow each other would run together, so that chunks would "
                    "share keys; put something other than digits between them, or pad them"
                )

    def encode(self, chunk: tuple[int, ...]) -> str:
        """The key of a chunk."""
        return self._format(*chunk)

    def decode(self, key: str) -> tuple[int, ...] | None:
        """The coordinates that make a key, or None."""
        found = self._match(key)
        if found is None:
            return None
        numbers = found.groups()
        return tuple(int(numbers[at]) for at in self._order)


def bound(parts: Sequence[Part], separator: str, ndim: int) -> Pattern:
    """Find the dimension for every expression.

    Raises
    ------
    ValueError
        If the dimensions are not those of the template, each once.
    """
    named = [
        part.index for part in parts if isinstance(part, Coordinate) and part.index is not None
    ]
    taken = [index + ndim if index < 0 else index for index in named]
    rest = [dimension for dimension in range(ndim) if dimension not in taken]
    has_rest = any(isinstance(part, Coordinate) and part.index is None for part in parts)
    for index, dimension in zip(named, taken, strict=True):
        if not 0 <= dimension < ndim:
            raise ValueError(f"{{{index}}} is no dimension of an array with {ndim}")
        if taken.count(dimension) > 1:
            raise ValueError(f"two expressions stand for dimension {dimension}")
    if has_rest and not rest:
        raise ValueError(f"nothing is left for {{*}} of an array with {ndim} dimensions")
    if rest and not has_rest:
        raise ValueError(f"nothing stands for dimension {rest[0]} of {ndim}; name it or use {{*}}")
    return Pattern([*_named(parts, separator, ndim, rest)])


def _named(parts: Sequence[Part], separator: str, ndim: int, rest: list[int]) -> Iterator[Part]:
    for part in parts:
        if isinstance(part, Text):
            yield part
        elif part.index is not None:
            yield Coordinate(part.index % ndim, part.width)
        else:
            for number, dimension in enumerate(rest):
                if number and separator:
                    yield Text(separator)
                yield Coordinate(dimension, part.width)


def _groups(parts: Sequence[Part]) -> Iterator[list[Coordinate]]:
    """Coordinates that have nothing but digits between them."""
    group: list[Coordinate] = []
    for part in parts:
        if isinstance(part, Coordinate):
            group.append(part)
        elif not _HAS_NO_OTHER_THAN_DIGITS(part.text):
            yield group
            group = []
    yield group


def _digits(part: Coordinate, fixed: bool) -> str:
    """A group that matches numbers as they are written, and in no other way."""
    if fixed:
        return f"([0-9]{{{part.width}}})"
    if part.width < 2:
        return "(0|[1-9][0-9]{0,18})"
    return f"([0-9]{{{part.width}}}|[1-9][0-9]{{{part.width},{max(part.width, 18)}}})"
