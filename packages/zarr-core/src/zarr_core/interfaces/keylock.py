"""Locks for the keys of stores, between the threads of this process."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from zarr_core.threads import acquire_interruptibly, call_after_fork

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator


class _Entry:
    __slots__ = ("lock", "users")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0


_entries: dict[Hashable, _Entry] = {}
_guard = threading.Lock()


@contextmanager
def key_lock(location: Hashable, key: str) -> Iterator[None]:
    """Hold the lock of one key; equal values of ``location`` identify the same store."""
    name = (location, key)
    with _guard:
        entry = _entries.setdefault(name, _Entry())
        entry.users += 1
    try:
        acquire_interruptibly(entry.lock)
        try:
            yield
        finally:
            entry.lock.release()
    finally:
        with _guard:
            entry.users -= 1
            if not entry.users:
                _entries.pop(name, None)


def _after_fork() -> None:
    # A lock that another thread held during the fork would never be released.
    global _guard
    _guard = threading.Lock()
    _entries.clear()


call_after_fork(_after_fork)
