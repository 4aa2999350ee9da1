"""What the two encodings of the core specification share: decimal numbers, one separator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from zarr_core.errors import ExtensionConfigurationError
from zarr_core.metadata.problem import Problem

if TYPE_CHECKING:
    from zarr_core.definition import ExtensionDefinition

    Separator = Literal["/", "."]

# Canonical: no sign, no leading zeros, ASCII digits; and no more of them than an index can have.
_COORDINATE = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII).fullmatch


def read_coordinates(parts: list[str]) -> tuple[int, ...] | None:
    """The numbers that strings stand for, or None if one of them is not canonical."""
    return tuple(map(int, parts)) if all(map(_COORDINATE, parts)) else None


def check_separator(definition: ExtensionDefinition, default: Separator) -> Separator:
    """The separator of a configuration.

    Raises
    ------
    ExtensionConfigurationError
        If it is neither ``/`` nor ``.``.
    """
    match definition.configuration.get("separator", default):
        case "/":
            return "/"
        case ".":
            return "."
        case other:
            raise ExtensionConfigurationError(
                "chunk_key_encoding",
                definition.name,
                "",
                [Problem("/configuration/separator", f'must be "/" or ".", not {other!r}')],
            )
