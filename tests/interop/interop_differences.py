"""Missing features and errors of the other libraries, with reasons.

These combinations are tested as well: the tests assert that the library raises an error or
returns other values, so that an outdated entry fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interop_matrix import BIG, CHAINS, SHARDED, SHARDINGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from interop_matrix import Combination
    from interop_peers import Peer


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference of some libraries for some combinations."""

    peers: tuple[str, ...]
    when: Callable[[Combination], bool]
    reason: str
    before: tuple[int, ...] | None = None
    """Holds of versions below this only."""

    def holds(self, peer: Peer, item: Combination) -> bool:
        old = self.before is None or peer.version < self.before
        return old and peer.name in self.peers and self.when(item)


def _has_raw_bits(item: Combination) -> bool:
    return item.data_type.startswith("r")


def _shards_then_compresses(item: Combination) -> bool:
    return item.sharding is not None and SHARDINGS[item.sharding].after is not None


def _fits_only_transposed(item: Combination) -> bool:
    if item.sharding is None or SHARDINGS[item.sharding].before is None:
        return False
    _, shard, inner, *_ = SHARDED[item.layout]
    return any(s % i for s, i in zip(shard, inner[::-1], strict=True))


def _transposes_no_axes(item: Combination) -> bool:
    around = SHARDINGS[item.sharding].before if item.sharding else None
    return item.shape == () and (around is not None or "transpose" in item.chain)


def _only_shards_no_axes(item: Combination) -> bool:
    if item.shape != () or item.sharding is None:
        return False
    around = SHARDINGS[item.sharding]
    return around.before is None and around.after is None


def _swaps_complex_parts(item: Combination) -> bool:
    complex_big = item.data_type.startswith("complex") and BIG in CHAINS[item.chain]
    return complex_big and any(
        length % chunk for length, chunk in zip(item.shape, item.stored_chunk, strict=True)
    )


def _takes_nan_for_fill_value(item: Combination) -> bool:
    return item.fill_is_nan and item.shape == ()


REFUSES = (
    Difference(("zarr", "zarrs"), _has_raw_bits, "zarr-python knows no raw bits"),
    Difference(
        ("tensorstore",), _has_raw_bits, "tensorstore wants the fill value of raw bits in base64"
    ),
    Difference(
        ("tensorstore",), _shards_then_compresses, "tensorstore has nothing after sharding_indexed"
    ),
    Difference(
        ("zarr", "zarrs"),
        _fits_only_transposed,
        "zarr-python compares inner chunks with the shard as it is before the transpose",
    ),
    Difference(("zarrs", "zarrista"), _transposes_no_axes, "zarrs wants a transpose to have axes"),
)
"""Neither opened for reading nor for writing."""

CANNOT_WRITE = (
    Difference(
        ("zarr",),
        _only_shards_no_axes,
        "zarr-python 3.1 fails to index a shard of no dimensions",
        (3, 2),
    ),
)

MISREADS = (
    Difference(
        ("zarrs",),
        _swaps_complex_parts,
        "zarrs swaps the parts of big-endian complex numbers in a chunk that it decodes in part",
    ),
)
"""Reads other values than are stored, whoever wrote them."""

FORGETS = (
    Difference(
        ("zarr",),
        _takes_nan_for_fill_value,
        "zarr-python does not store a chunk of NaNs if the fill value is another NaN",
    ),
)
"""Writes other values than it was given."""


def found(table: tuple[Difference, ...], peer: Peer, item: Combination) -> bool:
    """Whether one of the differences of a table applies."""
    return any(difference.holds(peer, item) for difference in table)
