"""Arrays and groups that compare their metadata with the store before they use it."""

from __future__ import annotations

import math
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from zarr_core import Array, Group
from zarr_core.extension import StoredArray, key_lock
from zarr_core.threads import concurrent_map

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

__all__ = ["RecheckedArray", "RecheckedGroup", "recheck"]

When: TypeAlias = Literal["always"] | float


def recheck(node: Any, when: When = "always") -> Any:
    """Return an array or group that notices changes of the metadata by other writers.

    Parameters
    ----------
    node : Array or Group
        A node that was opened or created just now.
    when : {"always"} or float
        When the metadata is compared with the store: before every use, such as a read, a write or
        ``array.shape``; or before a use if the last comparison is older than a number of seconds.
        This also applies to members that are opened through a group.

    Returns
    -------
    RecheckedArray or RecheckedGroup
        The node.  It is equal to the given one.

    Raises
    ------
    ValueError
        If ``when`` is not ``"always"`` or a number of seconds.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> from zarr_stores.cache.recheck import recheck
    >>> log = zarr.create_array("log.zarr", shape=0, dtype="float32")
    >>> reader = recheck(zarr.open("log.zarr", "r"))
    >>> log.append([1.0, 2.0])
    (2,)
    >>> reader.shape
    (2,)
    """
    return _rechecked(node.stored, _max_age(when), monotonic())


def _max_age(when: When) -> float:
    if isinstance(when, str) and when == "always":
        return 0.0
    if isinstance(when, bool) or not isinstance(when, int | float) or not when >= 0:
        raise ValueError(f'when must be "always" or a number of seconds, not {when!r}')
    return float(when)


def _rechecked(stored: Any, age: float, checked: float = -math.inf) -> Any:
    kind = RecheckedArray if isinstance(stored, StoredArray) else RecheckedGroup
    return kind(stored, age, checked)


def _unpickled(node: Any, age: float) -> Any:
    return _rechecked(node.stored, age)  # checked at first use


class _Rechecked:
    """The base class of rechecked nodes, whose ``stored`` compares the metadata at each use.

    The generations of the metadata documents (:meth:`Store.generation`) are compared; documents
    are read again only if one differs, and once after opening.
    """

    def __init__(self, stored: Any, age: float, checked: float = -math.inf) -> None:
        self._present = stored
        self._age = age
        self._checked = checked
        self._generations: list[str | None] | None = None

    @property
    def stored(self) -> Any:
        """The stored node; its metadata was compared as recently as requested.

        Raises
        ------
        NodeNotFoundError
            If the node has been removed.
        NodeTypeError
            If it has become a node of the other type.
        """
        started = monotonic()
        if started - self._checked < self._age:
            return self._present
        before, known = self._present, self._generations
        store = before.store
        # Before reading: a later change then has another generation.
        generations = [
            generation
            for _, generation in concurrent_map(
                before.format.documents(before.path), store.generation, store.max_concurrency
            )
        ]
        after = before if generations == known else before.read_again()
        with self._lock():
            # Otherwise this object, or a later check in another thread, has set another state.
            if self._present is before and self._generations is known:
                self._present = after
                self._generations = generations
                self._checked = started
            return self._present

    @stored.setter
    def stored(self, stored: Any) -> None:
        with self._lock():
            self._present = stored
            self._generations = None

    def _lock(self) -> AbstractContextManager[object]:
        # This lock is safe after a fork, and is not the lock of the core for changes of a node.
        return key_lock((_Rechecked, id(self)), self._present.path)

    def unchecked(self) -> Array | Group:
        """An equal node whose metadata is not compared."""
        if isinstance(self, RecheckedArray):
            return Array(self._present)
        return Group(self._present)

    def __eq__(self, other: object) -> bool:
        return bool(
            self.unchecked() == (other.unchecked() if isinstance(other, _Rechecked) else other)
        )

    def __hash__(self) -> int:
        return hash(self.unchecked())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.unchecked(), self._age)


class RecheckedArray(_Rechecked, Array):
    """An array that compares its metadata with the store before it uses it; see :func:`recheck`."""

    def __getitem__(self, selection: Any) -> Any:
        """Like ``Array.__getitem__``, with one comparison of the metadata."""
        return Array(self.stored)[selection]

    def __setitem__(self, selection: Any, value: Any) -> None:
        """Like ``Array.__setitem__``, with one comparison of the metadata."""
        Array(self.stored)[selection] = value


class RecheckedGroup(_Rechecked, Group):
    """A group that compares its metadata with the store before it uses it; see :func:`recheck`."""

    def _node(self, path: str, metadata: Any) -> Array | Group:
        # Consolidated metadata may be old: the first use of the member is a comparison.
        node: Array | Group = _rechecked(super()._node(path, metadata).stored, self._age)
        return node

    def create_group(self, name: str, **options: Any) -> RecheckedGroup:
        """Like ``Group.create_group``; the new group compares its metadata, too."""
        return RecheckedGroup(super().create_group(name, **options).stored, self._age)

    def create_array(self, name: str, **options: Any) -> Array:
        """Like ``Group.create_array``; the new array compares its metadata, too."""
        return RecheckedArray(super().create_array(name, **options).stored, self._age)
