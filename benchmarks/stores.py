"""What a store adds to its library: ``python -m benchmarks.stores``.

Every embedded store sets and gets values, and beside it the library, or the operating system,
does the same by the barest calls that keep the same promises: a value is old or new, never
half.  They take turns.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import tempfile
import time
import zipfile
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ByteRange
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.lmdb import LMDBStore
from zarr_stores.sqlite import SQLiteStore
from zarr_stores.zip import ZipStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.extension import Store

SIZES = (1 << 11, 1 << 16, 1 << 20)  # bytes of a value
KEYS = 64
ROUNDS = 15
SAMPLE = 0.004  # seconds
PART = 1 << 10  # bytes


@dataclass(frozen=True)
class Bare:
    """The barest calls."""

    set: Callable[[str, bytes], object]
    get: Callable[[str], object]
    part: Callable[[str, int, int], object]


def cases(root: Path) -> Iterator[tuple[str, Store, Bare]]:
    """A store, and beside it the calls that do what it does."""
    values: dict[str, bytes] = {}
    yield (
        "memory",
        MemoryStore(),
        Bare(
            values.__setitem__,
            values.__getitem__,
            lambda key, start, length: memoryview(values[key])[start : start + length],
        ),
    )
    yield "directory", LocalStore(root / "ours"), _files(root / "bare")
    yield "zip", ZipStore(root / "ours.zip", mode="w"), _zip(root / "bare.zip")
    yield "SQLite", SQLiteStore(root / "ours.db"), _sqlite(root / "bare.db")
    if find_spec("lmdb"):
        yield "LMDB", LMDBStore(root / "ours.lmdb"), _lmdb(root / "bare.lmdb")


def _files(folder: Path) -> Bare:
    folder.mkdir()
    top = f"{folder}/"

    def put(key: str, value: bytes) -> None:
        descriptor = os.open(top + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        os.write(descriptor, value)
        os.close(descriptor)
        os.replace(top + ".new", top + key)

    def get(key: str) -> bytes:
        descriptor = os.open(top + key, os.O_RDONLY)
        value = os.read(descriptor, os.fstat(descriptor).st_size)
        os.close(descriptor)
        return value

    def part(key: str, start: int, length: int) -> bytes:
        descriptor = os.open(top + key, os.O_RDONLY)
        value = os.pread(descriptor, length, start)
        os.close(descriptor)
        return value

    return Bare(put, get, part)


def _zip(path: Path) -> Bare:
    archive = zipfile.ZipFile(path, "w")

    def part(key: str, start: int, length: int) -> bytes:
        with archive.open(key) as member:
            member.seek(start)
            return member.read(length)

    return Bare(archive.writestr, archive.read, part)


def _sqlite(path: Path) -> Bare:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("CREATE TABLE zarr(k TEXT PRIMARY KEY, v BLOB)")
    execute = connection.execute
    return Bare(
        lambda key, value: execute("REPLACE INTO zarr VALUES (?, ?)", (key, value)),
        lambda key: execute("SELECT v FROM zarr WHERE k = ?", (key,)).fetchone()[0],
        lambda key, start, length: execute(
            "SELECT substr(v, ?, ?) FROM zarr WHERE k = ?", (start + 1, length, key)
        ).fetchone()[0],
    )


def _lmdb(path: Path) -> Bare:
    lmdb: Any = import_module("lmdb")
    environment = lmdb.open(str(path), map_size=1 << 30)

    def put(key: str, value: bytes) -> None:
        with environment.begin(write=True) as transaction:
            transaction.put(key.encode(), value)

    def get(key: str) -> bytes:
        with environment.begin() as transaction:
            found: bytes = transaction.get(key.encode())
            return found

    def part(key: str, start: int, length: int) -> bytes:
        with environment.begin(buffers=True) as transaction:
            return bytes(transaction.get(key.encode())[start : start + length])

    return Bare(put, get, part)


def seconds(call: Callable[[], object], times: int) -> float:
    """What one of so many calls takes."""
    start = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - start) / times


def compare(ours: Callable[[], object], bare: Callable[[], object]) -> tuple[float, float]:
    """Microseconds of the bare call, and of ours."""
    for call in (bare, ours):
        call()
    times = max(1, int(SAMPLE / max(seconds(bare, 3), 1e-7)))
    pairs = [(seconds(bare, times), seconds(ours, times)) for _ in range(ROUNDS)]
    return 1e6 * median(a for a, _ in pairs), 1e6 * median(b for _, b in pairs)


def measure(name: str, store: Store, bare: Bare, size: int) -> list[tuple[float, float]]:
    """Set, get, get a part: the bare call and ours."""
    value = os.urandom(size)
    names = [f"{size}.{number}" for number in range(KEYS)]
    turn, places = count(), count()

    def key() -> str:
        # An archive keeps every value that it was given, so each has a name of its own.
        number = next(places)
        return f"new.{size}.{number}" if name == "zip" else names[number % KEYS]

    setting = compare(lambda: store.set(key(), value), lambda: bare.set(key(), value))
    for each in names:
        store.set(each, value)
        bare.set(each, value)
    part = ByteRange(size // 2, PART)

    def get_part() -> object:
        return store.get_partial_values([(names[next(turn) % KEYS], part)])

    return [
        setting,
        compare(
            lambda: store.get(names[next(turn) % KEYS]), lambda: bare.get(names[next(turn) % KEYS])
        ),
        compare(get_part, lambda: bare.part(names[next(turn) % KEYS], size // 2, PART)),
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stores", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="stores whose name has this")
    options = parser.parse_args()
    heads = [f"{size >> 10} KiB {verb}" for size in SIZES for verb in ("set", "get", "part")]
    print("microseconds of the bare call, and what the store takes as a multiple\n")
    print("| store | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    with tempfile.TemporaryDirectory() as folder:
        for name, store, bare in cases(Path(folder)):
            if options.only.lower() not in name.lower():
                continue
            cells = []
            for size in SIZES:
                for theirs, ours in measure(name, store, bare, size):
                    cells.append(f"{theirs:.1f} x {ours / theirs:.2f}")
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
            store.close()


if __name__ == "__main__":
    main()
