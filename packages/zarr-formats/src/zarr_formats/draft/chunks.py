"""The chunk grid with the storage transformers, which together say how chunks are stored.

Specification: draft of December 2022, "Regular grids", "Storage transformers",
"Sharding storage transformer".  Where ``sharding`` is nearest to the array, the model
has the codec ``sharding_indexed`` with chunks that are shards: the same bytes under
the same keys, read and changed by the faster path that the engine has for codecs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, MetadataValidationError, Problem

from zarr_formats.draft.chunk_keys import NAME as ENCODING
from zarr_formats.draft.chunk_keys import encoding
from zarr_formats.draft.data_types import extension_configuration
from zarr_formats.draft.extensions import is_uri
from zarr_formats.typestr import refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import JSON, ArrayMetadata

SHARDING = "sharding"
CODEC = "sharding_indexed"
_SHARDING_URI = re.compile(
    r"https?://purl\.org/zarr/spec/(?:extensions/)?storage[-_]transformers/sharding/1\.[0-9]+"
).fullmatch
_LITTLE = ExtensionDefinition("bytes", {"endian": "little"})


@dataclass(frozen=True, slots=True)
class Chunks:
    """How the chunks of an array are laid out.

    Parameters
    ----------
    grid, key_encoding : ExtensionDefinition
        The grid of what is stored, the shards if there are some, and its keys.
    inner_shape : tuple of int or None
        Shape of the chunks within a shard.
    transformers : tuple of ExtensionDefinition
        The storage transformers that are left.
    """

    grid: ExtensionDefinition
    key_encoding: ExtensionDefinition
    inner_shape: tuple[int, ...] | None
    transformers: tuple[ExtensionDefinition, ...]

    def shard(self, codecs: Sequence[ExtensionDefinition]) -> tuple[ExtensionDefinition, ...]:
        """The codecs of what is stored, for those of a chunk."""
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

    Parameters
    ----------
    document : dict
        The document of an array; its schema accepted it.
    scalar : {"c", "c0"}
        The chunk key of an array without dimensions.
    pad : bool
        Whether ``chunks_per_shard`` may have fewer dimensions than the array, or one
        for none, as zarr-python 2 writes it.
    keep : bool
        Whether sharding stays a storage transformer wherever it stands.

    Raises
    ------
    MetadataValidationError
        If lengths do not fit the array; ``where`` is empty.
    """
    grid, shape = document["chunk_grid"], document["shape"]
    separator = grid.get("separator", "/")
    keys = encoding(separator if separator in ("/", ".") else "/", scalar)
    transformers = [_read_transformer(item) for item in document.get("storage_transformers", ())]
    for transformer in transformers:
        if pad and transformer.name == SHARDING:
            _pad(transformer, len(shape))
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
    """The configuration of ``sharding_indexed``, with the metadata of the chunks inside.

    Raises
    ------
    MetadataValidationError
        If sharding is one codec of several, or its index is another; ``where`` is empty.
    """
    names = [codec.name for codec in metadata.codecs]
    if CODEC not in names:
        return None, metadata
    number = names.index(CODEC)
    codec = metadata.codecs[number]
    configuration: dict[str, Any] = dict(codec.configuration)
    problems = []
    if len(names) > 1:
        message = "sharding cannot stand beside other codecs in this format"
        problems.append(Problem(f"/codecs/{number}", message))
    index = [ExtensionDefinition.from_json(item) for item in configuration.get("index_codecs", [])]
    pointer = f"/codecs/{number}/configuration"
    if index != [_LITTLE]:
        message = "the index is little-endian numbers without checksum in this format"
        problems.append(Problem(f"{pointer}/index_codecs", message))
    if configuration.get("index_location", "end") != "end":
        message = "the index is at the end of a shard in this format"
        problems.append(Problem(f"{pointer}/index_location", message))
    if problems:
        raise MetadataValidationError("", problems)
    inner = tuple(ExtensionDefinition.from_json(item) for item in configuration["codecs"])
    return configuration, metadata.replace(codecs=inner)


def write_chunk_grid(metadata: ArrayMetadata, scalar: str, *, extensions: bool = True) -> JSON:
    """The member ``chunk_grid``.

    Parameters
    ----------
    metadata : ArrayMetadata
        The metadata.
    scalar : {"c", "c0"}
        The chunk key of an array without dimensions.
    extensions : bool
        Whether there may be other grids than regular ones.

    Raises
    ------
    MetadataValidationError
        If the format has no word for the grid or the keys; ``where`` is empty.
    """
    keys = metadata.chunk_key_encoding
    separator = keys.configuration.get("separator", "/")
    if keys.name != ENCODING or (
        not metadata.shape and keys.configuration.get("scalar", "c") != scalar
    ):
        message = (
            f"chunks have keys such as {'c0/0' if metadata.shape else scalar} in this format, "
            f"which is the encoding {ENCODING!r}"
        )
        raise refusal("/chunk_key_encoding", message)
    sharding, _ = sharding_of(metadata)
    grid = metadata.chunk_grid
    if grid.name == "regular":
        shape = grid.configuration["chunk_shape"] if sharding is None else sharding["chunk_shape"]
        return {"type": "regular", "chunk_shape": shape, "separator": separator}
    if not extensions or not is_uri(grid.name):
        raise refusal("/chunk_grid", f"this format has no chunk grid {grid.name!r}")
    rest = dict(grid.configuration)
    return {"extension": grid.name, "type": rest.pop("type", None), **rest}


def write_transformers(metadata: ArrayMetadata, uri: str) -> dict[str, JSON]:
    """The member ``storage_transformers``, if there are some.

    Parameters
    ----------
    metadata : ArrayMetadata
        The metadata.
    uri : str
        What the format calls sharding.

    Raises
    ------
    MetadataValidationError
        If the format has no word for one; ``where`` is empty.
    """
    written: list[JSON] = []
    sharding, _ = sharding_of(metadata)
    if sharding is not None:
        stored: Any = metadata.chunk_grid.configuration.get("chunk_shape", [])
        inner: Any = sharding["chunk_shape"]
        if len(stored) != len(inner) or any(a % b for a, b in zip(stored, inner, strict=True)):
            raise refusal("/chunk_grid", "shards must hold whole chunks")
        counts: list[JSON] = [a // b for a, b in zip(stored, inner, strict=True)]
        configuration: dict[str, JSON] = {"chunks_per_shard": counts}
        written.append({"extension": uri, "type": "indexed", "configuration": configuration})
    problems = []
    for number, item in enumerate(metadata.storage_transformers):
        if item.name != SHARDING and not is_uri(item.name):
            message = f"this format has no URI for {item.name!r}"
            problems.append(Problem(f"/storage_transformers/{number}", message))
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


def _read_transformer(item: dict[str, Any]) -> ExtensionDefinition:
    name = SHARDING if _SHARDING_URI(item["extension"]) else item["extension"]
    return ExtensionDefinition(name, extension_configuration(item))


def _pad(transformer: ExtensionDefinition, ndim: int) -> None:
    """Make the counts as many as there are dimensions; the definition is not yet anyone's."""
    configuration: Any = transformer.configuration
    counts = configuration.get("chunks_per_shard")
    if isinstance(counts, list):
        surplus = counts[ndim:]
        if not surplus or surplus == [1]:
            configuration["chunks_per_shard"] = counts[:ndim] + [1] * (ndim - len(counts))


def _chunk_shape(chunk: list[int], shape: list[int]) -> tuple[int, ...]:
    """Text: lengths are "non-zero when the corresponding dimensions ... are of non-zero length"."""
    pointer = "/chunk_grid/chunk_shape"
    if len(chunk) != len(shape):
        raise refusal(pointer, f"has {len(chunk)} dimensions, the array has {len(shape)}")
    problems = [
        Problem(f"{pointer}/{number}", "must not be 0 where the array has elements")
        for number, (length, size) in enumerate(zip(chunk, shape, strict=True))
        if not length and size
    ]
    if problems:
        raise MetadataValidationError("", problems)
    return tuple(length or 1 for length in chunk)


def _counts(sharding: ExtensionDefinition, ndim: int) -> list[int]:
    """How many chunks a shard has in each dimension.

    Text: "The length of the array must match the length of the array metadata shape entry."
    """
    pointer = "/storage_transformers/0"
    configuration: Any = sharding.configuration
    if configuration.get("type") != "indexed":
        message = f'must be "indexed", the only binary format, not {configuration.get("type")!r}'
        raise refusal(f"{pointer}/type", message)
    pointer = f"{pointer}/configuration/chunks_per_shard"
    counts = configuration.get("chunks_per_shard")
    if not isinstance(counts, list) or not all(type(n) is int and n > 0 for n in counts):
        raise refusal(pointer, f"must be an array of integers of at least 1, not {counts!r}")
    if len(counts) != ndim:
        raise refusal(pointer, f"has {len(counts)} dimensions, the array has {ndim}")
    return counts


def _regular(shape: Sequence[int]) -> ExtensionDefinition:
    return ExtensionDefinition("regular", {"chunk_shape": list(shape)})
