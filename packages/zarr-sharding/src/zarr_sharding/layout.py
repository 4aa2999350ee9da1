"""Which chunk of an array lies in which shard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zarr_sharding.chunk_names import Form, parse_name, parse_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_sharding.index import IndexFormat, Numbers


class Place(NamedTuple):
    """Where a chunk lies."""

    shard: str
    """Key of the shard."""

    number: int
    """The chunk, counted in C order within the shard."""


class Corner(NamedTuple):
    """A prefix that ends within the numbers of chunks."""

    form: Form
    """How the chunks are named."""

    numbers: list[int]
    """The first numbers of all chunks below it."""

    shards: str
    """The prefix below which their shards lie."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How the chunks of an array are put into shards.

    Parameters
    ----------
    prefix : str
        What stands before the name of every chunk: empty or ending in ``/``.
    chunks_per_shard : tuple of int
        In each dimension.
    index : IndexFormat
        How the index of a shard is stored.
    """

    prefix: str
    chunks_per_shard: tuple[int, ...]
    index: IndexFormat

    def name_of(self, key: str) -> tuple[Form, list[int]] | None:
        """Form and numbers of a chunk's, or a shard's, key; None for any other key."""
        if not key.startswith(self.prefix):
            return None
        return parse_name(key[len(self.prefix) :], len(self.chunks_per_shard))

    def place(self, key: str) -> Place | None:
        """Find a chunk by its key; None for any other key."""
        found = self.name_of(key)
        if found is None:
            return None
        form, numbers = found
        shard = []
        number = 0
        for place, count in zip(numbers, self.chunks_per_shard, strict=True):
            whole, part = divmod(place, count)
            shard.append(whole)
            number = number * count + part
        return Place(self.prefix + form.name(shard), number)

    def corner(self, prefix: str) -> Corner | None:
        """Translate a prefix that ends within the numbers of chunks; None for any other."""
        if not prefix.startswith(self.prefix) or prefix == self.prefix:
            return None
        found = parse_prefix(prefix[len(self.prefix) :], len(self.chunks_per_shard))
        if found is None:
            return None
        form, numbers = found
        # A name may have more numbers than the prefix.
        shard = [at // count for at, count in zip(numbers, self.chunks_per_shard, strict=False)]
        return Corner(form, numbers, self.prefix + form.prefix(shard))

    def keys(self, shard: str, numbers: Numbers, first: Sequence[int] = ()) -> list[str]:
        """Name chunks of a shard.

        Parameters
        ----------
        shard : str
            Key of the shard.
        numbers : ndarray of int
            The chunks, counted in C order.
        first : sequence of int
            Only the chunks whose name has these as its first numbers.
        """
        found = self.name_of(shard)
        assert found is not None, "the key of a shard has the form of a chunk's"
        form, place = found
        if not place:
            return [shard] * len(numbers)
        counts = self.chunks_per_shard
        inner = np.unravel_index(numbers, counts)
        chosen = np.ones(len(numbers), np.bool_)
        for axis, at in enumerate(first):
            chosen &= inner[axis] == at - place[axis] * counts[axis]
        # Python's integers: a name may have a number beyond what NumPy's hold.
        columns = [
            [whole * count + part for part in parts[chosen].tolist()]
            for whole, count, parts in zip(place, counts, inner, strict=True)
        ]
        return [self.prefix + form.name(name) for name in zip(*columns, strict=True)]

    def prefixes(self, prefix: str, first: Sequence[int] = ()) -> list[str] | None:
        """Name the prefixes of all chunks that can be in shards below a prefix.

        Parameters
        ----------
        prefix : str
            A prefix of shards.
        first : sequence of int
            Only prefixes with these as their first numbers.

        Returns
        -------
        list of str or None
            None if the prefix is no beginning of the keys of shards.
        """
        corner = self.corner(prefix)
        if corner is None:
            return None
        *_, last = corner.numbers
        count = self.chunks_per_shard[len(first)]
        numbers = range(last * count, (last + 1) * count)
        return [self.prefix + corner.form.prefix([*first, number]) for number in numbers]
