"""New metadata in version 3's words, changed to what the drafts can say.

Only for new arrays: what is changed is where chunks lie, or what a shard ends in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition

from zarr_formats.draft.chunk_keys import encoding
from zarr_formats.draft.chunks import CODEC

if TYPE_CHECKING:
    from zarr_core.extension import ArrayMetadata

_CHECKSUM = "crc32c"


def adapted(metadata: ArrayMetadata, scalar: str) -> ArrayMetadata:
    """Metadata of a new array with chunk keys of the draft, and shards without checksum.

    Parameters
    ----------
    metadata : ArrayMetadata
        What was asked for.
    scalar : {"c", "c0"}
        The chunk key of an array without dimensions.
    """
    changes: dict[str, Any] = {}
    keys = metadata.chunk_key_encoding
    if keys.name == "default":
        separator = str(keys.configuration.get("separator", "/"))
        changes["chunk_key_encoding"] = encoding(separator, scalar)
    codecs = tuple(map(_without_checksum, metadata.codecs))
    if codecs != metadata.codecs:
        changes["codecs"] = codecs
    return metadata.replace(**changes)


def _without_checksum(codec: ExtensionDefinition) -> ExtensionDefinition:
    """A sharding codec without the checksum of its index, for which the drafts have no place."""
    index: Any = codec.configuration.get("index_codecs")
    if codec.name != CODEC or not index:
        return codec
    last = ExtensionDefinition.from_json(index[-1])
    if last.name != _CHECKSUM:
        return codec
    return ExtensionDefinition(CODEC, {**codec.configuration, "index_codecs": index[:-1]})
