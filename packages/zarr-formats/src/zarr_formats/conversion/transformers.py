"""Shards of a storage transformer, described as those of a codec.

The shards of the draft's storage transformer are those of ``sharding_indexed`` with an
index without checksum, so they need not be touched to be described in other words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition

if TYPE_CHECKING:
    from zarr_core.extension import JSON, ArrayMetadata

_INDEX_CODECS: list[JSON] = [{"name": "bytes", "configuration": {"endian": "little"}}]


def with_sharding_codec(metadata: ArrayMetadata) -> ArrayMetadata | None:
    """The same stored objects in the words of ``sharding_indexed``.

    Parameters
    ----------
    metadata : ArrayMetadata
        An array whose only storage transformer is ``sharding``, on a regular grid.

    Returns
    -------
    ArrayMetadata or None
        None if it is another array.
    """
    if len(metadata.storage_transformers) != 1 or metadata.chunk_memory_layout is not None:
        return None
    (transformer,) = metadata.storage_transformers
    counts = transformer.configuration.get("chunks_per_shard")
    chunk = metadata.chunk_grid.configuration.get("chunk_shape")
    if (
        transformer.name != "sharding"
        or metadata.chunk_grid.name != "regular"
        or not isinstance(counts, list)
        or not isinstance(chunk, list)
        or len(counts) != len(chunk)
    ):
        return None
    shard: list[JSON] = [
        count * length
        for count, length in zip(counts, chunk, strict=True)
        if isinstance(count, int) and isinstance(length, int)
    ]
    codec = ExtensionDefinition(
        "sharding_indexed",
        {
            "chunk_shape": chunk,
            "codecs": [definition.to_json() for definition in metadata.codecs],
            "index_codecs": _INDEX_CODECS,
            "index_location": "end",
        },
    )
    return metadata.replace(
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": shard}),
        codecs=(codec,),
        storage_transformers=(),
        document=None,
    )


def with_sharding_transformer(metadata: ArrayMetadata) -> ArrayMetadata | None:
    """The way back: shards of ``sharding_indexed`` in the words of the draft, if they are its.

    Returns
    -------
    ArrayMetadata or None
        None if there are no shards, or their index has a checksum or is at the start.
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
    counts: list[JSON] = [
        length // part
        for length, part in zip(shard, chunk, strict=True)
        if isinstance(length, int) and isinstance(part, int)
    ]
    transformer = ExtensionDefinition("sharding", {"type": "indexed", "chunks_per_shard": counts})
    return metadata.replace(
        chunk_grid=ExtensionDefinition("regular", {"chunk_shape": chunk}),
        codecs=tuple(map(ExtensionDefinition.from_json, inner)),
        storage_transformers=(transformer,),
        document=None,
    )
