"""sharding_indexed codec (array -> bytes): many inner chunks in one stored value.

Name:           sharding_indexed
Specification:  v3 codecs, "Sharding codec", version 1.0
Configuration:  {"chunk_shape": [32, 32], "codecs": [...], "index_codecs": [...],
                "index_location": "end"}
Schema:         schemas/codec/sharding_indexed.json
Partial decode: yes
Compatible:     zarr-python, TensorStore, zarrs
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from zarr_core.extension import (
    ArrayRepresentation,
    ArrayToBytesCodec,
    Box,
    BufferReader,
    ByteRange,
    Codec,
    CodecChain,
    ExtensionDefinition,
)

from zarr_sharding.ranges import GAP_BYTES
from zarr_sharding.reader import read_part
from zarr_sharding.shard import Shard, bind_shard, grid_of
from zarr_sharding.writer import change_shard, encode_shard

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from zarr_core.extension import JSON, BoundChain, Buffer, Selection, ValueReader

    Array = np.ndarray[Any, Any]

CodecLike: TypeAlias = "Codec | ExtensionDefinition | str | Mapping[str, JSON]"

_INDEX_CODECS: tuple[ExtensionDefinition, ...] = (
    ExtensionDefinition("bytes", {"endian": "little"}),
    ExtensionDefinition("crc32c"),
)


@dataclass(frozen=True, slots=True)
class ShardingCodec(ArrayToBytesCodec):
    """Shards: each inner chunk is encoded by itself, an index says where it lies.

    Parameters
    ----------
    chunk_shape : sequence of int
        Shape of the inner chunks, in elements; divides the shape of the shard.
    codecs : sequence of codecs
        Codecs of the inner chunks, each a codec, a definition, a name or JSON;
        afterwards a tuple of definitions.  ``bytes`` by default.
    index_codecs : sequence of codecs
        Codecs of the index.  ``bytes`` (little endian) and ``crc32c`` by default.
    index_location : {"end", "start"}
        Where in the shard the index lies.

    Raises
    ------
    ValueError
        If the shape or the location is not one.
    ExtensionError, CodecChainError
        If the codecs are not known, or do not form a chain.

    Examples
    --------
    >>> codec = ShardingCodec((32, 32), ["bytes", "crc32c"])
    """

    chunk_shape: Sequence[int]
    codecs: CodecChain | Sequence[CodecLike] = ("bytes",)
    index_codecs: CodecChain | Sequence[CodecLike] = _INDEX_CODECS
    index_location: Literal["start", "end"] = "end"
    _inner: CodecChain = field(init=False, repr=False, compare=False)
    _index: CodecChain = field(init=False, repr=False, compare=False)
    _shards: WeakKeyDictionary[ArrayRepresentation, Shard] = field(
        init=False, repr=False, compare=False, default_factory=WeakKeyDictionary
    )

    supports_parts = True

    def __post_init__(self) -> None:
        shape = tuple(self.chunk_shape)
        if any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in shape):
            raise ValueError(f"chunk_shape must be integers of at least 1, not {shape}")
        if self.index_location not in ("start", "end"):
            raise ValueError(
                f'index_location must be "start" or "end", not {self.index_location!r}'
            )
        inner, index = _chain(self.codecs), _chain(self.index_codecs)
        put = object.__setattr__
        put(self, "chunk_shape", tuple(n.__index__() for n in shape))
        put(self, "codecs", inner.to_definitions())
        put(self, "index_codecs", index.to_definitions())
        put(self, "_inner", inner)
        put(self, "_index", index)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the codec, and with it its inner codecs."""
        configuration: Mapping[str, Any] = definition.configuration
        return cls(
            configuration["chunk_shape"],
            _read_chain(configuration["codecs"], "codecs"),
            _read_chain(configuration["index_codecs"], "index_codecs"),
            configuration.get("index_location", "end"),
        )

    def to_configuration(self) -> dict[str, JSON]:
        """Give the configuration to write; inner codecs are spelt as they were read."""
        return {
            "chunk_shape": list(self.chunk_shape),
            "codecs": [it.to_json() for it in self._inner.to_definitions()],
            "index_codecs": [it.to_json() for it in self._index.to_definitions()],
            "index_location": self.index_location,
        }

    @property
    def skipped(self) -> tuple[ExtensionDefinition, ...]:
        """Inner codecs that nobody knows and that need not be understood."""
        return (*self._inner.skipped, *self._index.skipped)

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """That of the inner chunks."""
        return self._inner.byte_order

    def resolve(self, decoded: ArrayRepresentation) -> Self:
        """Let the inner codecs fill in what depends on the inner chunk."""
        grid_of(decoded.shape, tuple(self.chunk_shape))
        shape = tuple(self.chunk_shape)
        inner = ArrayRepresentation(shape, decoded.data_type, decoded.fill_value)
        return replace(self, codecs=self._inner.resolve(inner), index_codecs=self._index)

    def check(self, decoded: ArrayRepresentation) -> None:
        """Refuse shapes that are not divided evenly, and codecs that do not fit.

        Raises
        ------
        ValueError
            If the inner chunks have another number of dimensions than the shard,
            do not divide it evenly, or are too many; a CodecChainError if an inner
            codec does not support them or an index codec has no fixed size.
        """
        self._shard(decoded)

    def inner_chain(self, decoded: ArrayRepresentation) -> BoundChain:
        """Give the codecs of an inner chunk, bound to it."""
        return self._shard(decoded).inner

    def inner_sizes(
        self, reader: ValueReader, decoded: ArrayRepresentation
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Read the index alone, which knows the lengths."""
        return self._shard(decoded).index.read(reader).sizes()

    def read_first(self, decoded: ArrayRepresentation) -> ByteRange:
        """The index, with as much beside it as costs no more; often that is the whole shard."""
        index = self._shard(decoded).index
        nbytes = max(index.size, GAP_BYTES)
        return ByteRange(0, nbytes) if index.at_start else ByteRange(-nbytes)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> list[Buffer] | None:
        """Encode a shard; None if all of its inner chunks are empty."""
        return encode_shard(self._shard(decoded), array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a shard that is in memory."""
        out = np.empty(decoded.shape, decoded.data_type.numpy_dtype)
        everything = Box(tuple(slice(0, length, 1) for length in decoded.shape))
        read_part(self._shard(decoded), BufferReader(data), everything, out)
        return out

    def decode_part(
        self, reader: ValueReader, decoded: ArrayRepresentation, selection: Selection, out: Array
    ) -> None:
        """Read the index, then the inner chunks that are needed, and no others."""
        read_part(self._shard(decoded), reader, selection, out)

    def encode_part(
        self,
        reader: ValueReader | None,
        decoded: ArrayRepresentation,
        selection: Selection,
        value: Array,
    ) -> list[Buffer] | None:
        """Encode anew what is touched; other inner chunks are kept as they are stored."""
        return change_shard(self._shard(decoded), reader, selection, value)

    def _shard(self, decoded: ArrayRepresentation) -> Shard:
        shard = self._shards.get(decoded)
        if shard is None:
            shard = self._shards[decoded] = bind_shard(
                decoded,
                tuple(self.chunk_shape),
                self._inner,
                self._index,
                self.index_location == "start",
            )
        return shard

    def __hash__(self) -> int:
        return hash((self.chunk_shape, self.index_location))  # definitions have no hash

    def __reduce__(self) -> tuple[Any, ...]:
        # Without what is remembered; the codecs are found anew.
        return type(self), (self.chunk_shape, self.codecs, self.index_codecs, self.index_location)


def _chain(codecs: CodecChain | Iterable[CodecLike]) -> CodecChain:
    if isinstance(codecs, CodecChain):
        return codecs
    return CodecChain.of(
        *(
            ExtensionDefinition.from_json(dict(it)) if isinstance(it, Mapping) else it
            for it in codecs
        )
    )


def _read_chain(definitions: Iterable[JSON], member: str) -> CodecChain:
    return CodecChain.from_definitions(
        [ExtensionDefinition.from_json(it) for it in definitions],
        pointer=f"/configuration/{member}",
    )
