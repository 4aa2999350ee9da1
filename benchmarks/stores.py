"""What a store adds to its library: ``python -m benchmarks.stores``.

Every store on this machine, and beside it the barest calls that keep the same promises
(``bare.py``, ``bare_databases.py`` say which), do every operation on the same keys and
values.  They take turns; of each the fastest sample counts.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ByteRange, Store
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.databases.lmdb import LMDBStore
from zarr_stores.databases.sqlite import SQLiteStore
from zarr_stores.wrappers.temp import TempStore
from zarr_stores.zip import ZipStore

from benchmarks import bare, bare_databases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.bare import Bare

    Arguments = tuple[Any, ...]
    Pair = tuple[Store, Bare]

SIZES = {"100 B": 100, "4 KiB": 1 << 12, "64 KiB": 1 << 16, "1 MiB": 1 << 20}
LIMIT = 1.1
"""Maximum ratio of the time of a store to the direct call."""
KEYS = 64  # at most, and of all values together
NBYTES = 1 << 22
LISTED = 1000  # keys
PART = 1 << 10  # bytes at most
TOGETHER = 8  # parts
ROUNDS = 25
SAMPLE = 0.003  # seconds
MOST = 2.0  # seconds for one pair of calls


def cases(root: Path) -> dict[str, Callable[[], Pair]]:
    """Return functions that create each store and its direct calls."""
    for name in ("bare", "temporary"):
        (root / name).mkdir()
    made: dict[str, Callable[[], Pair]] = {
        "memory": lambda: (MemoryStore(), bare.mapping()),
        "directory": lambda: (LocalStore(root / "ours"), bare.files(root / "bare")),
        "temporary": lambda: (TempStore(dir=root), bare.files(root / "temporary")),
        "zip": lambda: (ZipStore(root / "o.zip", mode="w"), bare.archive(root / "b.zip")),
        "SQLite": lambda: (SQLiteStore(root / "o.db"), bare_databases.sqlite(root / "b.db")),
    }
    if find_spec("lmdb"):
        made["LMDB"] = partial(_lmdb, root, True)
        made["LMDB, no fsync"] = partial(_lmdb, root, False)
    made["memory cache"] = _memory_cache
    return made


def _lmdb(root: Path, sync: bool) -> Pair:
    theirs = bare_databases.lmdb(root / f"b{sync}.lmdb", sync=sync)
    return LMDBStore(root / f"o{sync}.lmdb", fsync=sync), theirs


def _memory_cache() -> Pair:
    values = MemoryStore()
    return LRUCacheStore(values, None), bare.memory_cache(values.get)


@dataclass(frozen=True)
class Operation:
    """One operation and its successive arguments."""

    name: str
    ours: Callable[..., object]
    bare: Callable[..., object]
    arguments: Sequence[Arguments]
    bare_arguments: Sequence[Arguments] | None = None
    prepare: Callable[[], object] | None = None
    """Preparation of each sample, which makes one call for each argument."""


def operations(store: Store, it: Bare, size: int) -> Iterator[Operation]:
    """Return the operations of a store with values of a size."""
    number = max(4, min(KEYS, NBYTES // size))
    keys = [f"field/c/{size}/{index}" for index in range(number)]
    value = os.urandom(size)
    length = min(PART, size // 2)
    middle = ByteRange(size // 2, length)

    # For a cache, only hits are measured: the inner store has all values.
    below = store.inner if isinstance(store, LRUCacheStore) else store

    def fill() -> None:
        for key in keys:
            below.set(key, value)
            if it.set is not None:
                it.set(key, value)

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        reader = store.open_value(key, ByteRange(0, length))
        assert reader is not None
        with reader:
            reader.read_into([(0, first)])
            reader.read_into([(reader.size // 2, second)])

    fresh = count()

    def numbered(call: Callable[[str, bytes], object]) -> Callable[[str, bytes], object]:
        # An archive keeps overwritten values, so each value has a new name.
        return lambda key, value: call(f"{key}.{next(fresh)}", value)

    fill()
    buffer = memoryview(bytearray(size))
    first, second = buffer[:length], memoryview(bytearray(length))
    if it.set is not None:
        calls: list[Callable[[str, bytes], object]] = [store.set, it.set]
        if not store.traits.supports_erasing:
            calls = [numbered(call) for call in calls]
        yield Operation("set", calls[0], calls[1], [(key, value) for key in keys])
    yield Operation("get", store.get, it.get, [(key,) for key in keys])
    yield Operation(
        "get into",
        store.get_limited,
        it.into,
        [(key, size, buffer) for key in keys],
        [(key, buffer) for key in keys],
    )
    yield Operation(
        "get range",
        store.get_partial_values,
        it.part,
        [([(key, middle)],) for key in keys],
        [(key, *middle) for key in keys],
    )
    groups = [[keys[(n + i) % number] for i in range(TOGETHER)] for n in range(number)]
    yield Operation(
        f"get {TOGETHER} ranges",
        store.get_partial_values,
        it.parts,
        [([(key, middle) for key in some],) for some in groups],
        [([(key, *middle) for key in some],) for some in groups],
    )
    yield Operation(
        "open, 2 reads", two_reads, it.two_reads, [(key, first, second) for key in keys]
    )
    yield Operation("exists", store.exists, it.exists, [(key,) for key in keys])
    if it.erase is not None:
        yield Operation("erase", store.erase, it.erase, [(key,) for key in keys], prepare=fill)


def listing(store: Store, it: Bare) -> Operation:
    """List keys with several prefixes."""
    for index in range(LISTED):
        key = f"listed/c/{index // 100}/{index}"
        for each in (store, it):
            if each.set is not None:
                each.set(key, b"value")
    ours = [*store.list_prefix("listed/")]
    assert it.names is not None
    assert sorted(ours) == sorted(it.names("listed/"))
    assert len(ours) == LISTED
    return Operation(
        f"list {LISTED}", lambda prefix: [*store.list_prefix(prefix)], it.names, [("listed/",)]
    )


def seconds(call: Callable[..., object], arguments: Sequence[Arguments]) -> float:
    """Return the processor time of one call."""
    start = time.thread_time()
    for each in arguments:
        call(*each)
    return (time.thread_time() - start) / len(arguments)


def compare(it: Operation) -> tuple[float, float]:
    """Return the microseconds of the direct call and of ours."""
    theirs = it.bare_arguments or it.arguments
    if it.prepare is not None:
        it.prepare()
    before = max(seconds(it.bare, theirs), 1e-8), max(seconds(it.ours, it.arguments), 1e-8)
    one_pass = sum(before) * len(theirs)
    rounds = max(3, min(ROUNDS, int(MOST / one_pass)))
    times = 1 if it.prepare else max(1, int(SAMPLE / (max(before) * len(theirs))))
    best = [1e9, 1e9]
    for _ in range(rounds):
        if it.prepare is not None:
            it.prepare()
        best[0] = min(best[0], seconds(it.bare, [*theirs] * times))
        best[1] = min(best[1], seconds(it.ours, [*it.arguments] * times))
    return 1e6 * best[0], 1e6 * best[1]


def show(theirs: float, ours: float) -> str:
    """Return a cell of the table."""
    ratio = ours / theirs
    return f"{theirs:.2f} {ours - theirs:+.2f} ({ratio:.2f}{'!' if ratio > LIMIT else ''})"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="stores whose name has this")
    parser.add_argument(
        "--operation", metavar="TEXT", default="", help="operations whose name has this"
    )
    parser.add_argument("--directory", metavar="PATH", help="directory for the stores")
    options = parser.parse_args()
    print("microseconds of the bare call, how many more the store takes, the ratio of the two\n")
    print("| store | operation | " + " | ".join(SIZES) + " |")
    print("|---|---|" + "---:|" * len(SIZES))
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        for name, make in cases(Path(folder)).items():
            if options.only.lower() in name.lower():
                store, it = make()
                with store:
                    for line in rows(store, it, options.operation):
                        print(f"| {name} | {line} |", flush=True)


def rows(store: Store, it: Bare, only: str) -> Iterator[str]:
    """Yield the lines of one store."""
    cells: dict[str, list[str]] = {}
    for size in SIZES.values():
        for operation in operations(store, it, size):
            if only in operation.name:
                cells.setdefault(operation.name, []).append(show(*compare(operation)))
    for name, some in cells.items():
        yield " | ".join([name, *some])
    if it.names is not None and only in "list":
        operation = listing(store, it)
        yield " | ".join([operation.name, show(*compare(operation)), *[""] * (len(SIZES) - 1)])


if __name__ == "__main__":
    main()
