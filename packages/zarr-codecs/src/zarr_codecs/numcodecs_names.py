"""numcodecs.blosc, .zstd and .gzip codecs (bytes -> bytes): version 3 codecs, other options.

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
_AUTOMATIC = -1  # bit shuffle for elements of one byte, otherwise byte shuffle


@dataclass(frozen=True, slots=True)
class NumcodecsBloscCodec(BytesToBytesCodec):
    """Compress with c-blosc.

    Parameters
    ----------
    cname : {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"}
        Compressor in Blosc.
    clevel : int
        Compression level from 0 (uncompressed) to 9 (smallest, slowest).
    shuffle : int
        0 is none, 1 byte, 2 bit, -1 bit for elements of one byte and byte otherwise.
    blocksize : int
        Size of a block in bytes; 0 lets c-blosc choose.
    typesize : int, optional
        Stride of the shuffling, in bytes.  None is the size of an element when an
        array is created, and 1 in stored metadata, as in zarr-python.
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
        """Return the configuration; ``typesize`` only if it is set."""
        configuration: dict[str, JSON] = {
            "cname": self.cname,
            "clevel": self.clevel,
            "shuffle": self.shuffle,
            "blocksize": self.blocksize,
        }
        return configuration | ({} if self.typesize is None else {"typesize": self.typesize})

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Fill in a missing ``typesize`` by the size of an element.

        Raises
        ------
        CodecError
            If this build of c-blosc does not contain the compressor.
        """
        open_stride = replace(self._blosc, typesize=self.typesize)
        return replace(self, typesize=open_stride.complete(decoded).typesize)

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one frame."""
        return self._blosc.encode(data, decoded_size)

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a frame."""
        return self._blosc.decode(data, decoded_size)

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress a frame, up to a limit."""
        return self._blosc.decode_limited(data, limit)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a frame into memory of exactly the decoded size."""
        self._blosc.decode_into(data, out)


@dataclass(frozen=True, slots=True)
class NumcodecsZstdCodec(ZstdCodec):
    """Compress with Zstandard, with the parameters of :class:`ZstdCodec`."""


@dataclass(frozen=True, slots=True)
class NumcodecsGzipCodec(GzipCodec):
    """Compress with gzip.

    Parameters
    ----------
    level : int
        Compression level from 0 (uncompressed) to 9 (smallest, slowest).
    """

    level: int = 1
