"""The order in which a chunk stores its dimensions."""

from __future__ import annotations

from dataclasses import replace

from zarr_core.engine.prepared_chain import PreparedCodecChain
from zarr_core.interfaces.codec import SubchunkCodec


def inner_order(codecs: PreparedCodecChain) -> tuple[int, ...] | None:
    """The dimensions of a chunk, or inner chunk, in the order in which they are stored.

    The last one is contiguous.  None if it is unknown, because a filter changes the shape of
    chunks in another way than a permutation.
    """
    decoded = codecs.decoded
    # The codecs permute these lengths, which all differ.
    lengths = (*range(2, 2 + len(decoded.shape)),)
    probe = replace(decoded, shape=lengths)
    try:
        for codec in codecs.array_to_array:
            probe, decoded = (
                codec.encoded_representation(probe),
                codec.encoded_representation(decoded),
            )
    except ValueError:
        return None
    if sorted(probe.shape) != [*lengths]:
        return None
    order = tuple(length - 2 for length in probe.shape)
    if not isinstance(codecs.array_to_bytes, SubchunkCodec):
        return order
    chain = codecs.array_to_bytes.inner_codecs(decoded)
    inner = inner_order(chain) if isinstance(chain, PreparedCodecChain) else None
    return None if inner is None else tuple(order[dimension] for dimension in inner)
