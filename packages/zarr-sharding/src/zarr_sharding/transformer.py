"""sharding storage transformer: many chunks of an array in one stored value.

Name:           sharding
Specification:  v3 draft of December 2022, "Sharding storage transformer", version 1.0
Configuration:  {"type": "indexed", "chunks_per_shard": [2, 2]}
Schema:         schemas/storage_transformer/sharding.json
Compatible:     zarr-python 2.13 to 2.18; shards are those of sharding_indexed without checksum
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, StorageTransformer, check_prefix

from zarr_sharding.layout import Layout
from zarr_sharding.sharded_store import ShardedStore, plain_index

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from zarr_core.extension import JSON, ArrayMetadata, Store

    from zarr_sharding.index import IndexFormat


@dataclass(frozen=True, slots=True)
class ShardingTransformer(StorageTransformer):
    """Puts chunks that are neighbours into one stored value, a shard.

    Parameters
    ----------
    chunks_per_shard : sequence of int
        How many chunks a shard has, in each dimension of the array.

    Raises
    ------
    ValueError
        If one of them is no positive integer, or these are too many chunks for one index.

    Examples
    --------
    >>> transformer = ShardingTransformer((32, 2))
    """

    chunks_per_shard: Sequence[int]
    _index: IndexFormat = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        counts = tuple(self.chunks_per_shard)
        if any(isinstance(n, bool) or not hasattr(n, "__index__") or n < 1 for n in counts):
            raise ValueError(f"chunks_per_shard must be integers of at least 1, not {counts}")
        counts = tuple(n.__index__() for n in counts)
        object.__setattr__(self, "chunks_per_shard", counts)
        object.__setattr__(self, "_index", plain_index(counts))

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Make the transformer; "the only binary format is the indexed format"."""
        counts: Any = definition.configuration["chunks_per_shard"]
        return cls(counts)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the index format, which is worked out anew.
        return type(self), (self.chunks_per_shard,)

    def check(self, shape: tuple[int, ...]) -> None:
        """Refuse arrays with another number of dimensions.

        "The length of the array must match the length of the array metadata shape
        entry."
        """
        if len(self.chunks_per_shard) != len(shape):
            raise ValueError(
                f"chunks_per_shard {list(self.chunks_per_shard)} has {len(self.chunks_per_shard)} "
                f"dimensions, the array has {len(shape)}"
            )

    def as_codecs(self, metadata: ArrayMetadata) -> ArrayMetadata | None:
        """Describe the array with ``sharding_indexed``, whose shards are the same.

        None if its chunks are not all of one shape, or are arranged by an extension.
        """
        grid = metadata.chunk_grid
        lengths: Any = grid.configuration.get("chunk_shape")
        if grid.name != "regular" or metadata.chunk_memory_layout is not None or 0 in lengths:
            return None
        index: list[JSON] = [{"name": "bytes", "configuration": {"endian": "little"}}]
        codec: dict[str, JSON] = {
            "chunk_shape": list(lengths),
            "codecs": [definition.to_json() for definition in metadata.codecs],
            "index_codecs": index,
            "index_location": "end",
        }
        shape = [n * length for n, length in zip(self.chunks_per_shard, lengths, strict=True)]
        return metadata.replace(
            chunk_grid=ExtensionDefinition("regular", {"chunk_shape": [*shape]}),
            codecs=(ExtensionDefinition("sharding_indexed", codec),),
            storage_transformers=metadata.storage_transformers[1:],
        )

    def transform(self, store: Store, prefix: str) -> ShardedStore:
        """The store that the array sees."""
        counts = tuple(self.chunks_per_shard)
        return ShardedStore(store, Layout(check_prefix(prefix), counts, self._index))
