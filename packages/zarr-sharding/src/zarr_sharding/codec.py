"""sharding_indexed codec (array -> bytes): inner chunks and their index in one stored value.

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
from zarr_core.engine.chain import CodecChain, PreparedCodecChain
from zarr_core.extension import (
    ArrayRepresentation,
    BasicIndexer,
    BufferByteReader,
    ByteRange,
    Codec,
    ExtensionDefinition,
    Location,
    PartialEncodeCodec,
    SubchunkCodec,
)
from zarr_core.selection.parse import is_integer

from zarr_sharding.inner_chunks import GAP_BYTES
from zarr_sharding.reader import read_part
from zarr_sharding.shard import Shard, index_representation, inner_grid, prepare_shard
from zarr_sharding.writer import change_shard, encode_shard

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from zarr_core.extension import JSON, Buffer, ByteReader, Selection

    from zarr_sharding.index import IndexFormat

    Array = np.ndarray[Any, Any]

CodecLike: TypeAlias = "Codec | ExtensionDefinition | str | Mapping[str, JSON]"

_INDEX_CODECS: tuple[ExtensionDefinition, ...] = (
    ExtensionDefinition("bytes", {"endian": "little"}),
    ExtensionDefinition("crc32c"),
)


@dataclass(frozen=True, slots=True)
class ShardingCodec(PartialEncodeCodec, SubchunkCodec):
    """Store shards: separately encoded inner chunks and an index of their positions.

    Parameters
    ----------
    chunk_shape : sequence of int, optional
        Shape of the inner chunks, in elements; must divide the shape of the shard.  By default
        the shape of the shard, which :meth:`complete` sets.
    codecs : sequence of codecs
        Codecs of the inner chunks, each a codec, a definition, a name or JSON;
        stored as a tuple of definitions.  ``bytes`` by default; :meth:`complete` adds a missing
        array -> bytes codec.
    index_codecs : sequence of codecs
        Codecs of the index.  ``bytes`` (little-endian) and ``crc32c`` by default.
    index_location : {"end", "start"}
        Position of the index in the shard.

    Raises
    ------
    ValueError
        If the shape or the location is invalid.
    ExtensionError, CodecChainError
        If a codec is unknown, or the codecs do not form a chain.

    Examples
    --------
    >>> codec = ShardingCodec((32, 32), ["bytes", "crc32c"])
    """

    chunk_shape: Sequence[int] | None = None
    codecs: CodecChain | Sequence[CodecLike] = ("bytes",)
    index_codecs: CodecChain | Sequence[CodecLike] = _INDEX_CODECS
    index_location: Literal["start", "end"] = "end"
    _inner: CodecChain = field(init=False, repr=False, compare=False)
    _index: CodecChain = field(init=False, repr=False, compare=False)
    _shards: WeakKeyDictionary[ArrayRepresentation, Shard] = field(
        init=False, repr=False, compare=False, default_factory=WeakKeyDictionary
    )

    def __post_init__(self) -> None:
        put = object.__setattr__
        if self.chunk_shape is not None:
            shape = tuple(self.chunk_shape)
            if not all(is_integer(n) and n > 0 for n in shape):
                raise ValueError(f"chunk_shape must be integers of at least 1, not {shape}")
            put(self, "chunk_shape", tuple(map(int, shape)))
        if self.index_location not in ("start", "end"):
            raise ValueError(
                f'index_location must be "start" or "end", not {self.index_location!r}'
            )
        inner, index = _chain(self.codecs), _chain(self.index_codecs)
        put(self, "codecs", inner.definitions)
        put(self, "index_codecs", index.definitions)
        put(self, "_inner", inner)
        put(self, "_index", index)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the codec and its inner codecs."""
        configuration: Mapping[str, Any] = definition.configuration
        chains = {
            member: _read_chain(configuration[member], member)
            for member in ("codecs", "index_codecs")
            if member in configuration
        }
        # Only arguments of a new array can omit codecs; complete() adds the serializer.
        return cls(**{"codecs": (), **configuration, **chains})

    def to_configuration(self) -> dict[str, JSON]:
        """Return the configuration; inner codecs keep the form in which they were read."""
        members: dict[str, JSON] = {
            "codecs": [definition.to_json() for definition in self._inner.definitions],
            "index_codecs": [definition.to_json() for definition in self._index.definitions],
            "index_location": self.index_location,
        }
        if self.chunk_shape is None:
            return members
        return {"chunk_shape": list(self.chunk_shape), **members}

    @property
    def ignored(self) -> tuple[ExtensionDefinition, ...]:
        """Ignored inner codecs: unknown, with must_understand false."""
        return (*self._inner.ignored, *self._index.ignored)

    @property
    def byte_order(self) -> Literal["little", "big"] | None:
        """Byte order of the inner chunks."""
        return self._inner.byte_order

    def complete(self, decoded: ArrayRepresentation) -> Self:
        """Fill in the parameters that depend on the shard and on the inner chunk."""
        shape = decoded.shape if self.chunk_shape is None else tuple(self.chunk_shape)
        grid = inner_grid(decoded.shape, shape)
        inner = ArrayRepresentation(shape, decoded.data_type, decoded.fill_value)
        index = self._index.complete(index_representation(grid))
        return replace(
            self, chunk_shape=shape, codecs=self._inner.complete(inner), index_codecs=index
        )

    def check(self, decoded: ArrayRepresentation) -> None:
        """Raise an error if the shape or the inner codecs are not supported.

        Raises
        ------
        ValueError
            If the inner chunks have a different number of dimensions than the shard, do not
            divide it evenly, or are too many.
        CodecChainError
            If an inner codec does not support the inner chunks, or an index codec has no fixed
            size.
        """
        self._shard(decoded)

    def inner_codecs(self, decoded: ArrayRepresentation) -> PreparedCodecChain:
        """Return the prepared codec chain of the inner chunks."""
        return self._shard(decoded).inner

    def index_format(self, decoded: ArrayRepresentation) -> IndexFormat:
        """Return the format of the index, for code that reads shards in its own way."""
        return self._shard(decoded).index

    def inner_chunk_sizes(
        self, reader: ByteReader, decoded: ArrayRepresentation
    ) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the stored sizes of the inner chunks in bytes; reads only the index."""
        return self._shard(decoded).index.read(reader).sizes()

    def prefetch(self, decoded: ArrayRepresentation) -> ByteRange:
        """Return the byte range of the index, extended to the minimum size of a read."""
        index = self._shard(decoded).index
        nbytes = max(index.size, GAP_BYTES)
        return ByteRange(0, nbytes) if index.at_start else ByteRange(-nbytes)

    def encode(self, array: Array, decoded: ArrayRepresentation) -> list[Buffer] | None:
        """Encode a shard; return None if all inner chunks are empty."""
        return encode_shard(self._shard(decoded), array)

    def decode(self, data: Buffer, decoded: ArrayRepresentation) -> Array:
        """Decode a shard in memory."""
        out = np.empty(decoded.shape, decoded.data_type.numpy_dtype)
        everything = BasicIndexer(tuple(slice(0, length, 1) for length in decoded.shape))
        read_part(self._shard(decoded), BufferByteReader(data), everything, out)
        return out

    def partial_decode(
        self, reader: ByteReader, decoded: ArrayRepresentation, selection: Selection, out: Array
    ) -> None:
        """Read the index, then only the selected inner chunks."""
        read_part(self._shard(decoded), reader, selection, out)

    def partial_encode(
        self,
        reader: ByteReader | None,
        decoded: ArrayRepresentation,
        selection: Selection,
        value: Array,
    ) -> list[Buffer] | None:
        """Encode the selected inner chunks; other inner chunks keep their stored bytes."""
        return change_shard(self._shard(decoded), reader, selection, value)

    def _shard(self, decoded: ArrayRepresentation) -> Shard:
        shard = self._shards.get(decoded)
        if shard is None:
            shape = decoded.shape if self.chunk_shape is None else tuple(self.chunk_shape)
            shard = self._shards[decoded] = prepare_shard(
                decoded,
                shape,
                self._inner,
                self._index,
                self.index_location == "start",
                _shard_of,
            )
        return shard

    def __hash__(self) -> int:
        return hash((self.chunk_shape, self.index_location))  # definitions are not hashable

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the cache; the codecs are resolved again.
        return type(self), (self.chunk_shape, self.codecs, self.index_codecs, self.index_location)


def _shard_of(chain: PreparedCodecChain) -> Shard | None:
    """Return the shards that codecs encode; None if they encode anything else."""
    codec = chain.array_to_bytes
    if isinstance(codec, ShardingCodec) and not chain.array_to_array and not chain.bytes_to_bytes:
        return codec._shard(chain.decoded)  # noqa: SLF001 - of the same class
    return None


def _chain(codecs: CodecChain | Iterable[CodecLike]) -> CodecChain:
    if isinstance(codecs, CodecChain):
        return codecs
    return CodecChain.of(
        *(
            ExtensionDefinition.from_json(dict(codec)) if isinstance(codec, Mapping) else codec
            for codec in codecs
        ),
        complete=False,
    )


def _read_chain(definitions: Iterable[JSON], member: str) -> CodecChain:
    return CodecChain.from_definitions(
        [ExtensionDefinition.from_json(definition) for definition in definitions],
        Location(pointer=f"/configuration/{member}"),
    )
