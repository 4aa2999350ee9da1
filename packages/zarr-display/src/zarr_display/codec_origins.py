"""The distributions that provide the codecs of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr_core.errors import ExtensionError
from zarr_core.extension import ExtensionDefinition
from zarr_core.registry.resolve import find_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import JSON, Codec, StoredArray


class Encoder(NamedTuple):
    """A codec of an array, and the distribution that provides it.

    Parameters
    ----------
    name : str
        Its name in metadata.
    configuration : mapping
        Its configuration.
    origin : str
        Name and version of the distribution.
    within_shard : bool
        Whether it encodes the inner chunks of a shard.
    """

    name: str
    configuration: Mapping[str, JSON]
    origin: str
    within_shard: bool


def encoders(array: StoredArray) -> list[Encoder]:
    """Return the codecs in the order of encoding; inner codecs follow the sharding codec."""
    listed = []
    for name, codec in _named(array.codecs):
        listed.append(_encoder(name, codec, False))
        if array.is_sharded and codec is array.codecs.array_to_bytes:
            listed += [_encoder(*inner, True) for inner in _named(array.inner_codecs)]
    return listed


def _named(chain: PreparedCodecChain) -> Iterator[tuple[str, Codec]]:
    codecs = (*chain.array_to_array, chain.array_to_bytes, *chain.bytes_to_bytes)
    return zip(chain.names, codecs, strict=True)


def _encoder(name: str, codec: Codec, within_shard: bool) -> Encoder:
    # Settings may have changed since the codec was created, so its own module is used.
    origin = type(codec).__module__.partition(".")[0]
    try:
        provider = find_provider("codec", ExtensionDefinition(name))
        if provider is not None and isinstance(codec, provider.load()):
            origin = provider.origin
    except ExtensionError:
        pass
    return Encoder(name, codec.to_configuration(), origin, within_shard)
