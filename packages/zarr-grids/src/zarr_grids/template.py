"""template chunk key encoding: keys from a template such as ``{0}/{*:04}.jpeg``.

Name:           template
Specification:  zarr-extensions, pull request 69 (a proposal), chunk-key-encodings/template
Configuration:  {"format": "{-1}/{*}.tiff", "separator": "_"}
Schema:         schemas/chunk_key_encoding/template.json
Other writers:  zarr-template, for zarr-python 3.4
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from zarr_core.extension import (
    ChunkKeyEncoding,
    ExtensionConfigurationError,
    ExtensionDefinition,
    ValidationProblem,
)

from zarr_grids._keys import check_example, check_text
from zarr_grids._pattern import Coordinate, Pattern, Text, make_pattern, parse

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class TemplateEncoding(ChunkKeyEncoding):
    """Chunk keys from a template with placeholders for the chunk coordinates.

    Parameters
    ----------
    format : str
        Text with ``{0}`` or ``{-1}`` for the coordinate of a dimension, counted from the
        first or from the last, and ``{*}`` for all other dimensions.  ``{0:04}`` pads with
        zeros.  ``{{`` and ``}}`` are literal braces.
    separator : str, optional
        Separator of the coordinates of ``{*}``; required with ``{*}``.
    """

    format: str
    separator: str | None = None

    def __post_init__(self) -> None:
        parts = parse(self.format)
        for part in parts:
            if isinstance(part, Text):
                _check_text(part.text, "the text of the template")
        if self.format.startswith("/"):
            raise ValueError("the template must not begin with '/'")
        if not any(isinstance(part, Coordinate) for part in parts):
            raise ValueError("the template must contain at least one expression in braces")
        if any(isinstance(part, Coordinate) and part.index is None for part in parts):
            if self.separator is None:
                raise ValueError("a template with {*} requires a separator")
            _check_text(self.separator, "the separator")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> TemplateEncoding:
        configuration = definition.configuration
        # The text uses "template"; its examples, its schema and the only writer use "format".
        names = [name for name in ("format", "template") if name in configuration]
        text = configuration[names[0]] if len(names) == 1 else None
        separator = configuration.get("separator")
        if not isinstance(text, str):
            problem = ValidationProblem("/configuration/format", "must be a string, given once")
        elif separator is not None and not isinstance(separator, str):
            problem = ValidationProblem("/configuration/separator", "must be a string")
        else:
            return cls(text, separator)
        raise ExtensionConfigurationError("chunk_key_encoding", definition.name, "", [problem])

    def to_definition(self) -> ExtensionDefinition:
        configuration: dict[str, JSON] = {"format": self.format}
        if self.separator is not None:
            configuration["separator"] = self.separator
        return ExtensionDefinition("template", configuration)

    def check(self, counts: tuple[int, ...]) -> None:
        pattern = _pattern(self, len(counts))
        pattern.check(counts)
        check_example(pattern.encode((0,) * len(counts)))

    def encode(self, chunk: tuple[int, ...]) -> str:
        return _pattern(self, len(chunk)).encode(chunk)

    def decode(self, key: str, ndim: int) -> tuple[int, ...] | None:
        return _pattern(self, ndim).decode(key)


def _check_text(text: str, what: str) -> None:
    if ".." in text:
        raise ValueError(f"{what} must not contain '..'")
    check_text(text, what)


@lru_cache(maxsize=64)
def _pattern(encoding: TemplateEncoding, ndim: int) -> Pattern:
    return make_pattern(parse(encoding.format), encoding.separator or "", ndim)
