"""Conversion of the chunk grid and the storage transformers.

Specification: draft of December 2022, "Regular grids", "Storage transformers",
"Sharding storage transformer".  If ``sharding`` is the first storage transformer, it
becomes the codec ``sharding_indexed``, which is faster: the keys and bytes are the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, MetadataValidationError, ValidationProblem

from zarr_formats.draft.chunk_keys import NAME as ENCODING
from zarr_formats.draft.chunk_keys import encoding
from zarr_formats.draft.data_types import extension_configuration
from zarr_formats.draft.extensions import is_uri
from zarr_formats.metadata_error import metadata_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON, ArrayMetadata

SHARDING = "sharding"
CODEC = "sharding_indexed"
_CHECKSUM = "crc32c"
_SHARDING_URI = re.compile(
    r"https?://purl\.org/zarr/spec/(?:extensions/)?storage[-_]transformers/sharding/1\.[0-9]+"
).fullmatch
_LITTLE = ExtensionDefinition("bytes", {"endian": "little"})


@dataclass(frozen=True, slots=True)
class Chunks:
    """Grid and keys of the stored chunks (or shards), and storage transformers of an array.

    ``transformers`` are those that do not become a codec.
    """

    grid: ExtensionDefinition
    key_encoding: ExtensionDefinition
    inner_shape: tuple[int, ...] | None
    transformers: tuple[ExtensionDefinition, ...]

    def shard(self, codecs: Sequence[ExtensionDefinition]) -> tuple[ExtensionDefinition, ...]:
        """Return the codecs, within a sharding codec if there are shards."""
        if self.inner_shape is None:
            return tuple(codecs)
        configuration: dict[str, JSON] = {
            "chunk_shape": list(self.inner_shape),
            "codecs": [codec.to_json() for codec in codecs],
            "index_codecs": [_LITTLE.to_json()],
            "index_location": "end",
        }
        return (ExtensionDefinition(CODEC, configuration),)


def read_chunks(
    document: dict[str, Any], scalar: str, *, pad: bool = False, keep: bool = False
) -> Chunks:
    """Read ``chunk_grid`` and ``storage_transformers``.

    ``pad`` permits fewer dimensions in ``chunks_per_shard``, as zarr-python 2 writes it; ``keep`` keeps
    sharding as a storage transformer.
    """
    grid, shape = document["chunk_grid"], document["shape"]
    separator = grid.get("separator", "/")
    keys = encoding(separator if separator in ("/", ".") else "/", scalar)
    transformers = [_read_transformer(item) for item in document.get("storage_transformers", ())]
    if pad:
        transformers = [_padded(item, len(shape)) for item in transformers]
    if "extension" in grid:
        definition = ExtensionDefinition(grid["extension"], extension_configuration(grid))
        return Chunks(definition, keys, None, tuple(transformers))
    chunk = _chunk_shape(grid["chunk_shape"], shape)
    if keep or not transformers or transformers[0].name != SHARDING:
        return Chunks(_regular(chunk), keys, None, tuple(transformers))
    counts = _counts(transformers[0], len(shape))
    stored = tuple(length * count for length, count in zip(chunk, counts, strict=True))
    return Chunks(_regular(stored), keys, chunk, tuple(transformers[1:]))


def sharding_of(metadata: ArrayMetadata) -> tuple[dict[str, Any] | None, ArrayMetadata]:
    """Return the configuration of ``sharding_indexed``, and the metadata of the inner chunks."""
    names = [codec.name for codec in metadata.codecs]
    if CODEC not in names:
        return None, metadata
    number = names.index(CODEC)
    codec = metadata.codecs[number]
    configuration: dict[str, Any] = dict(codec.configuration)
    problems = []
    if len(names) > 1:
        message = "sharding must be the only codec in this format"
        problems.append(ValidationProblem(f"/codecs/{number}", message))
    index = [ExtensionDefinition.from_json(item) for item in configuration.get("index_codecs", [])]
    pointer = f"/codecs/{number}/configuration"
    if index != [_LITTLE]:
        message = "the index must be little-endian without checksum in this format"
        problems.append(ValidationProblem(f"{pointer}/index_codecs", message))
    if configuration.get("index_location", "end") != "end":
        message = "the index must be at the end of a shard in this format"
        problems.append(ValidationProblem(f"{pointer}/index_location", message))
    if problems:
        raise MetadataValidationError("", problems)
    inner = tuple(ExtensionDefinition.from_json(item) for item in configuration["codecs"])
    return configuration, metadata.replace(codecs=inner)


def adapt_new_array(metadata: ArrayMetadata, scalar: str) -> ArrayMetadata:
    """Return metadata with the chunk keys of the drafts, and shards whose index has no checksum.

    ``scalar`` is the chunk key of an array without dimensions.
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


def write_chunk_grid(metadata: ArrayMetadata, scalar: str, *, extensions: bool = True) -> JSON:
    """Return the member ``chunk_grid``; without ``extensions``, only of regular grids."""
    keys = metadata.chunk_key_encoding
    separator = keys.configuration.get("separator", "/")
    if keys.name != ENCODING or (
        not metadata.shape and keys.configuration.get("scalar", "c") != scalar
    ):
        message = (
            f"this format requires the encoding {ENCODING!r}, with keys such as "
            f"{'c0/0' if metadata.shape else scalar}"
        )
        raise metadata_error("/chunk_key_encoding", message)
    sharding, _ = sharding_of(metadata)
    grid = metadata.chunk_grid
    if grid.name == "regular":
        shape = grid.configuration["chunk_shape"] if sharding is None else sharding["chunk_shape"]
        return {"type": "regular", "chunk_shape": shape, "separator": separator}
    if not extensions or not is_uri(grid.name):
        raise metadata_error(
            "/chunk_grid", f"this format does not support the chunk grid {grid.name!r}"
        )
    rest = dict(grid.configuration)
    return {"extension": grid.name, "type": rest.pop("type", None), **rest}


def write_transformers(metadata: ArrayMetadata, uri: str) -> dict[str, JSON]:
    """Return the member ``storage_transformers``, if there are any; ``uri`` is that of sharding."""
    written: list[JSON] = []
    sharding, _ = sharding_of(metadata)
    if sharding is not None:
        stored: Any = metadata.chunk_grid.configuration.get("chunk_shape", [])
        inner: Any = sharding["chunk_shape"]
        if len(stored) != len(inner) or any(a % b for a, b in zip(stored, inner, strict=True)):
            raise metadata_error("/chunk_grid", "shards must contain whole inner chunks")
        counts: list[JSON] = [a // b for a, b in zip(stored, inner, strict=True)]
        configuration: dict[str, JSON] = {"chunks_per_shard": counts}
        written.append({"extension": uri, "type": "indexed", "configuration": configuration})
    problems = []
    for number, item in enumerate(metadata.storage_transformers):
        if item.name != SHARDING and not is_uri(item.name):
            message = f"this format has no URI for {item.name!r}"
            problems.append(ValidationProblem(f"/storage_transformers/{number}", message))
        rest = dict(item.configuration)
        written.append(
            {
                "extension": uri if item.name == SHARDING else item.name,
                "type": rest.pop("type", None),
                "configuration": rest,
            }
        )
    if problems:
        raise MetadataValidationError("", problems)
    return {"storage_transformers": written} if written else {}


def _without_checksum(codec: ExtensionDefinition) -> ExtensionDefinition:
    """Remove the checksum of the index from a sharding codec; the drafts do not have it."""
    index: Any = codec.configuration.get("index_codecs")
    if codec.name != CODEC or not index:
        return codec
    last = ExtensionDefinition.from_json(index[-1])
    if last.name != _CHECKSUM:
        return codec
    return ExtensionDefinition(CODEC, {**codec.configuration, "index_codecs": index[:-1]})


def _read_transformer(item: dict[str, Any]) -> ExtensionDefinition:
    name = SHARDING if _SHARDING_URI(item["extension"]) else item["extension"]
    return ExtensionDefinition(name, extension_configuration(item))


def _padded(transformer: ExtensionDefinition, ndim: int) -> ExtensionDefinition:
    """Sharding whose ``chunks_per_shard`` has the number of dimensions of the array."""
    counts = transformer.configuration.get("chunks_per_shard")
    if (
        transformer.name != SHARDING
        or not isinstance(counts, list)
        or counts[ndim:] not in ([], [1])
    ):
        return transformer
    counts = counts[:ndim] + [1] * (ndim - len(counts))
    configuration = {**transformer.configuration, "chunks_per_shard": counts}
    return ExtensionDefinition(transformer.name, configuration)


def _chunk_shape(chunk: list[int], shape: list[int]) -> tuple[int, ...]:
    """Text: lengths are "non-zero when the corresponding dimensions ... are of non-zero length"."""
    pointer = "/chunk_grid/chunk_shape"
    if len(chunk) != len(shape):
        raise metadata_error(
            pointer, f"has {len(chunk)} dimensions, but the array has {len(shape)}"
        )
    problems = [
        ValidationProblem(f"{pointer}/{number}", "must not be 0 if the array has elements")
        for number, (length, size) in enumerate(zip(chunk, shape, strict=True))
        if not length and size
    ]
    if problems:
        raise MetadataValidationError("", problems)
    return tuple(length or 1 for length in chunk)


def _counts(sharding: ExtensionDefinition, ndim: int) -> list[int]:
    """Return the number of inner chunks of a shard along each dimension.

    Text: "The length of the array must match the length of the array metadata shape entry."
    """
    pointer = "/storage_transformers/0"
    configuration: Any = sharding.configuration
    if configuration.get("type") != "indexed":
        message = f'must be "indexed", the only binary format, not {configuration.get("type")!r}'
        raise metadata_error(f"{pointer}/type", message)
    pointer = f"{pointer}/configuration/chunks_per_shard"
    counts = configuration.get("chunks_per_shard")
    if not isinstance(counts, list) or not all(type(n) is int and n > 0 for n in counts):
        raise metadata_error(pointer, f"must be an array of integers of at least 1, not {counts!r}")
    if len(counts) != ndim:
        raise metadata_error(pointer, f"has {len(counts)} dimensions, but the array has {ndim}")
    return counts


def _regular(shape: Sequence[int]) -> ExtensionDefinition:
    return ExtensionDefinition("regular", {"chunk_shape": list(shape)})
