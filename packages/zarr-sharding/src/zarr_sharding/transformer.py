"""sharding storage transformer: several chunks of an array in one stored value.

Name:           sharding
Specification:  v3 draft of December 2022, "Sharding storage transformer", version 1.0
Configuration:  {"type": "indexed", "chunks_per_shard": [2, 2]}
Schema:         schemas/storage_transformer/sharding.json
Compatible:     zarr-python 2.13 to 2.18; shards are those of sharding_indexed without checksum
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, StorageTransformer, StoreCapabilityError
from zarr_core.selection.parse import is_integer

from zarr_sharding.shard import check_count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Self

    from zarr_core.extension import JSON, ArrayMetadata, Store


@dataclass(frozen=True, slots=True)
class ShardingTransformer(StorageTransformer):
    """Store neighbouring chunks in one value, a shard, with the codec ``sharding_indexed``.

    Parameters
    ----------
    chunks_per_shard : sequence of int
        Number of chunks per shard, in each dimension of the array.

    Raises
    ------
    ValueError
        If a number is not a positive integer, or an index does not support so many chunks.

    Examples
    --------
    >>> transformer = ShardingTransformer((32, 2))
    """

    chunks_per_shard: Sequence[int]

    def __post_init__(self) -> None:
        counts = tuple(self.chunks_per_shard)
        if not all(is_integer(n) and n > 0 for n in counts):
            raise ValueError(f"chunks_per_shard must be integers of at least 1, not {counts}")
        counts = tuple(map(int, counts))
        check_count(counts)
        object.__setattr__(self, "chunks_per_shard", counts)

    @classmethod
    def from_definition(cls, definition: ExtensionDefinition) -> Self:
        """Create the transformer; "the only binary format is the indexed format"."""
        counts: Any = definition.configuration["chunks_per_shard"]
        return cls(counts)

    def check(self, shape: tuple[int, ...]) -> None:
        """Raise an error for arrays with a different number of dimensions.

        "The length of the array must match the length of the array metadata shape entry."
        """
        if len(self.chunks_per_shard) != len(shape):
            raise ValueError(
                f"chunks_per_shard {list(self.chunks_per_shard)} has {len(self.chunks_per_shard)} "
                f"dimensions, but the array has {len(shape)}"
            )

    def as_codecs(self, metadata: ArrayMetadata) -> ArrayMetadata | None:
        """Return equivalent metadata with ``sharding_indexed``, whose shards are identical.

        None if the chunk grid is not regular, or a chunk memory layout is set.
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

    def transform(self, store: Store, prefix: str) -> Store:
        """Raise a StoreCapabilityError: only arrays with equivalent codecs are supported."""
        raise StoreCapabilityError(
            "the storage transformer 'sharding' is supported for arrays with a regular chunk grid, "
            "without a chunk memory layout, and not behind another storage transformer",
            store,
            prefix,
        )
