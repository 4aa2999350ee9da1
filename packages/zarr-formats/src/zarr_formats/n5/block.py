"""n5.block codec (array -> bytes): a block of N5, with reversed dimensions.

Name:           n5.block
Specification:  N5 file-system specification, item 9
Configuration:  {"codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, ...]}
Schema:         schemas/codec/n5.block.json
Partial decode: no
Compatible:     N5 (Java), TensorStore, zarr-python 2 (N5Store)

Blocks hold their elements with the first dimension of N5 varying fastest.  Read with the
dimensions in the opposite order they are in C order, so nothing is transposed.  Arrays of
the format ``n5`` have this codec; their documents do not name it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from zarr_formats.n5.blocks import big_endian
from zarr_formats.n5.blocks_codec import BlocksCodec

if TYPE_CHECKING:
    from typing import Self

    from zarr_core.extension import ArrayRepresentation


class BlockCodec(BlocksCodec):
    """Blocks of N5 for chunks whose dimensions are those of N5 reversed.

    The inner codecs are ``bytes``, big-endian, then at most one compressor.
    """

    __slots__ = ()

    reverse: ClassVar[bool] = True
    cut: ClassVar[bool] = False

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Let the inner codecs fill in what depends on the chunk."""
        return replace(self, codecs=big_endian(self._chain, decoded.data_type).complete(decoded))

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse shapes that a header cannot say, and codecs that N5 does not have.

        Raises
        ------
        ValueError
            If the inner codecs are more than big-endian ``bytes`` with one compressor.
        """
        blocks = self._of(decoded)
        if blocks.array_to_array or blocks.bytes_to_bytes > 1:
            raise ValueError('the codecs of a block are "bytes", then at most one compressor')
