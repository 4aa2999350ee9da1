"""Candidate codecs for a benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_cli.modify.arguments import parse_codec

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np


@dataclass(frozen=True, slots=True)
class Candidate:
    """Codecs, in the syntax of the command line.

    ``serializer`` is None for the default of the data type; ``present`` stands for the present
    codecs of the array.
    """

    filters: tuple[str, ...] = ()
    serializer: str | None = None
    compressors: tuple[str, ...] = ()
    present: bool = False

    def __str__(self) -> str:
        parts = [*self.filters, *filter(None, [self.serializer]), *self.compressors]
        return " + ".join(part.removeprefix("numcodecs.") for part in parts) or "none"

    def options(self) -> dict[str, Any]:
        """Return the codecs as arguments of ``create_array``."""
        return {
            "filters": list(map(parse_codec, self.filters)) or None,
            "serializer": "auto" if self.serializer is None else parse_codec(self.serializer),
            "compressors": list(map(parse_codec, self.compressors)) or None,
        }


def candidates(dtype: np.dtype[Any], *, checksum: bool = True) -> Iterator[Candidate]:
    """Yield lossless codecs for a data type."""

    def zstd(level: int) -> str:
        return f"zstd:level={level},checksum=true" if checksum else f"zstd:{level}"

    size = dtype.itemsize
    numbers = dtype.kind in "iufcmM" and size > 1
    yield Candidate()
    for level in (1, 3, 9, 19):
        yield Candidate(compressors=(zstd(level),))
    for level in (1, 6):
        yield Candidate(compressors=(f"gzip:{level}",))
    yield Candidate(compressors=("numcodecs.lz4",))
    shuffles: tuple[str, ...]
    shuffles = ("noshuffle", "shuffle", "bitshuffle") if numbers else ("noshuffle", "bitshuffle")
    if dtype.kind in "OT":
        shuffles = ("noshuffle",)
    for shuffle in shuffles:
        yield Candidate(compressors=(_blosc("lz4", 5, shuffle),))
        for level in (1, 5, 9) if shuffle != "noshuffle" else (5,):
            yield Candidate(compressors=(_blosc("zstd", level, shuffle),))
    if numbers:
        yield Candidate(compressors=(_blosc("lz4hc", 9, "shuffle"),))
        for level in (3, 9):
            yield Candidate(compressors=(f"numcodecs.shuffle:elementsize={size}", zstd(level)))
    if dtype.kind in "iumM":
        delta = f"numcodecs.delta:dtype={dtype.str.partition('[')[0]}"
        for compressor in (zstd(3), _blosc("lz4", 5, "bitshuffle"), _blosc("zstd", 5, "shuffle")):
            yield Candidate((delta,), None, (compressor,))
    if dtype.kind in "iuf" and size in (2, 4, 8):
        yield Candidate(serializer="numcodecs.pcodec:8")
    if dtype.kind == "b":
        yield Candidate(serializer="packbits")
        yield Candidate(serializer="packbits", compressors=(zstd(3),))


def parse_candidate(text: str) -> Candidate:
    """Parse a codec chain such as ``numcodecs.shuffle:elementsize=4 + zstd:5``."""
    from zarr_core.extension import (
        ArrayToArrayCodec,
        ArrayToBytesCodec,
        ExtensionDefinition,
        create_extension,
    )

    filters: list[str] = []
    serializer: str | None = None
    compressors: list[str] = []
    for part in filter(None, (part.strip() for part in text.split("+"))):
        parsed = parse_codec(part)
        definition = {"name": parsed} if isinstance(parsed, str) else parsed
        codec = create_extension("codec", ExtensionDefinition.from_json(definition))
        if isinstance(codec, ArrayToArrayCodec):
            filters.append(part)
        elif isinstance(codec, ArrayToBytesCodec):
            serializer = part
        else:
            compressors.append(part)
    return Candidate(tuple(filters), serializer, tuple(compressors))


def _blosc(cname: str, level: int, shuffle: str) -> str:
    return f"blosc:cname={cname},clevel={level},shuffle={shuffle}"
