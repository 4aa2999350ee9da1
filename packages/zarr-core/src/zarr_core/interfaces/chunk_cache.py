"""The interface of caches of decoded chunks, which a store can offer for its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any
from weakref import ref

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

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
    def state(self, key: str) -> tuple[object, bool]:
        """Return what every change of a value changes, and whether a change is going on.

        No chunk is kept during a change: those in the cache are from before.
        """

    @abstractmethod
    def missed(self, key: str, in_parts: bool = False) -> object:
        """Return the state of a value that is going to be read, for :meth:`keep`.

        With ``in_parts``, the value contains several chunks, and :meth:`confirm` follows.
        """

    @abstractmethod
    def confirm(self, key: str, state: object, generation: str | None) -> object | None:
        """Compare a value that was read in part with the one of the chunks that are kept.

        ``state`` is the result of :meth:`missed`, ``generation`` that of the value, if it is known.
        Returns the state for :meth:`keep`; None if another value is stored meanwhile, or the chunks
        that were kept, which are now removed, were from another one.
        """

    @abstractmethod
    def keep(self, key: str, part: Hashable, chunk: np.ndarray[Any, Any], state: object) -> None:
        """Keep a chunk, which must not be changed any more, unless its value was changed since."""

    @abstractmethod
    def begin_change(self, store: Store, prefix: str) -> Callable[[], None] | None:
        """Keep no chunk below a prefix until the result is called, if they are values of this store.

        :meth:`forget` is called before.
        """

    @abstractmethod
    def forget(self, store: Store, prefix: str) -> None:
        """Remove all chunks below a prefix if they are values of this store."""


caches: dict[int, ref[ChunkCache]] = {}
"""All caches of this process; writing is faster if it asks first whether there are any."""


def forget_chunks(store: Store, prefix: str) -> None:
    """Remove chunks from every cache after a change that the cache itself does not see."""
    for cache in _caches_without(store):
        cache.forget(store, prefix)


def begin_change(store: Store, prefix: str) -> list[Callable[[], None]]:
    """Let no cache keep chunks during a change that it does not see; return what ends this."""
    ends = (cache.begin_change(store, prefix) for cache in _caches_without(store))
    return [end for end in ends if end is not None]


def _caches_without(store: Store) -> Iterator[ChunkCache]:
    """All caches but that of the store itself, which sees the changes through the store."""
    own = store.chunk_cache()
    for reference in list(caches.values()):  # in one step: other threads add caches
        cache = reference()
        if cache is not None and cache != own:
            yield cache
