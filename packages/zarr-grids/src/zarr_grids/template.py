"""The chunk key encoding ``template``: keys after a pattern such as ``{0}/{*:04}.jpeg``.

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
    Problem,
)

from zarr_grids._keys import check_example, check_text
from zarr_grids._pattern import Coordinate, Pattern, Text, bound, parse

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@dataclass(frozen=True, slots=True)
class TemplateEncoding(ChunkKeyEncoding):
    """Keys into which coordinates are put.

    Parameters
    ----------
    format : str
        Text with ``{0}`` or ``{-1}`` for a coordinate, counted from the front or from
        behind, and ``{*}`` for all others; ``{0:04}`` pads with zeros.  ``{{`` and
        ``}}`` are braces.
    separator : str, optional
        Stands between the coordinates of ``{*}``; needed where there is one.
    """

    format: str
    separator: str | None = None

    def __post_init__(self) -> None:
        parts = parse(self.format)
        for part in parts:
            if isinstance(part, Text):
                _check_text(part.text, "the text around braces")
        if self.format.startswith("/"):
            raise ValueError("the template must not begin with '/'")
        if not any(isinstance(part, Coordinate) for part in parts):
            raise ValueError("the template must contain at least one expression in braces")
        if any(isinstance(part, Coordinate) and part.index is None for part in parts):
            if self.separator is None:
                raise ValueError("with {*} there must be a separator")
            _check_text(self.separator, "the separator")

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> TemplateEncoding:
        configuration = definition.configuration
        # The text calls it "template"; its examples, its schema and the only writer "format".
        names = [name for name in ("format", "template") if name in configuration]
        text = configuration[names[0]] if len(names) == 1 else None
        separator = configuration.get("separator")
        if not isinstance(text, str):
            problem = Problem("/configuration/format", "must be there once, as a string")
        elif separator is not None and not isinstance(separator, str):
            problem = Problem("/configuration/separator", "must be a string")
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
    return bound(parse(encoding.format), encoding.separator or "", ndim)
