"""Arrays that compare their metadata with the store before they use it."""

from __future__ import annotations

import math
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from zarr_core.errors import NodeNotFoundError, NodeTypeError
from zarr_core.hierarchy.array import Array
from zarr_core.hierarchy.coerce import refuse_elements
from zarr_core.hierarchy.from_metadata import pickled_state, reopen
from zarr_core.interfaces.keylock import key_lock
from zarr_core.selection import parse
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from zarr_core.engine.stored_array import StoredArray
    from zarr_core.engine.stored_node import StoredNode
    from zarr_core.hierarchy.node import Node

S = TypeVar("S", bound="StoredNode[Any]")

Recheck: TypeAlias = Literal["open", "always"] | float
"""When metadata is compared with the store: at opening, before every use, or after some seconds."""


def max_age(recheck: Recheck) -> float:
    """The number of seconds for which metadata is used without a check.

    Raises
    ------
    ValueError
        If the argument is not ``"open"``, ``"always"`` or a number of seconds.
    """
    if isinstance(recheck, str) and recheck in ("open", "always"):
        return math.inf if recheck == "open" else 0.0
    if isinstance(recheck, bool) or not isinstance(recheck, int | float) or not recheck >= 0:
        raise ValueError(
            f'recheck must be "open", "always" or a number of seconds, not {recheck!r}'
        )
    return float(recheck)


class Freshness(Generic[S]):
    """The state of a node, and when it was last compared with the store.

    The generations of the metadata documents (:meth:`Store.generation`) are compared; documents
    are read again only if one differs, and once after opening.

    Parameters
    ----------
    stored : StoredArray or StoredGroup
        The stored node.
    age : float
        Number of seconds for which the metadata is used without a check.
    """

    def __init__(self, stored: S, age: float) -> None:
        self.stored = stored
        self.age = age
        self.checked = -math.inf
        self._generations: list[str | None] | None = None

    def replace(self, stored: S) -> None:
        """Set the state after a change by this object."""
        with key_lock(id(self), self.stored.path):  # safe after a fork
            self.stored = stored
            self._generations = None

    def current(self) -> S:
        """The state, compared with the store if the last comparison is older than ``age``.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        NodeTypeError
            If it has become a node of the other type.
        """
        started = monotonic()
        if started - self.checked < self.age:
            return self.stored
        before, known = self.stored, self._generations
        store = before.store
        # Before reading: a later change then has another generation.
        generations = [
            found
            for _, found in concurrent_map(
                before.format.documents(before.path), store.generation, store.max_concurrency
            )
        ]
        after = before if generations == known else _read(before)
        with key_lock(id(self), self.stored.path):  # safe after a fork
            # Otherwise this object, or a later check in another thread, has set another state.
            if self.stored is before and self._generations is known:
                self.stored = after
                self._generations = generations
                self.checked = started
            return self.stored


def _read(stored: S) -> S:
    """The node with the metadata that is stored now."""
    metadata = stored.format.read(stored.store, stored.path)
    if metadata is None:
        raise NodeNotFoundError(stored.location, "the node has been removed")
    if not isinstance(metadata, type(stored.metadata)):
        raise NodeTypeError(stored.location, "has become a node of the other type")
    return stored.with_metadata(metadata)


class FreshArray(Array):
    """An array that compares its metadata with the store before it uses it.

    Opened with the argument ``recheck``.
    """

    def __init__(self, stored: StoredArray, age: float) -> None:
        self.freshness = Freshness(stored, age)

    # Both types of the property are those of the attribute of Array.
    @property  # type: ignore[override]  # as above
    def stored(self) -> StoredArray:
        """The stored array, with metadata that is not older than requested."""
        return self.freshness.current()

    @stored.setter
    def stored(self, stored: StoredArray) -> None:
        self.freshness.replace(stored)

    def __getitem__(self, selection: Any) -> Any:
        """As of an Array; the metadata is checked once."""
        if self.freshness.stored.resolved.dtype.names:
            return super().__getitem__(selection)
        return self._get(parse.fancy, selection, None, None)

    def __setitem__(self, selection: Any, value: Any) -> None:
        """As of an Array; the metadata is checked once."""
        if self.freshness.stored.resolved.dtype.names:
            super().__setitem__(selection, value)
        else:
            self._set(parse.fancy, selection, value, None)

    def __eq__(self, other: object) -> bool:
        refuse_elements(other)
        return isinstance(other, Array) and same_location(self.freshness, other)

    def __hash__(self) -> int:
        return hash((Array.__name__, self.freshness.stored.path))  # as of the equal Array

    def __reduce__(self) -> tuple[Any, ...]:
        # The unpickled node is checked at first use.
        state = pickled_state(self.freshness.stored)
        return reopen, (partial(FreshArray, age=self.freshness.age), *state)


def same_location(freshness: Freshness[Any], other: Node[Any]) -> bool:
    """Whether a node has the location of another, whose metadata is not checked either."""
    stored = freshness.stored
    theirs: StoredNode[Any] = getattr(other, "freshness", other).stored
    return bool(stored.store == theirs.store) and stored.path == theirs.path
