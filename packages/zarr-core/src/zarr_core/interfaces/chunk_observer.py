"""Notices of changes of chunks, for what keeps copies of them, such as caches of decoded chunks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.interfaces.store import Store


class ChunkObserver(ABC):
    """Is told when arrays or groups of this process change chunks in any store; thread-safe."""

    def __init__(self) -> None:
        observers[id(self)] = self

    @abstractmethod
    def begin_change(self, store: Store, prefix: str) -> Callable[[], None] | None:
        """Keep no new chunk below a prefix of a store until the result is called.

        The result also removes those that were kept before.  None if the observer has no chunks of
        this store, or sees the changes in another way.
        """


observers: WeakValueDictionary[int, ChunkObserver] = WeakValueDictionary()
"""All observers of this process; writing is faster if it asks first whether there are any."""


@contextmanager
def changing(store: Store, prefix: str) -> Iterator[None]:
    """Tell every observer of a change of chunks below a prefix, when it begins and ends."""
    references = observers.valuerefs()  # in one step: other threads add observers
    known = [observer for reference in references if (observer := reference()) is not None]
    ends = [observer.begin_change(store, prefix) for observer in known]
    try:
        yield
    finally:
        for end in filter(None, ends):
            end()


def forget_chunks(store: Store, prefix: str) -> None:
    """Tell every observer that chunks below a prefix were changed."""
    with changing(store, prefix):
        pass
