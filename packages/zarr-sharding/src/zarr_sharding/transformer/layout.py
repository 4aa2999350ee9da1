"""Mapping of the chunks of an array to shards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zarr_sharding.transformer.chunk_names import KeyFormat, parse_name, parse_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_sharding.index import IndexFormat, Numbers


class ChunkPosition(NamedTuple):
    """Position of a chunk in the shards."""

    shard: str
    """Key of the shard."""

    number: int
    """Linear index of the chunk within the shard, in C order."""


class PartialPrefix(NamedTuple):
    """A prefix that ends between the coordinates of chunk keys."""

    form: KeyFormat
    """Format of the chunk keys."""

    numbers: list[int]
    """First coordinates of all chunks below the prefix."""

    shards: str
    """Prefix of their shards."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Mapping of the chunks of an array to shards.

    The prefix of all chunk keys is empty or ends in ``/``.
    """

    prefix: str
    chunks_per_shard: tuple[int, ...]
    index: IndexFormat

    def parse_key(self, key: str) -> tuple[KeyFormat, list[int]] | None:
        """Parse the key of a chunk or shard; return None for any other key."""
        if not key.startswith(self.prefix):
            return None
        return parse_name(key[len(self.prefix) :], len(self.chunks_per_shard))

    def locate(self, key: str) -> ChunkPosition | None:
        """Return the position of a chunk by its key; None for any other key."""
        parsed = self.parse_key(key)
        if parsed is None:
            return None
        form, numbers = parsed
        shard = []
        number = 0
        for index, count in zip(numbers, self.chunks_per_shard, strict=True):
            whole, part = divmod(index, count)
            shard.append(whole)
            number = number * count + part
        return ChunkPosition(self.prefix + form.name(shard), number)

    def partial_prefix(self, prefix: str) -> PartialPrefix | None:
        """Parse a prefix that ends between coordinates; return None for any other."""
        if not prefix.startswith(self.prefix) or prefix == self.prefix:
            return None
        parsed = parse_prefix(prefix[len(self.prefix) :], len(self.chunks_per_shard))
        if parsed is None:
            return None
        form, numbers = parsed
        # A chunk key has more coordinates than the prefix.
        shard = [at // count for at, count in zip(numbers, self.chunks_per_shard, strict=False)]
        return PartialPrefix(form, numbers, self.prefix + form.prefix(shard))

    def keys(self, shard: str, numbers: Numbers, first: Sequence[int] = ()) -> list[str]:
        """Return the keys of chunks in a shard by their linear indices in C order.

        Only chunks with the coordinates ``first`` in the first dimensions are returned.
        """
        parsed = self.parse_key(shard)
        assert parsed is not None, "shard keys have the format of chunk keys"
        form, coords = parsed
        if not coords:
            return [shard] * len(numbers)
        counts = self.chunks_per_shard
        inner = np.unravel_index(numbers, counts)
        chosen = np.ones(len(numbers), np.bool_)
        for axis, at in enumerate(first):
            chosen &= inner[axis] == at - coords[axis] * counts[axis]
        # Python integers, because coordinates can exceed the range of int64.
        columns = [
            [whole * count + part for part in parts[chosen].tolist()]
            for whole, count, parts in zip(coords, counts, inner, strict=True)
        ]
        return [self.prefix + form.name(name) for name in zip(*columns, strict=True)]

    def prefixes(self, prefix: str, first: Sequence[int] = ()) -> list[str] | None:
        """Return the prefixes of all possible chunks of the shards below a prefix.

        Only prefixes with the coordinates ``first`` in the first dimensions are returned.  None if
        the prefix is not a prefix of shard keys.
        """
        corner = self.partial_prefix(prefix)
        if corner is None:
            return None
        *_, last = corner.numbers
        count = self.chunks_per_shard[len(first)]
        numbers = range(last * count, (last + 1) * count)
        return [self.prefix + corner.form.prefix([*first, number]) for number in numbers]
