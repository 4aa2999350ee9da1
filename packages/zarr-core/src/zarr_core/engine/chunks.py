"""The chunks of one array: where each is stored, how each is encoded."""

from __future__ import annotations

from itertools import product, repeat
from typing import TYPE_CHECKING, TypeAlias

from zarr_core.interfaces.keys import check_prefix
from zarr_core.selection.projection import tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.engine.binding import Binding
    from zarr_core.interfaces.store import Store
    from zarr_core.selection.normalised import Box

ChunkBox: TypeAlias = tuple[str, tuple[slice, ...], tuple[slice, ...], bool]
"""Key, part within the chunk, place of the part, whether it is the whole chunk."""

_LARGE = 1 << 16  # decoded bytes of a chunk for which threads pay in any case


class Chunks:
    """The chunks of one array in one store.

    Parameters
    ----------
    store : Store
        The store behind all storage transformers.
    prefix : str
        What stands before every chunk key: empty or ending in ``/``.
    binding : Binding
        The array.
    missing_is_error : bool
        Whether reading a chunk that is not stored raises.
    """

    __slots__ = ("_joint", "axes", "binding", "missing_is_error", "prefix", "store", "threads")

    def __init__(
        self, store: Store, prefix: str, binding: Binding, missing_is_error: bool = False
    ) -> None:
        # The first transformer is nearest to the array, the last to the store.
        for transformer in reversed(binding.transformers):
            store = transformer.transform(store, prefix)
        self.store = store
        self.prefix = check_prefix(prefix)
        self.binding = binding
        self.axes = binding.axes
        self.missing_is_error = missing_is_error
        affixes = binding.affixes
        self._joint = None if affixes is None else (prefix + affixes[0], affixes[1])
        self.threads = store.requests

    def key(self, chunk: tuple[int, ...]) -> str:
        """The key of a chunk, given its grid coordinates."""
        if self._joint is None or not chunk:
            return self.prefix + self.binding.key_encoding.encode(chunk)
        before, between = self._joint
        return before + between.join(map(str, chunk))

    def boxes(self, box: Box) -> Iterator[ChunkBox]:
        """Cut a box at the edges of chunks, with as few steps a chunk as there can be.

        Yields
        ------
        key : str
            Of the chunk.
        within, target : tuple of slice
            Where in the chunk, and where in an array of the box's shape.
        whole : bool
            Whether it is the whole chunk.
        """
        for tables in tables_of(box, self.axes):
            columns = [zip(*table, strict=True) for table in tables]
            numbers, withins, targets, wholes, _ = zip(*columns, strict=True)
            if self._joint is None:
                keys: Iterator[str] = map(self.key, product(*numbers))
            else:
                before, between = self._joint
                names = product(*[map(str, column) for column in numbers])
                keys = map(before.__add__, map(between.join, names))
            every = all(map(all, wholes))
            yield from zip(
                keys,
                product(*withins),
                product(*targets),
                repeat(True) if every else map(all, product(*wholes)),
                strict=False,
            )

    def parallel(self, nbytes: int | None) -> bool | None:
        """Whether threads pay for chunks of this decoded size; None if that must be tried."""
        return True if self.threads is not None or (nbytes or 0) >= _LARGE else None

    def where(self, key: str) -> str:
        """Names a chunk in messages."""
        return f"{self.store} {key!r}"
