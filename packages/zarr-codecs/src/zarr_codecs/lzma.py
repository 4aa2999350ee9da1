"""numcodecs.lzma codec (bytes -> bytes): LZMA streams.

Name:           numcodecs.lzma
Specification:  numcodecs, "LZMA"; The .xz File Format 1.2
Configuration:  {"format": 1, "check": -1, "preset": 6}
Schema:         schemas/codec/numcodecs.lzma.json
Partial decode: no
Compatible:     zarr-python
"""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import BytesToBytesCodec

from zarr_codecs import _streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from zarr_core.extension import JSON, Buffer

_NAME = "numcodecs.lzma"
_CHECKS = (lzma.CHECK_NONE, lzma.CHECK_CRC32, lzma.CHECK_CRC64, lzma.CHECK_SHA256)
# Memory of a decoder without its dictionary; dictionary of the largest preset.
_OVERHEAD = 1 << 20
_LARGEST_PRESET = 1 << 26


@dataclass(frozen=True, slots=True)
class LzmaCodec(BytesToBytesCodec):
    """Compress with liblzma.

    Parameters
    ----------
    format : int
        Container format: 1 is ``.xz``, 2 is the older ``.lzma``, 3 is raw.
    check : int
        Checksum in ``.xz``: -1 is the default of the container, 0 none, 1 CRC-32,
        4 CRC-64, 10 SHA-256.
    preset : int, optional
        0 to 9, optionally with bit 31 set (slower, smaller); None is 6.
    filters : sequence of mapping, optional
        Filters of liblzma instead of a preset, each with its ``id`` and options.
    """

    format: int = lzma.FORMAT_XZ
    check: int = -1
    preset: int | None = None
    filters: Sequence[dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        if self.format not in (lzma.FORMAT_XZ, lzma.FORMAT_ALONE, lzma.FORMAT_RAW):
            raise ValueError(f"format must be 1, 2 or 3, not {self.format!r}")
        if self.check not in (-1, *_CHECKS):
            raise ValueError(f"check must be -1, 0, 1, 4 or 10, not {self.check!r}")
        if self.check > 0 and self.format != lzma.FORMAT_XZ:
            raise ValueError(f"check {self.check!r} requires format 1, not {self.format!r}")
        if self.preset is not None and self.filters is not None:
            raise ValueError("pass either preset or filters, not both")
        if self.format == lzma.FORMAT_RAW and not self.filters:
            raise ValueError("format 3 requires filters")
        if self.preset is not None and not 0 <= self.preset & ~lzma.PRESET_EXTREME <= 9:
            raise ValueError(f"preset must be from 0 to 9, not {self.preset!r}")
        if self.filters is not None:
            object.__setattr__(self, "filters", tuple(map(_Filter, self.filters)))

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration; filters as a JSON array."""
        configuration: dict[str, JSON] = {"format": self.format, "check": self.check}
        if self.preset is not None:
            configuration["preset"] = self.preset
        if self.filters is not None:
            configuration["filters"] = [dict(item) for item in self.filters]
        return configuration

    @property
    def detects_damage(self) -> bool:
        """Whether the stream contains a checksum."""
        return self.format == lzma.FORMAT_XZ and self.check != lzma.CHECK_NONE

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one stream."""
        return lzma.compress(
            data, format=self.format, check=self.check, preset=self.preset, filters=self._filters()
        )

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress all streams."""
        return _streams.gather(self._content(data), decoded_size, _NAME)

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress all streams, up to a limit."""
        return _streams.gather_limited(self._content(data), limit)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress all streams into memory of exactly the decoded size."""
        _streams.fill(out, self._content(data), _NAME)

    def _content(self, data: Buffer) -> Iterator[bytes]:
        multiple = self.format == lzma.FORMAT_XZ
        return _streams.decompress(data, self._decompressor, lzma.LZMAError, multiple, _NAME)

    def _decompressor(self) -> lzma.LZMADecompressor:
        if self.format == lzma.FORMAT_RAW:
            return lzma.LZMADecompressor(self.format, filters=self._filters())
        # A header can request a dictionary of 4 GiB; limit it to that of the configuration.
        largest = max(
            [int(item.get("dict_size", 0)) for item in self.filters or ()], default=_LARGEST_PRESET
        )
        limit = max(largest, _LARGEST_PRESET) + _OVERHEAD
        return lzma.LZMADecompressor(self.format, memlimit=limit)

    def _filters(self) -> list[dict[str, Any]] | None:
        return None if self.filters is None else [dict(item) for item in self.filters]


class _Filter(dict[str, Any]):
    """A hashable filter, because codecs are hashable."""

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]  # dict.__hash__ is None
        return hash(tuple(sorted(self.items())))
