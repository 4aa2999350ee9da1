"""Copying values between stores, with limited memory."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zarr_core.engine.scratch import MemoryLimiter
from zarr_core.engine.write import UnconfirmedKeys
from zarr_core.extension import StoreError
from zarr_core.optional import Reporter, reporter_for
from zarr_core.threads import parallel_for

from zarr_transfer.copy_executor import CopyResult, KeyPair

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from zarr_core.engine.scratch import Reservation
    from zarr_core.extension import Store

    from zarr_transfer.copy_executor import CopyExecutor

_MEMORY = 1 << 27  # bytes of values in memory, unless one value is larger
_PER_TASK = 32  # values that a task of an executor copies


class KeyCopier:
    """Copies values unchanged; counts them in ``copied``, ``skipped`` and ``nbytes``.

    ``sizes`` are the maximum sizes in bytes of the values of each owner; 0 if unknown.
    """

    def __init__(
        self,
        source: Store,
        dest: Store,
        reporter: Reporter,
        sizes: Mapping[int, int] | None = None,
    ) -> None:
        self.copied = self.skipped = self.nbytes = 0
        self._source = source
        self._dest = dest
        self._reporter = reporter
        self._gate = MemoryLimiter(_MEMORY)
        self._sizes = dict(sizes or {})
        self._seen: dict[int, int] = {}
        self._lately: int | None = None
        self._batch: list[tuple[KeyPair, bytes]] = []
        self._batch_nbytes = 0
        self._guard = threading.Lock()
        self._unconfirmed = UnconfirmedKeys()

    def run(
        self, pairs: Iterable[KeyPair], after: Callable[[KeyPair], object] | None = None
    ) -> None:
        """Copy values in any order, within 128 MiB; call ``after`` after each, in any thread."""
        unconfirmed = self._unconfirmed

        def work(pair: KeyPair) -> None:
            if unconfirmed.keys:
                unconfirmed.skip(pair.target)
                return
            try:
                self._copy(pair, after)
            except StoreError as error:
                unconfirmed.fail([pair.target], error)

        in_parallel(self._source, self._dest, pairs, work)
        self._finish(self._store_batch(self._taken_batch()), after)
        unconfirmed.check()

    def _copy(self, pair: KeyPair, after: Callable[[KeyPair], object] | None) -> None:
        with self._gate.reserve(lambda: self._expected(pair.owner)) as hold:
            value = self._read(pair, hold)
            stored = [] if value is None else self._store(pair, value)
            held = hold.amount
        with self._guard:
            self._seen[pair.owner] = max(held, self._seen.get(pair.owner, 0))
            # Decays, so that one large value does not limit many small ones.
            self._lately = max(held, (self._lately or 0) * 7 // 8)
        self._finish([(pair, None)] if value is None else stored, after)

    def _read(self, pair: KeyPair, hold: Reservation) -> bytes | bytearray | memoryview | None:
        """Return the value to copy, or None if nothing is to be copied."""
        value = self._source.get(pair.source)
        if value is None:  # removed since it was listed
            if pair.exists:
                self._dest.erase(pair.target)
            hold(0)
            return None
        hold(len(value))
        if pair.exists and holds(self._dest, pair.target, value):
            return None
        return value

    def _store(
        self, pair: KeyPair, value: bytes | bytearray | memoryview
    ) -> Sequence[tuple[KeyPair, int]]:
        """Store a value, alone or with others; return what is stored now, with sizes."""
        if len(value) >= self._dest.traits.batch_nbytes:
            self._dest.set(pair.target, value)
            return [(pair, len(value))]
        with self._guard:
            self._batch.append((pair, bytes(value)))
            self._batch_nbytes += len(value) + len(pair.target)
            if self._batch_nbytes < self._dest.traits.batch_nbytes:
                return []
            batch = self._taken_batch()
        return self._store_batch(batch)

    def _taken_batch(self) -> Sequence[tuple[KeyPair, bytes]]:
        batch, self._batch, self._batch_nbytes = self._batch, [], 0
        return batch

    def _store_batch(self, batch: Sequence[tuple[KeyPair, bytes]]) -> Sequence[tuple[KeyPair, int]]:
        if batch:
            try:
                self._dest.set_values([(pair.target, value) for pair, value in batch])
            except StoreError as error:
                self._unconfirmed.fail([pair.target for pair, _ in batch], error)
                return []
        return [(pair, len(value)) for pair, value in batch]

    def _finish(
        self,
        pairs: Sequence[tuple[KeyPair, int | None]],
        after: Callable[[KeyPair], object] | None,
    ) -> None:
        """Count pairs, each with the size of the value that was copied or None, and report them."""
        sizes = [size for _, size in pairs if size is not None]
        with self._guard:
            self.skipped += len(pairs) - len(sizes)
            self.copied += len(sizes)
            self.nbytes += sum(sizes)
        if pairs:
            self._reporter.advance(len(pairs), sum(sizes))
        if after is not None:
            for pair, _ in pairs:
                after(pair)

    def _expected(self, owner: int) -> int:
        """Return the expected size of the next value of an owner; the first one is copied alone."""
        known = self._lately if owner < 0 else self._seen.get(owner)
        if not known and (size := self._sizes.get(owner)):
            return size
        return _MEMORY if known is None else known


def copy_pairs(
    source: Store,
    dest: Store,
    pairs: Iterable[KeyPair],
    reporter: Reporter,
    *,
    executor: CopyExecutor | None = None,
    after: Callable[[KeyPair], object] | None = None,
    sizes: Mapping[int, int] | None = None,
) -> CopyResult:
    """Copy values unchanged, by an executor or by threads; see :class:`KeyCopier`."""
    if executor is None:
        copier = KeyCopier(source, dest, reporter, sizes)
        copier.run(pairs, after)
        return CopyResult(copier.copied, copier.skipped, copier.nbytes)
    results: list[CopyResult] = []

    def done(some: Sequence[KeyPair], result: CopyResult) -> None:
        results.append(result)
        for pair in some:
            unconfirmed.pop(pair.target, None)
        reporter.advance(len(some), result.nbytes)
        if after is not None:
            for pair in some:
                after(pair)

    todo = list(pairs)
    unconfirmed = dict.fromkeys(pair.target for pair in todo)
    try:
        executor.run(KeyCopyTask(source, dest), _batches(todo), done)
    except StoreError as error:
        error.unconfirmed = tuple(unconfirmed)
        raise
    return CopyResult(*map(sum, zip(*results, strict=True))) if results else CopyResult(0, 0, 0)


def _batches(pairs: Sequence[KeyPair]) -> Iterator[Sequence[KeyPair]]:
    for start in range(0, len(pairs), _PER_TASK):
        yield pairs[start : start + _PER_TASK]


@dataclass(frozen=True, slots=True)
class KeyCopyTask:
    """Copies some values in any process; can be pickled if its stores can."""

    source: Store
    dest: Store

    def __call__(self, pairs: Sequence[KeyPair]) -> CopyResult:
        transfer = KeyCopier(self.source, self.dest, reporter_for(None, 1))
        transfer.run(pairs)
        return CopyResult(transfer.copied, transfer.skipped, transfer.nbytes)


def in_parallel(
    source: Store, dest: Store, pairs: Iterable[KeyPair], work: Callable[[KeyPair], object]
) -> None:
    """Call a function for each pair, with the larger concurrency of both stores."""
    max_concurrency = max(
        filter(None, (source.max_concurrency, dest.max_concurrency)), default=None
    )
    # For two fast stores, parallel_for decides by timing.
    parallel_for(pairs, work, True if max_concurrency else None, max_concurrency)  # type: ignore[arg-type]  # any result


def holds(store: Store, key: str, value: bytes | bytearray | memoryview) -> bool:
    """Whether a key of a store has a value."""
    if store.getsize(key) != len(value):
        return False
    stored = store.get(key)
    return stored is not None and memoryview(stored) == memoryview(value)


def all_same(source: Store, dest: Store, pairs: Iterable[KeyPair]) -> bool:
    """Whether every value of the source is equal at its destination."""
    different = threading.Event()

    def work(pair: KeyPair) -> None:
        if not different.is_set():
            value = source.get(pair.source)
            if value is not None and not holds(dest, pair.target, value):
                different.set()

    in_parallel(source, dest, pairs, work)
    return not different.is_set()
