"""What the two codecs for blocks of N5 share: a header, then inner codecs."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from weakref import WeakKeyDictionary

from zarr_core.extension import ArrayRepresentation, ArrayToBytesCodec, ExtensionDefinition

from zarr_formats.n5.blocks import Blocks, CodecLike, chain_of, read_chain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    import numpy as np
    from zarr_core.engine.chain import CodecChain
    from zarr_core.extension import JSON, Buffer

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class BlocksCodec(ArrayToBytesCodec):
    """A codec whose chunks are blocks of N5, encoded by ``codecs``: definitions, names or JSON."""

    reverse: ClassVar[bool]
    """Whether headers name the dimensions in the opposite order to the chunk's."""

    cut: ClassVar[bool]
    """Whether a block may be larger than its chunk; the rest of it is ignored."""

    codecs: CodecChain | Sequence[CodecLike] = ("bytes",)
    _chain: CodecChain = field(init=False, repr=False, compare=False)
    _blocks: WeakKeyDictionary[ArrayRepresentation, Blocks] = field(
        init=False, repr=False, compare=False, default_factory=WeakKeyDictionary
    )

    def __post_init__(self) -> None:
        chain = chain_of(self.codecs)
        object.__setattr__(self, "codecs", chain.definitions)
        object.__setattr__(self, "_chain", chain)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec, and with it its inner codecs."""
        configuration: Mapping[str, Any] = definition.configuration
        return cls(read_chain(configuration["codecs"])) if configuration else cls()

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration to write; inner codecs are spelt as they were read."""
        return {"codecs": [item.to_json() for item in self._chain.definitions]}

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Unknown inner codecs that are ignored (``must_understand`` is false)."""
        return self._chain.ignored

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """That of the inner codecs."""
        return self._chain.byte_order

    @abstractmethod
    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse inner codecs that such blocks do not have."""

    def encode(self, array: Array, decoded: ArrayRepresentation) -> list[Buffer]:
        """Encode a chunk to a block that is as large."""
        return self._of(decoded).encode(array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a block; it is padded with the fill value to the chunk."""
        return self._of(decoded).decode(data)

    def _of(self, decoded: ArrayRepresentation) -> Blocks:
        blocks = self._blocks.get(decoded)
        if blocks is None:
            blocks = Blocks(self._chain, decoded, reverse=self.reverse, cut=self.cut)
            self._blocks[decoded] = blocks
        return blocks

    def __hash__(self) -> int:
        return hash(tuple(item.name for item in self._chain.definitions))

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the cache; codecs are looked up again.
        return type(self), (self.codecs,)
