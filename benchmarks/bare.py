"""Direct calls that are equivalent to stores of this library, with the same guarantees.

A value is old or new, never half; a missing one is ``None``; several threads may call at
once.  What the stores check besides (the grammar of keys, links that lead out of a
directory, whether the store may be written to) is theirs to pay for.
"""

from __future__ import annotations

import itertools
import os
import stat
import threading
import zipfile
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Part = tuple[str, int, int]
"""Key, start, length."""


@dataclass(frozen=True, slots=True)
class Bare:
    """One function for each operation; None if it is not supported."""

    get: Callable[[str], Any]
    into: Callable[[str, memoryview], Any]
    part: Callable[[str, int, int], Any]
    parts: Callable[[list[Part]], Any]
    two_reads: Callable[[str, memoryview, memoryview], Any]
    """Two parts of one version of a value, its beginning and its middle, into memory."""
    exists: Callable[[str], Any]
    set: Callable[[str, bytes], Any] | None
    erase: Callable[[str], Any] | None
    names: Callable[[str], Any] | None


def parts_of_values(get: Callable[[str], Any]) -> tuple[Any, Any, Any, Any]:
    """Operations on parts for stores that read whole values: into, part, parts, two reads."""

    def into(key: str, buffer: memoryview) -> int | None:
        value = get(key)
        if value is None:
            return None
        buffer[: len(value)] = value
        return len(value)

    def part(key: str, start: int, length: int) -> memoryview | None:
        value = get(key)
        return None if value is None else memoryview(value)[start : start + length]

    def parts(asked: list[Part]) -> list[memoryview | None]:
        return [part(*each) for each in asked]

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        value = memoryview(get(key))
        middle = len(value) // 2
        first[:] = value[: len(first)]
        second[:] = value[middle : middle + len(second)]

    return into, part, parts, two_reads


def mapping() -> Bare:
    """A dictionary."""
    values: dict[str, bytes] = {}
    return Bare(
        values.get,
        *parts_of_values(values.get),
        values.__contains__,
        values.__setitem__,
        lambda key: values.pop(key, None),
        lambda prefix: [key for key in tuple(values) if key.startswith(prefix)],
    )


def files(folder: Path) -> Bare:
    """``open``, ``pread``, ``close``; a file of another name, then ``rename``."""
    top = f"{folder}/"
    number = itertools.count()
    process = os.getpid()

    def part(key: str, start: int, length: int) -> bytes | None:
        try:
            descriptor = os.open(top + key, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.pread(descriptor, length, start)
        finally:
            os.close(descriptor)

    def get(key: str) -> bytes | None:
        try:
            descriptor = os.open(top + key, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def into(key: str, buffer: memoryview) -> int | None:
        try:
            descriptor = os.open(top + key, os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            size = os.fstat(descriptor).st_size
            os.preadv(descriptor, (buffer,), 0)
            return size
        finally:
            os.close(descriptor)

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        descriptor = os.open(top + key, os.O_RDONLY)
        try:
            middle = os.fstat(descriptor).st_size // 2
            os.preadv(descriptor, (first,), 0)
            os.preadv(descriptor, (second,), middle)
        finally:
            os.close(descriptor)

    def put(key: str, value: bytes) -> None:
        path = top + key
        partial = f"{path}.{process}-{next(number)}"
        try:
            descriptor = _create(partial)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            descriptor = _create(partial)
        try:
            os.write(descriptor, value)
        finally:
            os.close(descriptor)
        os.replace(partial, path)

    def erase(key: str) -> None:
        path = top + key
        try:
            os.unlink(path)
            os.rmdir(os.path.dirname(path))  # an empty directory is not a key
        except OSError:
            pass

    def exists(key: str) -> bool:
        try:
            return stat.S_ISREG(os.lstat(top + key).st_mode)
        except FileNotFoundError:
            return False

    def names(prefix: str) -> list[str]:
        found, left = [], [prefix]
        while left:
            above = left.pop()
            with os.scandir(top + above) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        left.append(f"{above}{entry.name}/")
                    else:
                        found.append(above + entry.name)
        return found

    return Bare(
        get, into, part, lambda asked: [part(*each) for each in asked], two_reads, exists,
        put, erase, names,
    )  # fmt: skip


def _create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def archive(path: Path) -> Bare:
    """The standard library's ``zipfile``, which reads what it has written itself."""
    it = zipfile.ZipFile(path, "w")

    def part(key: str, start: int, length: int) -> bytes:
        with it.open(key) as member:
            member.seek(start)
            return member.read(length)

    def into(key: str, buffer: memoryview) -> Any:
        member: Any
        with it.open(key) as member:
            return member.readinto(buffer)

    def two_reads(key: str, first: memoryview, second: memoryview) -> None:
        member: Any
        with it.open(key) as member:
            member.readinto(first)
            member.seek(it.NameToInfo[key].file_size // 2)
            member.readinto(second)

    return Bare(
        it.read, into, part, lambda asked: [part(*each) for each in asked], two_reads,
        it.NameToInfo.__contains__, it.writestr, None,
        lambda prefix: [key for key in it.NameToInfo if key.startswith(prefix)],
    )  # fmt: skip


def memory_cache(read: Callable[[str], Any]) -> Bare:
    """An ordered dictionary with a lock; the last item is the most recently used."""
    held: OrderedDict[str, bytes] = OrderedDict()
    lock = threading.Lock()

    def get(key: str) -> Any:
        with lock:
            value = held.get(key)
            if value is not None:
                held.move_to_end(key)
                return value
        value = read(key)
        with lock:
            held[key] = value
        return value

    def exists(key: str) -> bool:
        with lock:
            return key in held

    return Bare(get, *parts_of_values(get), exists, None, None, None)
