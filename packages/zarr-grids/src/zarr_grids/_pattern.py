"""Templates of chunk keys: formatting of coordinates and parsing of keys."""

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
_ONLY_DIGITS = re.compile(r"[0-9]*", re.ASCII).fullmatch


@dataclass(frozen=True, slots=True)
class Text:
    """Text that is part of every key."""

    text: str


@dataclass(frozen=True, slots=True)
class Coordinate:
    """Placeholder of a coordinate.

    Parameters
    ----------
    index : int or None
        Index of the dimension; None for all dimensions without a placeholder.
    width : int
        Number of digits to which the coordinate is padded with zeros.
    """

    index: int | None
    width: int


Part: TypeAlias = Text | Coordinate


def parse(template: str) -> tuple[Part, ...]:
    """Parse a template.

    Raises
    ------
    ValueError
        If the template has an invalid expression in braces, or more than one ``{*}``.
    """
    parts: list[Part] = []
    at = 0
    while at < len(template):
        token = _TOKEN.match(template, at)
        if token is None:
            raise ValueError(
                f"invalid expression in the template at {template[at:]!r:.30}; use {{0}}, {{-1}}, "
                "{*} or {0:04}, and {{ for a brace"
            )
        at = token.end()
        if token["text"] is not None:
            parts.append(Text(token["text"].replace("{{", "{").replace("}}", "}")))
            continue
        index = None if token["index"] == "*" else int(token["index"])
        parts.append(Coordinate(index, int(token["width"] or 0)))
    if sum(isinstance(part, Coordinate) and part.index is None for part in parts) > 1:
        raise ValueError("the template must contain {*} at most once")
    return tuple(parts)


class Pattern:
    """A template for a number of dimensions.

    Parameters
    ----------
    parts : sequence of Text and Coordinate
        Parts with each dimension once, with nonnegative indices.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        self._groups = tuple(_groups(parts))
        coordinates = [part for part in parts if isinstance(part, Coordinate)]
        self._order = sorted(range(len(coordinates)), key=lambda at: coordinates[at].index or 0)
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
        """Raise an error if two chunks of an array could have the same key.

        Parameters
        ----------
        counts : tuple of int
            Number of chunks along each dimension.

        Raises
        ------
        ValueError
            If coordinates follow each other without a separator or fixed width.
        """
        for group in self._groups:
            if sum(part not in self._fixed for part in group) > 1 or any(
                part in self._fixed and counts[part.index or 0] > 10**part.width for part in group
            ):
                raise ValueError(
                    "adjacent coordinates in the template are ambiguous, so different chunks could "
                    "have the same key; separate them by text without digits, or pad them"
                )

    def encode(self, chunk: tuple[int, ...]) -> str:
        """Return the key of a chunk."""
        return self._format(*chunk)

    def decode(self, key: str) -> tuple[int, ...] | None:
        """Return the chunk coordinates of a key, or None."""
        match = self._match(key)
        if match is None:
            return None
        numbers = match.groups()
        return tuple(int(numbers[at]) for at in self._order)


def make_pattern(parts: Sequence[Part], separator: str, ndim: int) -> Pattern:
    """Return the pattern for a number of dimensions.

    Raises
    ------
    ValueError
        If the template does not contain each dimension exactly once.
    """
    named = [
        part.index for part in parts if isinstance(part, Coordinate) and part.index is not None
    ]
    taken = [index + ndim if index < 0 else index for index in named]
    rest = [dimension for dimension in range(ndim) if dimension not in taken]
    has_rest = any(isinstance(part, Coordinate) and part.index is None for part in parts)
    for index, dimension in zip(named, taken, strict=True):
        if not 0 <= dimension < ndim:
            raise ValueError(f"{{{index}}} is out of range for an array with {ndim} dimensions")
        if taken.count(dimension) > 1:
            raise ValueError(f"the template contains dimension {dimension} more than once")
    if has_rest and not rest:
        raise ValueError(f"{{*}} matches no dimension of an array with {ndim} dimensions")
    if rest and not has_rest:
        raise ValueError(f"the template lacks dimension {rest[0]} of {ndim}; add it or use {{*}}")
    return Pattern([*_expand(parts, separator, ndim, rest)])


def _expand(parts: Sequence[Part], separator: str, ndim: int, rest: list[int]) -> Iterator[Part]:
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
    """Yield groups of coordinates with only digits between them."""
    group: list[Coordinate] = []
    for part in parts:
        if isinstance(part, Coordinate):
            group.append(part)
        elif not _ONLY_DIGITS(part.text):
            yield group
            group = []
    yield group


def _digits(part: Coordinate, fixed: bool) -> str:
    """Return a regular expression group for the canonical form of a coordinate."""
    if fixed:
        return f"([0-9]{{{part.width}}})"
    if part.width < 2:
        return "(0|[1-9][0-9]{0,18})"
    return f"([0-9]{{{part.width}}}|[1-9][0-9]{{{part.width},{max(part.width, 18)}}})"
