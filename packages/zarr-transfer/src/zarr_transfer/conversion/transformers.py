"""Conversion between storage transformers and codecs for the same stored objects.

The shards of the storage transformer of the draft are those of ``sharding_indexed`` with an index
without checksum.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, ZarrError
from zarr_core.tools import create_extension

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayMetadata

_INDEX_CODECS: list[JSON] = [{"name": "bytes", "configuration": {"endian": "little"}}]


def with_codecs(metadata: ArrayMetadata) -> ArrayMetadata | None:
    """Return metadata without storage transformers for the same stored objects.

    None if there are none, or one has no equivalent codec.
    """
    converted: ArrayMetadata | None = metadata if metadata.storage_transformers else None
    while converted is not None and converted.storage_transformers:
        try:
            first = create_extension("storage_transformer", converted.storage_transformers[0])
        except ZarrError:
            return None
        converted = None if first is None else first.as_codecs(converted)
    return None if converted is None else converted.replace(document=None)


def with_sharding_transformer(metadata: ArrayMetadata) -> ArrayMetadata | None:
    """Return metadata with the storage transformer for shards of ``sharding_indexed``.

    None if there are no shards, their index has a checksum or is at the start, or the shape of a
    shard is not a multiple of that of its chunks.
    """
    if len(metadata.codecs) != 1 or metadata.storage_transformers:
        return None
    (codec,) = metadata.codecs
    shard = metadata.chunk_grid.configuration.get("chunk_shape")
    chunk, inner = (codec.configuration.get(name) for name in ("chunk_shape", "codecs"))
    if (
        codec.name != "sharding_indexed"
        or codec.configuration.get("index_codecs") != _INDEX_CODECS
        or codec.configuration.get("index_location", "end") != "end"
        or metadata.chunk_grid.name != "regular"
        or not isinstance(shard, list)
        or not isinstance(chunk, list)
        or not isinstance(inner, list)
    ):
        return None
    counts: list[JSON] = []
    for length, part in zip_longest(shard, chunk):
        if type(length) is not int or type(part) is not int or part < 1 or length % part:
            return None
        counts.append(length // part)
    transformer = ExtensionDefinition("sharding", {"type": "indexed", "chunks_per_shard": counts})
    return metadata.replace(
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": chunk}),
        codecs=tuple(map(ExtensionDefinition.from_json, inner)),
        storage_transformers=(transformer,),
        document=None,
    )
