"""blosc codec (bytes -> bytes): blocks that are shuffled, then compressed.

Name:           blosc
Specification:  v3 codecs, "Blosc codec", version 1.0
Configuration:  {"cname": "zstd", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
Schema:         schemas/codec/blosc.json
Partial decode: no
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from zarr_core.extension import BytesToBytesCodec, ChunkDecodeError, CodecError

from zarr_codecs import _blosc_header, _numcodecs

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import ArrayRepresentation, Buffer

_CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib")
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
_LARGEST_TYPESIZE = 255  # one byte of the header
_COPY_PAYS = 1 << 15  # bytes; below, numcodecs takes longer to accept memory than to copy


@dataclass(frozen=True, slots=True)
class BloscCodec(BytesToBytesCodec):
    """Compress with c-blosc.

    Parameters
    ----------
    cname : {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"}
        Compressor inside Blosc.
    clevel : int
        0 (not compressed) to 9 (smallest, slowest).
    shuffle : {"noshuffle", "shuffle", "bitshuffle"}, optional
        How bytes or bits are reordered first.  None chooses, when an array is
        made: ``"bitshuffle"`` for elements of one byte, otherwise ``"shuffle"``.
    typesize : int, optional
        Stride of the shuffling, in bytes.  None chooses the size of an element.
    blocksize : int
        Bytes in a block; 0 lets c-blosc choose.
    """

    cname: Literal["lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"] = "zstd"
    clevel: int = 5
    shuffle: Literal["noshuffle", "shuffle", "bitshuffle"] | None = None
    typesize: int | None = None
    blocksize: int = 0

    def __post_init__(self) -> None:
        if self.cname not in _CNAMES:
            raise ValueError(f"cname must be one of {', '.join(_CNAMES)}, not {self.cname!r}")
        if type(self.clevel) is not int or not 0 <= self.clevel <= 9:
            raise ValueError(f"clevel must be an integer from 0 to 9, not {self.clevel!r}")
        if self.shuffle is not None and self.shuffle not in _SHUFFLES:
            raise ValueError(f"shuffle must be one of {', '.join(_SHUFFLES)}, not {self.shuffle!r}")
        if self.typesize is not None and (type(self.typesize) is not int or self.typesize < 1):
            raise ValueError(f"typesize must be an integer of at least 1, not {self.typesize!r}")
        if type(self.blocksize) is not int or not 0 <= self.blocksize < 2**31:
            raise ValueError(
                f"blocksize must be an integer from 0 to 2147483647, not {self.blocksize!r}"
            )

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Choose what was left open, by the size of an element.

        Raises
        ------
        CodecError
            If this build of c-blosc lacks the compressor.
        """
        # The one that builds leave out; asking for the others would import numcodecs.
        if self.cname == "snappy" and "snappy" not in (present := _numcodecs.blosc_libraries()):
            raise CodecError(
                "the installed numcodecs was built without snappy; "
                f'choose "cname" from {", ".join(present)}'
            )
        typesize = self.typesize
        if typesize is None:
            typesize = decoded.data_type.item_size or 1
            if typesize > _LARGEST_TYPESIZE:
                typesize = 1
        shuffle = self.shuffle or ("bitshuffle" if typesize == 1 else "shuffle")
        return replace(self, shuffle=shuffle, typesize=typesize)

    def encode(self, data: Buffer) -> Buffer:
        """Compress to one frame."""
        if len(data) > _blosc_header.LARGEST_CONTENT:
            raise CodecError(
                f"a Blosc frame holds at most {_blosc_header.LARGEST_CONTENT} bytes, "
                f"the chunk has {len(data)}; choose smaller chunks"
            )
        shuffle = _SHUFFLES[self.shuffle or "bitshuffle"]
        return _numcodecs.blosc_compress(
            data, self.cname, self.clevel, shuffle, self.blocksize, self.typesize or 1
        )

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a frame."""
        size = _blosc_header.content_size(data)
        if decoded_size is not None and size != decoded_size:
            raise _other_size(size, decoded_size)
        return _decompress(data) if size else b""

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a frame into memory of exactly the decoded size."""
        size = _blosc_header.content_size(data)
        if size != len(out):
            raise _other_size(size, len(out))
        if size > _COPY_PAYS:
            _decompress(data, out)
        elif size:
            out[:] = _decompress(data)


def _other_size(size: int, expected: int) -> ChunkDecodeError:
    return ChunkDecodeError(f"declares {size} bytes instead of {expected}", "blosc")


def _decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    try:
        return _numcodecs.blosc_decompress(data, out)
    except RuntimeError as error:
        library = _blosc_header.library(data)
        if library and library not in _numcodecs.blosc_libraries():
            raise CodecError(
                f"the chunk was compressed with {library}, "
                "which the installed numcodecs was built without"
            ) from error
        raise ChunkDecodeError("c-blosc cannot decompress it", "blosc") from error
