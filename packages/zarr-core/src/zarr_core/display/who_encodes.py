"""Which code encodes an array, by whose distribution it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionError
from zarr_core.registry import registry, resolve
from zarr_core.registry.scope import extensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_core.definition import JSON
    from zarr_core.engine.bound import BoundChain
    from zarr_core.hierarchy.described import DescribedArray
    from zarr_core.interfaces.codec import Codec


class Encoder(NamedTuple):
    """A codec that an array is encoded with.

    Parameters
    ----------
    name : str
        Its name in metadata.
    configuration : mapping
        Its configuration.
    origin : str
        Name and version of the distribution that it is from.
    alternatives : tuple of str
        Who else could provide it, by the words that the setting ``providers`` takes.
    within_shard : bool
        Whether it encodes the inner chunks of a shard.
    """

    name: str
    configuration: Mapping[str, JSON]
    origin: str
    alternatives: tuple[str, ...]
    within_shard: bool


def encoders(array: DescribedArray) -> list[Encoder]:
    """All codecs of an array in the order of encoding, those in a shard after its own."""
    outer, inner = array._outer, array._inner
    with extensions(array._extensions):
        found = [_encoder(name, codec, False) for name, codec in _codecs(outer)]
        if inner is not outer:
            # What is within comes after the codec that has it.
            place = len(outer.array_to_array) + 1
            found[place:place] = [_encoder(name, codec, True) for name, codec in _codecs(inner)]
    return found


def _codecs(chain: BoundChain) -> Iterator[tuple[str, Codec]]:
    codecs = (*chain.array_to_array, chain.array_to_bytes, *chain.bytes_to_bytes)
    return zip(chain.names, codecs, strict=True)


def _encoder(name: str, codec: Codec, within_shard: bool) -> Encoder:
    # Named after the code that is used, whatever the settings have become since.
    origin = type(codec).__module__.partition(".")[0]
    others: tuple[str, ...] = ()
    try:
        found = resolve.implementation("codec", ExtensionDefinition(name))
        if found is not None and isinstance(codec, found.extension):
            origin = found.provider.origin
            offers = (*registry.others("codec", name), *registry.alternatives("codec", name))
            others = tuple(it.choice for it in offers if it != found.provider)
    except ExtensionError:
        pass
    return Encoder(name, codec.to_configuration(), origin, others, within_shard)
