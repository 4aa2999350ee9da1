"""n5_default codec (array -> bytes): a block of N5 within an array of version 3.

Name:           n5_default
Specification:  Zarr extensions, codecs/n5_default
Configuration:  {"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}},
                {"name": "bytes", "configuration": {"endian": "big"}}, ...]}
Schema:         schemas/codec/n5_default.json
Partial decode: no
Compatible:     zarrs (zarrs_n5), zarr-python (zarr-n5)

The dimensions have the order of N5; the transposition that comes first among the inner
codecs lays the elements out as blocks have them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.engine.chain import CodecChain
from zarr_core.extension import ChunkDecodeError, ExtensionDefinition

from zarr_formats.n5.blocks import big_endian
from zarr_formats.n5.blocks_codec import BlocksCodec

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from zarr_core.extension import JSON, ArrayRepresentation, Buffer

    Array = np.ndarray[Any, Any]

_NUMBERS = re.compile(r"u?int(8|16|32|64)|float(32|64)").fullmatch


class N5DefaultCodec(BlocksCodec):
    """Blocks of N5 for chunks whose dimensions are those of N5.

    The inner codecs are ``transpose`` by all dimensions reversed, ``bytes``, big-endian,
    then at most one compressor.  ``transpose`` is optional for a new array.
    """

    __slots__ = ()

    reverse: ClassVar[bool] = False
    cut: ClassVar[bool] = True

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Choose the transposition and the byte order; let the inner codecs choose the rest."""
        chain = self._chain
        if chain.definitions[0].name != "transpose":
            order = ExtensionDefinition("transpose", {"order": _reversed(decoded)})
            chain = CodecChain.of(order, *chain.definitions)
        return replace(self, codecs=big_endian(chain, decoded.data_type).complete(decoded))

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse inner codecs other than the specification asks for.

        Raises
        ------
        ValueError
            If they are anything but the transposition, big-endian ``bytes``, and at
            most one bytes -> bytes codec; if a header cannot say the shape; if N5 does
            not have the data type.
        """
        name = decoded.data_type.to_definition().name
        if not _NUMBERS(name):
            raise ValueError(
                f"blocks hold integers of 8 to 64 bits, float32 or float64; N5 has no {name}"
            )
        blocks = self._of(decoded)
        first = self._chain.definitions[0]
        order = first.configuration.get("order")
        if first.name != "transpose" or order not in (_reversed(decoded), "F"):
            raise ValueError(
                'the first of its codecs must be "transpose" with the order '
                f"{_reversed(decoded)}, because the dimensions of a block are reversed"
            )
        if blocks.array_to_array > 1 or blocks.bytes_to_bytes > 1:
            raise ValueError('its codecs are "transpose", "bytes", then at most one compressor')

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a block; it is padded with the fill value, or cut, to the chunk."""
        if data[:2] != b"\0\0":
            mode = int.from_bytes(data[:2], "big")
            raise ChunkDecodeError(f"the block has the mode {mode}; this codec has mode 0 only")
        return super().decode(data, decoded)


def _reversed(decoded: ArrayRepresentation) -> list[JSON]:
    return [*reversed(range(len(decoded.shape)))]
