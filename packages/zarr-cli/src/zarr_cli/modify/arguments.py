"""Parsers of command-line values: lengths, codecs, sizes."""

from __future__ import annotations

import json
import re
from typing import Any

import click

_LEVELS = {  # the parameter that NAME:NUMBER sets, if it is not "level"
    "blosc": "clevel",
    "numcodecs.blosc": "clevel",
    "numcodecs.lz4": "acceleration",
    "numcodecs.lzma": "preset",
    "numcodecs.bitround": "keepbits",
    "bitround": "keepbits",
}
_UNITS = {unit: 1024**power for power, unit in enumerate("BKMGT")}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([BKMGT]?)(?:I?B)?", re.IGNORECASE)


def parse_lengths(text: str) -> Any:
    """Parse lengths of chunks or shards for ``create_array`` and ``convert``.

    ``100``, ``10,100,100``, ``time=10,lat=100``, ``auto``, ``none``, or JSON such as
    ``[[10, 20], 5]``.  ``-1`` or ``all`` is the whole dimension.
    """
    text = text.strip()
    if text.lower() in ("auto", "none"):
        return "auto" if text.lower() == "auto" else None
    if text.startswith(("[", "{")):
        return _json(text)
    parts = [part.strip() for part in text.split(",")]
    if all("=" in part for part in parts):
        pairs = (part.partition("=") for part in parts)
        return {name.strip(): _length(length, text) for name, _, length in pairs}
    lengths = tuple(_length(part, text) for part in parts if part)
    return lengths[0] if len(parts) == 1 and lengths else lengths


def _length(text: str, whole: str) -> int:
    if text.strip().lower() == "all":
        return -1
    try:
        return int(text)
    except ValueError:
        raise click.BadParameter(
            f"{whole!r} is not a list of lengths; use 100, 10,100,100 or time=10,lat=100, "
            "and all for the whole dimension"
        ) from None


def parse_codec(text: str) -> Any:
    """Parse a codec: ``zstd``, ``zstd:5`` (the level), ``blosc:cname=lz4,clevel=5``, or JSON."""
    text = text.strip()
    if text.startswith(("{", "[")):
        return _json(text)
    name, colon, rest = text.partition(":")
    if not colon:
        return name
    if re.fullmatch(r"-?[0-9]+", rest):
        return {"name": name, "configuration": {_LEVELS.get(name, "level"): int(rest)}}
    configuration: dict[str, Any] = {}
    for part in rest.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise click.BadParameter(
                f"{text!r} is not a codec; use NAME, NAME:LEVEL, NAME:KEY=VALUE,... or "
                "a JSON object"
            )
        configuration[key.strip()] = parse_value(value)
    return {"name": name, "configuration": configuration}


def parse_codecs(texts: tuple[str, ...]) -> Any:
    """Parse a list of codecs; ``none`` for no codecs, ``auto`` for the default."""
    if len(texts) == 1 and texts[0].lower() in ("none", "auto"):
        return None if texts[0].lower() == "none" else "auto"
    codecs: list[Any] = []
    for text in texts:
        codec = parse_codec(text)
        codecs += codec if isinstance(codec, list) else [codec]
    return codecs


def parse_value(text: str) -> Any:
    """Return the parsed JSON if the text is valid JSON, otherwise the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def parse_size(text: str) -> int:
    """Parse a number of bytes: ``500M``, ``2 GiB``, ``1048576``."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is not a size; use a form such as 500M or 2G")
    return int(float(match[1]) * _UNITS[match[2].upper() or "B"])


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not valid JSON: {error}") from None
