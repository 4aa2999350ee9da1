"""numcodecs.blosc, .zstd, .gzip codecs (bytes -> bytes): as those of version 3, otherwise configured.

Name:           numcodecs.blosc, numcodecs.zstd, numcodecs.gzip
Specification:  numcodecs, "Blosc", "Zstd", "GZip"
Configuration:  {"cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0},
                {"level": 0, "checksum": false}, {"level": 1}
Schema:         schemas/codec/numcodecs.<name>.json
Partial decode: no
Compatible:     zarr-python, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from zarr_core.extension import BytesToBytesCodec

from zarr_codecs.blosc import BloscCodec
from zarr_codecs.gzip import GzipCodec
from zarr_codecs.zstd import ZstdCodec

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

    _Shuffle = Literal["noshuffle", "shuffle", "bitshuffle"]

_SHUFFLES: dict[int, _Shuffle] = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}
_AUTOMATIC = -1  # bits for elements of one byte, otherwise bytes


@dataclass(frozen=True, slots=True)
class NumcodecsBloscCodec(BytesToBytesCodec):
    """Compress with c-blosc.

    Parameters
    ----------
    cname : {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"}
        Compressor inside Blosc.
    clevel : int
        0 (not compressed) to 9 (smallest, slowest).
    shuffle : int
        0 nothing, 1 bytes, 2 bits, -1 bits for elements of one byte and otherwise bytes.
    blocksize : int
        Bytes in a block; 0 lets c-blosc choose.
    typesize : int, optional
        Stride of the shuffling, in bytes.  None is the size of an element when an
        array is made, and 1 in metadata that does not say it, as for zarr-python.
    """

    cname: Literal["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"] = "lz4"
    clevel: int = 5
    shuffle: int = 1
    blocksize: int = 0
    typesize: int | None = None
    _blosc: BloscCodec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if type(self.shuffle) is not int or self.shuffle not in (_AUTOMATIC, *_SHUFFLES):
            raise ValueError(f"shuffle must be -1, 0, 1 or 2, not {self.shuffle!r}")
        size = 1 if self.typesize is None else self.typesize
        automatic = 2 if size == 1 else 1
        shuffle = _SHUFFLES[automatic if self.shuffle == _AUTOMATIC else self.shuffle]
        blosc = BloscCodec(self.cname, self.clevel, shuffle, size, self.blocksize)
        object.__setattr__(self, "_blosc", blosc)

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration; ``typesize`` only if there is one."""
        configuration: dict[str, JSON] = {
            "cname": self.cname,
            "clevel": self.clevel,
            "shuffle": self.shuffle,
            "blocksize": self.blocksize,
        }
        return configuration | ({} if self.typesize is None else {"typesize": self.typesize})

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Choose the stride that was left open, by the size of an element.

        Raises
        ------
        CodecError
            If this build of c-blosc lacks the compressor.
        """
        open_stride = replace(self._blosc, typesize=self.typesize)
        return replace(self, typesize=open_stride.resolve(decoded).typesize)

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one frame."""
        return self._blosc.encode(data)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a frame."""
        return self._blosc.decode(data, decoded_size)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a frame into memory of exactly the decoded size."""
        self._blosc.decode_into(data, out)


@dataclass(frozen=True, slots=True)
class NumcodecsZstdCodec(ZstdCodec):
    """Compress with Zstandard, configured as :class:`ZstdCodec` is."""


@dataclass(frozen=True, slots=True)
class NumcodecsGzipCodec(GzipCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        0 (not compressed) to 9 (smallest, slowest).
    """

    level: int = 1
