"""Values held in memory, bounded by their bytes, the least recently used leaving first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from zarr_core.extension import ByteRange

from zarr_stores._forked import in_children

if TYPE_CHECKING:
    from zarr_core.extension import Buffer

_WHOLE = ByteRange(0)
_STRIPES = 1024

Changes: TypeAlias = tuple[int, int]
"""How often all values, or those that share a counter with a key, were forgotten."""


class Opened(NamedTuple):
    """What is known of a value that was opened."""

    size: int
    """Its length in bytes."""
    version: str | None
    """Its version; None if its readers do not know."""
    requests: int | None
    """How many reads to keep in flight."""
    gap_bytes: int
    """Unneeded bytes between two parts that are read rather than skipped."""


class Memory:
    """Parts of values by key and range.

    Parameters
    ----------
    max_bytes : int or None
        How many bytes to hold; None for any number.

    Notes
    -----
    Safe for threads.  A value that was read while its key was forgotten is not
    kept: who keeps one says what :meth:`changes` was before it was read.
    """

    def __init__(self, max_bytes: int | None) -> None:
        self.hits = 0
        self.misses = 0
        self.nbytes = 0
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        # A value under its key, a part under key and range.
        self._held: OrderedDict[str | tuple[str, ByteRange], Buffer] = OrderedDict()
        self._parts: dict[str, set[ByteRange]] = {}
        self._opened: dict[str, Opened] = {}
        self._all_changes = 0
        # A counter for each key would never be given back.
        self._some_changes = [0] * _STRIPES
        in_children(self, Memory._renew)

    def _renew(self) -> None:
        if self._guard.acquire(blocking=False):
            self._guard.release()
        else:  # a thread that is not here has it, perhaps half-way
            self._guard = threading.Lock()
            self.forget_all()

    def fits(self, nbytes: int) -> bool:
        """Whether a value of so many bytes may be held."""
        return self._max_bytes is None or nbytes <= self._max_bytes

    def changes(self, key: str) -> Changes:
        """A state of the key, to be compared later."""
        with self._guard:
            return self._changes(key)

    def _changes(self, key: str) -> Changes:
        return self._all_changes, self._some_changes[hash(key) % _STRIPES]

    def use(self, key: str) -> Buffer | None:
        """The whole value if it is held, which is counted; that it is not, is not."""
        with self._guard:
            value = self._held.get(key)
            if value is not None:
                self._held.move_to_end(key)
                self.hits += 1
            return value

    def missed(self, key: str) -> Changes:
        """Count that a value is not held; the state of the key."""
        with self._guard:
            self.misses += 1
            return self._changes(key)

    def find(self, key: str, part: ByteRange, changes: Changes | None = None) -> Buffer | None:
        """What is held of a part, if the state is still the given one; counted."""
        with self._guard:
            if changes is None or changes == self._changes(key):
                held = self._held
                value = held.get(key)
                if value is not None:
                    held.move_to_end(key)
                    self.hits += 1
                    start, length = part
                    if start < 0:
                        start = max(0, len(value) + start)
                    stop = None if length is None else start + length
                    return memoryview(value)[start:stop].toreadonly()
                name = (key, part)
                value = held.get(name)
                if value is not None:
                    held.move_to_end(name)
                    self.hits += 1
                    return value
            self.misses += 1
            return None

    def peek(self, key: str) -> Buffer | None:
        """The whole value if it is held; not counted, not a use."""
        with self._guard:
            return self._held.get(key)

    def keep(self, key: str, part: ByteRange, value: Buffer, changes: Changes) -> Buffer:
        """Hold a value unless it was forgotten meanwhile; returns it, read-only."""
        frozen = _frozen(value)
        size = len(frozen)
        if not self.fits(size):
            return frozen
        with self._guard:
            if changes == self._changes(key):
                self._drop(key, part)
                self._held[_name(key, part)] = frozen
                self._parts.setdefault(key, set()).add(part)
                self.nbytes += size
                while self._max_bytes is not None and self.nbytes > self._max_bytes:
                    oldest = next(iter(self._held))
                    self._drop(*((oldest, _WHOLE) if isinstance(oldest, str) else oldest))
        return frozen

    def opened(self, key: str) -> Opened | None:
        """What is known of a value of which parts are held."""
        with self._guard:
            return self._opened.get(key) if key in self._parts else None

    def note_opened(self, key: str, opened: Opened, changes: Changes) -> None:
        """Forget the parts of a value that is another one than it was."""
        with self._guard:
            if changes != self._changes(key):
                return
            if key not in self._parts:
                self._opened.pop(key, None)
            if self._opened.setdefault(key, opened)[:2] != opened[:2]:
                for part in tuple(self._parts.get(key, ())):
                    self._drop(key, part)
                self._opened[key] = opened

    def forget(self, key: str) -> None:
        """Drop everything of a key."""
        with self._guard:
            self._some_changes[hash(key) % _STRIPES] += 1
            for part in tuple(self._parts.get(key, ())):
                self._drop(key, part)
            self._opened.pop(key, None)

    def forget_all(self) -> None:
        """Drop everything."""
        with self._guard:
            self._all_changes += 1
            self._held.clear()
            self._parts.clear()
            self._opened.clear()
            self.nbytes = 0

    def _drop(self, key: str, part: ByteRange) -> None:
        value = self._held.pop(_name(key, part), None)
        if value is None:
            return
        self.nbytes -= len(value)
        parts = self._parts[key]
        parts.discard(part)
        if not parts:
            del self._parts[key]
            self._opened.pop(key, None)


def _name(key: str, part: ByteRange) -> str | tuple[str, ByteRange]:
    return key if part == _WHOLE else (key, part)


def _frozen(value: Buffer) -> Buffer:
    """The value, such that nobody can change it, holding no more memory than its own."""
    if type(value) is bytes:
        return value
    view = memoryview(value)
    if isinstance(view.obj, bytes | bytearray) and len(view.obj) == len(view):
        return view.toreadonly()
    return bytes(view)
