"""The interface of caches of decoded chunks, which a store can offer for its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Hashable

    import numpy as np

    from zarr_core.interfaces.store import Store


class ChunkCache(ABC):
    """Decoded chunks of the values of one store; thread-safe."""

    def __init__(self) -> None:
        number = id(self)
        caches[number] = ref(self, lambda _: caches.pop(number, None))

    @abstractmethod
    def fits(self, nbytes: int) -> bool:
        """Whether a chunk of this decoded size can be kept."""

    @abstractmethod
    def get(self, key: str, part: Hashable) -> np.ndarray[Any, Any] | None:
        """Return a chunk that is kept; None if it is not.

        ``part`` distinguishes the chunks of a shard, and codecs that decode the value.
        """

    @abstractmethod
    def missed(self, key: str) -> object:
        """Return the state of a value that is going to be read, for :meth:`keep`."""

    @abstractmethod
    def keep(self, key: str, part: Hashable, chunk: np.ndarray[Any, Any], state: object) -> None:
        """Keep a chunk, which must not be changed any more, unless its value was changed since."""

    @abstractmethod
    def forget(self, store: Store, prefix: str) -> None:
        """Remove all chunks below a prefix if they are values of this store."""


caches: dict[int, ref[ChunkCache]] = {}
"""All caches of this process; writing is faster if it asks first whether there are any."""


def forget_chunks(store: Store, prefix: str) -> None:
    """Remove chunks from every cache after a change that the cache itself does not see.

    Caches see the changes through the store that offers them.
    """
    if store.chunk_cache() is None:
        for reference in tuple(caches.values()):
            if (cache := reference()) is not None:
                cache.forget(store, prefix)
