"""What is set right in a forked child, where other threads are gone while their locks stay."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["in_children"]

T = TypeVar("T")

# By the numbers of the objects, since stores are equal if they are the same place.
_owners: dict[int, tuple[weakref.ref[Any], Callable[[Any], object]]] = {}


def in_children(owner: T, renew: Callable[[T], object]) -> None:
    """Have an object renewed in every child that is forked while it lives.

    Parameters
    ----------
    owner : object
        What has a lock that another thread may hold at the fork.
    renew : callable
        Gets the object, in the child, before anything else uses it there.
    """
    number = id(owner)
    _owners[number] = weakref.ref(owner, lambda _: _owners.pop(number, None)), renew


def _after_fork() -> None:
    for reference, renew in tuple(_owners.values()):
        owner = reference()
        if owner is not None:
            renew(owner)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
