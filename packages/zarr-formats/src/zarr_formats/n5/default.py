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

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToBytesCodec,
    ChunkDecodeError,
    CodecChain,
    ExtensionDefinition,
)

from zarr_formats.n5.blocks import Blocks, CodecLike, big_endian, chain_of, read_chain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np
    from zarr_core.extension import JSON, Buffer

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class N5DefaultCodec(ArrayToBytesCodec):
    """Blocks of N5 for chunks whose dimensions are those of N5.

    Parameters
    ----------
    codecs : sequence of codecs
        What encodes the elements: ``transpose`` by all dimensions reversed, ``bytes``,
        big-endian, then at most one compressor.  The transposition may be left out for
        a new array.  Each is a codec, a definition, a name or JSON; afterwards a tuple
        of definitions.

    Raises
    ------
    ExtensionError, CodecChainError
        If the codecs are not known, or do not form a chain.
    """

    codecs: CodecChain | Sequence[CodecLike] = ("bytes",)
    _chain: CodecChain = field(init=False, repr=False, compare=False)
    _blocks: WeakKeyDictionary[ArrayRepresentation, Blocks] = field(
        init=False, repr=False, compare=False, default_factory=WeakKeyDictionary
    )

    def __post_init__(self) -> None:
        chain = chain_of(self.codecs)
        object.__setattr__(self, "codecs", chain.to_definitions())
        object.__setattr__(self, "_chain", chain)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec, and with it its inner codecs."""
        configuration: Mapping[str, Any] = definition.configuration
        return cls(read_chain(configuration["codecs"])) if configuration else cls()

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration to write; inner codecs are spelt as they were read."""
        return {"codecs": [item.to_json() for item in self._chain.to_definitions()]}

    @property
    def skipped(self) -> tuple[ExtensionDefinition, ...]:
        """Inner codecs that nobody knows and that need not be understood."""
        return self._chain.skipped

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Choose the transposition and the byte order; let the inner codecs choose the rest."""
        chain = self._chain
        if chain.to_definitions()[0].name != "transpose":
            order = ExtensionDefinition("transpose", {"order": _reversed(decoded)})
            chain = CodecChain.of(order, *chain.to_definitions())
        return replace(self, codecs=big_endian(chain, decoded.data_type).resolve(decoded))

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse inner codecs other than the specification asks for.

        Raises
        ------
        ValueError
            If they are anything but the transposition, big-endian ``bytes``, and at
            most one bytes -> bytes codec; if a header cannot say the shape.
        """
        blocks = self._of(decoded)
        first = self._chain.to_definitions()[0]
        order = first.configuration.get("order")
        if first.name != "transpose" or order != _reversed(decoded):
            raise ValueError(
                'the first of its codecs must be "transpose" with the order '
                f"{_reversed(decoded)}, as the elements of a block lie the other way round"
            )
        if blocks.array_to_array > 1 or blocks.bytes_to_bytes > 1:
            raise ValueError('its codecs are "transpose", "bytes", then at most one compressor')

    def encode(self, array: Array, decoded: ArrayRepresentation) -> list[Buffer]:
        """Encode a chunk to a block that is as large."""
        return self._of(decoded).encode(array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a block; it is padded with the fill value, or cut, to the chunk."""
        if data[:2] != b"\0\0":
            mode = int.from_bytes(data[:2], "big")
            raise ChunkDecodeError(f"the block has the mode {mode}; this codec has mode 0 only")
        return self._of(decoded).decode(data)

    def _of(self, decoded: ArrayRepresentation) -> Blocks:
        blocks = self._blocks.get(decoded)
        if blocks is None:
            blocks = Blocks(self._chain, decoded, reverse=False, cut=True)
            self._blocks[decoded] = blocks
        return blocks

    def __hash__(self) -> int:
        return hash(tuple(item.name for item in self._chain.to_definitions()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what is remembered; the codecs are found anew.
        return type(self), (self.codecs,)


def _reversed(decoded: ArrayRepresentation) -> list[JSON]:
    return [*reversed(range(len(decoded.shape)))]
