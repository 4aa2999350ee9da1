"""Reinitialization of objects after a fork.

Threads do not survive a fork, but locks that they held stay locked in the child process.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, TypeVar

from zarr_core.threads import call_after_fork

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# By identity, because two stores of the same location are equal.
_owners: dict[int, tuple[weakref.ref[Any], Callable[[Any], object]]] = {}


def register_after_fork(owner: T, reinitialize: Callable[[T], object]) -> None:
    """Register a function that reinitializes an object in forked child processes."""
    number = id(owner)
    _owners[number] = weakref.ref(owner, lambda _: _owners.pop(number, None)), reinitialize


def _after_fork() -> None:
    for reference, reinitialize in list(_owners.values()):
        if (owner := reference()) is not None:
            reinitialize(owner)


call_after_fork(_after_fork)
