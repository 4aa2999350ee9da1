"""blosc codec (bytes -> bytes): shuffled and compressed blocks.

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

from zarr_codecs import _blosc_header, _blosc_snappy, _numcodecs

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import ArrayRepresentation, Buffer

_CNAMES = ("lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib")
_SHUFFLES = {"noshuffle": 0, "shuffle": 1, "bitshuffle": 2}
_LARGEST_TYPESIZE = 255  # one byte of the header
_MIN_DIRECT = 1 << 15  # bytes; below, numcodecs accepts memory slower than it copies


@dataclass(frozen=True, slots=True)
class BloscCodec(BytesToBytesCodec):
    """Compress with c-blosc.

    Parameters
    ----------
    cname : {"lz4", "lz4hc", "blosclz", "zstd", "snappy", "zlib"}
        Compressor in Blosc.
    clevel : int
        Compression level from 0 (uncompressed) to 9 (smallest, slowest).
    shuffle : {"noshuffle", "shuffle", "bitshuffle"}, optional
        Whether bytes or bits are shuffled first.  None chooses when an array is
        created: ``"bitshuffle"`` for elements of one byte, otherwise ``"shuffle"``.
    typesize : int, optional
        Stride of the shuffling, in bytes.  None chooses the size of an element.
    blocksize : int
        Size of a block in bytes; 0 lets c-blosc choose.
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

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Fill in the missing parameters by the size of an element.

        Raises
        ------
        CodecError
            If this build of c-blosc does not contain the compressor.
        ValueError
            If ``typesize`` is larger than 255, the limit of a Blosc frame.  In stored
            metadata a larger one is accepted, because some writers store the size of
            large elements; c-blosc then does not shuffle.
        """
        if self.typesize is not None and self.typesize > _LARGEST_TYPESIZE:
            raise ValueError(f"typesize must be 1 to {_LARGEST_TYPESIZE}, not {self.typesize}")
        # Only snappy is missing in some builds; checking the others would import numcodecs.
        if self.cname == "snappy" and "snappy" not in (present := _numcodecs.blosc_libraries()):
            raise CodecError(
                "the installed numcodecs does not contain the compressor snappy; "
                f'choose "cname" from {", ".join(present)}'
            )
        typesize = self.typesize
        if typesize is None:
            typesize = decoded.data_type.item_size or 1
            if typesize > _LARGEST_TYPESIZE:
                typesize = 1
        shuffle = self.shuffle or ("bitshuffle" if typesize == 1 else "shuffle")
        return replace(self, shuffle=shuffle, typesize=typesize)

    def encode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Compress to one frame."""
        if len(data) > _blosc_header.LARGEST_CONTENT:
            raise CodecError(
                f"a Blosc frame contains at most {_blosc_header.LARGEST_CONTENT} bytes, "
                f"but the chunk has {len(data)}; choose smaller chunks"
            )
        shuffle = _SHUFFLES[self.shuffle or "bitshuffle"]
        return _numcodecs.blosc_compress(
            data, self.cname, self.clevel, shuffle, self.blocksize, self.typesize or 1
        )

    def decode(self, data: Buffer, decoded_size: int | None) -> Buffer:
        """Decompress a frame."""
        size = _blosc_header.content_size(data)
        if decoded_size is not None and size != decoded_size:
            raise _size_error(size, decoded_size)
        return _decompress(data) if size else b""

    def decode_limited(self, data: Buffer, limit: int) -> Buffer | int:
        """Decompress a frame, up to a limit."""
        size = _blosc_header.content_size(data)
        return size if size > limit else self.decode(data, size)

    def decode_into(self, data: Buffer, out: memoryview) -> None:
        """Decompress a frame into memory of exactly the decoded size."""
        size = _blosc_header.content_size(data)
        if size != len(out):
            raise _size_error(size, len(out))
        if size > _MIN_DIRECT:
            _decompress(data, out)
        elif size:
            out[:] = _decompress(data)


def _size_error(size: int, expected: int) -> ChunkDecodeError:
    return ChunkDecodeError(f"the frame declares {size} bytes instead of {expected}", "blosc")


def _decompress(data: Buffer, out: memoryview | None = None) -> Buffer:
    try:
        return _numcodecs.blosc_decompress(data, out)
    except RuntimeError as error:
        library = _blosc_header.library(data)
        if library and library not in _numcodecs.blosc_libraries():
            if library == "snappy":
                return _decompress(_blosc_snappy.uncompressed_frame(data), out)
            raise CodecError(
                f"the chunk is compressed with {library}, "
                "which the installed numcodecs does not contain"
            ) from error
        raise ChunkDecodeError("c-blosc cannot decompress the frame", "blosc") from error
