"""Calls of a file system of fsspec, whose failures name the place but no secret."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from zarr_core.extension import StoreError, StoreReadError, ZarrError, key_lock

from zarr_stores.fsspec_files import drop_cached

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from zarr_stores.fsspec_place import Place
    from zarr_stores.fsspec_traits import Traits

MISSING = (FileNotFoundError, NotADirectoryError)
"""What says that there is no file; nothing else does."""


class Calls:
    """Gives the file system of a store to work with, one thread at a time where that must be.

    Parameters
    ----------
    place : Place
        Where the store is.
    traits : Traits
        How the file system is to be treated.
    store : object
        The store, for messages.
    """

    def __init__(self, place: Place, traits: Traits, store: object) -> None:
        self._place = place
        self._traits = traits
        self._store = str(store)
        self._process = 0
        self._guard: AbstractContextManager[Any] = nullcontext()

    @contextmanager
    def reading(self, key: str, path: str = "") -> Iterator[Any]:
        """The file system, for reading; one of :data:`MISSING` passes."""
        with self.naming(key):
            fs = self._place.fs()
            if not (path and self._traits.caching):
                yield fs
                return
            with key_lock(repr(self._place.identity), key):
                try:
                    yield fs
                except Exception:
                    drop_cached(fs, path)
                    raise

    @contextmanager
    def writing(self, key: str) -> Iterator[Any]:
        """The file system, for changes."""
        with self.naming(key, StoreError, "changed"):
            yield self._place.fs()

    @contextmanager
    def naming(
        self, key: str, kind: type[StoreError] = StoreReadError, done: str = "read"
    ) -> Iterator[None]:
        """Add store and key to what goes wrong in the file system."""
        if self._process != os.getpid():  # a lock that another thread held at the fork
            self._guard = threading.RLock() if self._traits.alone else nullcontext()
            self._process = os.getpid()
        try:
            with self._guard:
                yield
        except ZarrError:
            raise
        except Exception as error:
            if kind is StoreReadError and isinstance(error, MISSING) and not _is_bucket(error):
                raise
            text = _reason(error)
            told = self._place.masked(text)
            cause = error if told == text else None  # whose text shows what must not be shown
            raise kind(f"cannot be {done}: {told}", self._store, key) from cause


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror and error.errno:
        return str(error.strerror)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _is_bucket(error: BaseException) -> bool:
    """Whether it is the bucket that was not found."""
    response = getattr(error.__cause__, "response", None)
    return isinstance(response, dict) and response.get("Error", {}).get("Code") == "NoSuchBucket"
