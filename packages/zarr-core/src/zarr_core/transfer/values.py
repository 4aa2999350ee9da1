"""Values that go from keys of one store to keys of another, several at a time."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from zarr_core.interfaces.carrier import Moved, Pair
from zarr_core.interfaces.progress import Reporter
from zarr_core.threads import run
from zarr_core.transfer.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from zarr_core.interfaces.store import Store
    from zarr_core.transfer.gate import Hold

    Compare = Literal["content", "size"]

_MEMORY = 1 << 27  # bytes of values that are held at a time, unless one is larger


class Transfer:
    """Copies values as they are.

    Parameters
    ----------
    source, dest : Store
        From where, where to.
    compare : {"content", "size"}
        When a value that is there is the same: if its bytes are, or if their number is.
    reporter : Reporter
        Is told of every key.
    sizes : mapping of int to int
        For owners of which it is known, how many bytes a value may have; else 0.

    Attributes
    ----------
    copied, skipped, nbytes : int
        What was done until now.
    """

    def __init__(
        self,
        source: Store,
        dest: Store,
        compare: Compare,
        reporter: Reporter,
        sizes: Mapping[int, int] | None = None,
    ) -> None:
        self.copied = self.skipped = self.nbytes = 0
        self._source = source
        self._dest = dest
        self._compare = compare
        self._reporter = reporter
        self._gate = Gate(_MEMORY)
        self._sizes = dict(sizes or {})
        self._seen: dict[int, int] = {}
        self._lately: int | None = None
        self._guard = threading.Lock()

    def run(self, pairs: Iterable[Pair], after: Callable[[Pair], object] | None = None) -> None:
        """Copy values, in any order.

        Parameters
        ----------
        pairs : iterable of Pair
            Taken as late as possible.
        after : callable, optional
            Called after each, from any thread.

        Notes
        -----
        As many are on their way as the store wants that has the longer latency, but no
        more than fit into 128 MiB of memory; one that is larger goes alone.
        """

        def work(pair: Pair) -> None:
            self._copy(pair)
            if after is not None:
                after(pair)

        in_parallel(self._source, self._dest, pairs, work)

    def _copy(self, pair: Pair) -> None:
        with self._gate.holding(lambda: self._expected(pair.owner)) as hold:
            size = self._move(pair, hold)
            held = hold.amount
        with self._guard:
            if size is None:
                self.skipped += 1
            else:
                self.copied += 1
                self.nbytes += size
            self._seen[pair.owner] = max(held, self._seen.get(pair.owner, 0))
            # Forgotten by and by: a large one among many small ones holds up nobody.
            self._lately = max(held, (self._lately or 0) * 7 // 8)
        self._reporter.advance(1, size or 0)

    def _move(self, pair: Pair, hold: Hold) -> int | None:
        """Copy one value; its length, or None if there was nothing to do."""
        if pair.there and self._compare == "size":
            size = self._source.getsize(pair.source)
            if size is not None and size == self._dest.getsize(pair.target):
                hold(0)
                return None
        value = self._source.get(pair.source)
        if value is None:  # removed since it was listed
            if pair.there:
                self._dest.erase(pair.target)
            hold(0)
            return None
        hold(len(value))
        if pair.there and self._compare == "content" and holds(self._dest, pair.target, value):
            return None
        self._dest.set(pair.target, value)
        return len(value)

    def _expected(self, owner: int) -> int:
        """Bytes that the next value of an owner will probably have."""
        if owner >= 0 and (known := self._seen.get(owner) or self._sizes.get(owner)):
            return known
        return _MEMORY if self._lately is None else self._lately  # the very first goes alone


@dataclass(frozen=True, slots=True)
class Move:
    """Copies some values wherever it is called; pickles with its stores."""

    source: Store
    dest: Store
    compare: Compare

    def __call__(self, pairs: Sequence[Pair]) -> Moved:
        transfer = Transfer(self.source, self.dest, self.compare, Reporter(None, 1))
        transfer.run(pairs)
        return Moved(transfer.copied, transfer.skipped, transfer.nbytes)


def in_parallel(
    source: Store, dest: Store, pairs: Iterable[Pair], work: Callable[[Pair], object]
) -> None:
    """Do something with each pair, as many at a time as the slower store wants."""
    requests = max(filter(None, (source.requests, dest.requests)), default=None)
    # For two fast stores threads may pay or not: large files yes, dictionaries no.
    run(pairs, work, True if requests else None, requests)  # type: ignore[arg-type]  # any result


def holds(store: Store, key: str, value: bytes | bytearray | memoryview) -> bool:
    """Whether a store has just this value at a key."""
    if store.getsize(key) != len(value):
        return False
    found = store.get(key)
    return found is not None and memoryview(found) == memoryview(value)


def all_same(source: Store, dest: Store, pairs: Iterable[Pair]) -> bool:
    """Whether every value of the source is at its target as well."""
    different = threading.Event()

    def work(pair: Pair) -> None:
        if not different.is_set():
            value = source.get(pair.source)
            if value is not None and not holds(dest, pair.target, value):
                different.set()

    in_parallel(source, dest, pairs, work)
    return not different.is_set()
