"""n5.block codec (array -> bytes): a block of N5, whose dimensions are the other way round.

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

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToBytesCodec,
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
class BlockCodec(ArrayToBytesCodec):
    """Blocks of N5 for chunks whose dimensions are those of N5 reversed.

    Parameters
    ----------
    codecs : sequence of codecs
        What encodes the elements: ``bytes``, big-endian, then at most one compressor.
        Each is a codec, a definition, a name or JSON; afterwards a tuple of definitions.

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
        """Let the inner codecs fill in what depends on the chunk."""
        return replace(self, codecs=big_endian(self._chain, decoded.data_type).resolve(decoded))

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

    def encode(self, array: Array, decoded: ArrayRepresentation) -> list[Buffer]:
        """Encode a chunk to a block that is as large."""
        return self._of(decoded).encode(array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a block, which may be smaller than the chunk."""
        return self._of(decoded).decode(data)

    def _of(self, decoded: ArrayRepresentation) -> Blocks:
        blocks = self._blocks.get(decoded)
        if blocks is None:
            blocks = Blocks(self._chain, decoded, reverse=True, cut=False)
            self._blocks[decoded] = blocks
        return blocks

    def __hash__(self) -> int:
        return hash(tuple(item.name for item in self._chain.to_definitions()))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what is remembered; the codecs are found anew.
        return type(self), (self.codecs,)
