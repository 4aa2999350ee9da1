"""Blocks for chunks of one shape: a header, then elements through codecs.

A block may be smaller than its chunk: the Java library cuts those at the edge of an
array to what lies inside, while TensorStore or zarr-python store them whole.  Both are
read.  They are written whole, because a codec does not know where its chunk lies, because
a whole block stays right when the array grows, and because everybody reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from zarr_core.engine.chain import CodecChain
from zarr_core.extension import (
    ArrayRepresentation,
    ChunkDecodeError,
    Codec,
    ExtensionDefinition,
    Location,
)

from zarr_formats.n5.header import LARGEST_LENGTH, MOST_DIMENSIONS, read_header, write_header

if TYPE_CHECKING:
    from collections.abc import Iterable

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import JSON, Buffer, DataType

    Array = np.ndarray[Any, Any]

CodecLike: TypeAlias = "Codec | ExtensionDefinition | str | Mapping[str, JSON]"

_MOST_SHAPES = 64  # of blocks that were met; there are few but in damaged arrays
# A block larger than its chunk may be decoded to so many times what is stored of it,
# which is as far as DEFLATE goes; its header could ask for any amount of memory.
_MOST_GROWTH = 1024


class Blocks:
    """Encodes and decodes blocks for chunks of one shape.

    ``reverse``: headers name the dimensions in the opposite order to the chunk's.  ``cut``: a block
    may be larger than its chunk; the rest of it is ignored.
    """

    def __init__(
        self, chain: CodecChain, decoded: ArrayRepresentation, *, reverse: bool, cut: bool
    ) -> None:
        shape = decoded.shape
        if len(shape) > MOST_DIMENSIONS or any(length > LARGEST_LENGTH for length in shape):
            raise ValueError(f"the header of a block has no room for the shape {shape}")
        self._chain = chain
        self._shape = shape
        self._data_type: DataType = decoded.data_type
        self._fill_value = decoded.fill_value
        self._nbytes = decoded.nbytes or 0
        self._reverse = reverse
        self._cut = cut
        self._bound: dict[tuple[int, ...], PreparedCodecChain] = {}
        self._whole = self._bind(shape)
        self._header = write_header(self._reversed(shape))
        stored = self._whole.memory_dtype
        if stored is None or stored != stored.newbyteorder(">"):
            raise ValueError('blocks hold big-endian elements: the codec "bytes", endian "big"')

    @property
    def array_to_array(self) -> int:
        """How many array -> array codecs there are."""
        return len(self._whole.array_to_array)

    @property
    def bytes_to_bytes(self) -> int:
        """How many bytes -> bytes codecs there are."""
        return len(self._whole.bytes_to_bytes)

    def encode(self, array: Array) -> list[Buffer]:
        """Encode a chunk to a block that is as large."""
        encoded = self._whole.encode(array)
        assert encoded is not None, "bound so that empty chunks are kept"
        pieces = encoded if isinstance(encoded, list | tuple) else [encoded]
        return [self._header, *pieces]

    def decode(self, data: Buffer) -> Array:
        """Decode a block to a chunk; elements outside the block have the fill value."""
        lengths, start = read_header(data, len(self._shape))
        shape = self._reversed(lengths)
        content = memoryview(data)[start:]
        if shape == self._shape:
            return self._whole.decode(content)
        if any(length > most for length, most in zip(shape, self._shape, strict=True)):
            self._check_larger(shape, len(content))
        block = self._bind(shape).decode(content)
        whole = np.full(self._shape, self._fill_value, self._data_type.numpy_dtype)
        common = tuple(slice(0, min(pair)) for pair in zip(shape, self._shape, strict=True))
        whole[common] = block[common]
        return whole

    def _check_larger(self, shape: tuple[int, ...], stored: int) -> None:
        if not self._cut:
            raise ChunkDecodeError(
                f"a block of shape {shape} is larger than a chunk, {self._shape}"
            )
        size = prod(shape) * (self._data_type.item_size or 1)
        if size > max(self._nbytes, stored * _MOST_GROWTH):
            raise ChunkDecodeError(
                f"the header declares {size} bytes of shape {shape}, for a chunk of shape "
                f"{self._shape} of which {stored} bytes are stored"
            )

    def _bind(self, shape: tuple[int, ...]) -> PreparedCodecChain:
        bound = self._bound.get(shape)
        if bound is None:
            inner = ArrayRepresentation(
                shape, self._data_type, self._fill_value, write_empty_chunks=True
            )
            bound = self._chain.prepare(inner)
            if len(self._bound) >= _MOST_SHAPES:
                self._bound.clear()
            self._bound[shape] = bound
        return bound

    def _reversed(self, lengths: tuple[int, ...]) -> tuple[int, ...]:
        return lengths[::-1] if self._reverse else lengths


def chain_of(codecs: CodecChain | Iterable[CodecLike]) -> CodecChain:
    """The chain of codecs that are given in any form."""
    if isinstance(codecs, CodecChain):
        return codecs
    return CodecChain.of(
        *(
            ExtensionDefinition.from_json(dict(item)) if isinstance(item, Mapping) else item
            for item in codecs
        )
    )


def read_chain(definitions: Iterable[JSON]) -> CodecChain:
    """The chain that the member ``codecs`` of a configuration describes."""
    return CodecChain.from_definitions(
        [ExtensionDefinition.from_json(item) for item in definitions],
        Location(pointer="/configuration/codecs"),
    )


def big_endian(chain: CodecChain, data_type: DataType) -> CodecChain:
    """The chain with the byte order of blocks, where its ``bytes`` codec leaves that open."""
    if not data_type.has_byte_order:
        return chain
    return CodecChain.of(
        *(
            ExtensionDefinition("bytes", {"endian": "big"})
            if definition.name == "bytes" and "endian" not in definition.configuration
            else definition
            for definition in chain.definitions
        )
    )
