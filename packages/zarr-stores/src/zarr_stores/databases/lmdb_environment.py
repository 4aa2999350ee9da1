"""LMDB environments of this process: each is opened once, and closed before a fork."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, ref

from zarr_core.extension import ByteReader, StoreReadError

from zarr_stores.databases.database_store import path_exists
from zarr_stores.databases.lmdb_file import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Store

__all__ = ["MappedReader", "close_before_fork", "is_environment", "open_shared"]

_FORK_TIMEOUT = 5.0  # seconds
_OURS = 2  # reference count of an environment that only the list in _before_fork holds
_FILE_SUFFIX = ".mdb"
_DATA = "data.mdb"

# The locks of LMDB fail if a process opens an environment twice.
_environments: WeakValueDictionary[str, Any] = WeakValueDictionary()
_readers: dict[int, ref[MappedReader]] = {}
# By identity, because two stores of the same location are equal.
_stores: WeakValueDictionary[int, Store] = WeakValueDictionary()
_guard = threading.Lock()


def is_environment(directory: str) -> bool:
    """Return whether a directory is an LMDB environment."""
    return os.path.exists(os.path.join(directory, _DATA))


def open_shared(path: str, *, create: bool, subdir: bool | None, map_size: int, fsync: bool) -> Any:
    """Return the environment at a path; None if it does not exist and is not created."""
    real = os.path.realpath(path)
    with _guard:
        environment = _environments.get(real)
        if environment is None:
            environment = _open(real, create, subdir, map_size, fsync)
            if environment is not None:
                _environments[real] = environment
        return environment


def _open(path: str, create: bool, subdir: bool | None, map_size: int, fsync: bool) -> Any:
    import lmdb  # optional dependency

    if path_exists(path):
        subdir = os.path.isdir(path)
    elif subdir is None:
        subdir = not path.endswith(_FILE_SUFFIX)
    data = os.path.join(path, _DATA) if subdir else path
    if path_exists(data):
        check_file(data)
    elif not create:
        return None
    if create:
        os.makedirs(path if subdir else os.path.dirname(path), exist_ok=True)
    # One object serves readers and writers of this process.
    writable = create or os.access(data, os.W_OK)
    options: dict[str, Any] = {
        "map_size": map_size,
        "subdir": subdir,
        "readonly": not writable,
        "create": create,
        "sync": fsync,
        "metasync": fsync,
        "lock": writable or os.access(os.path.dirname(data), os.W_OK),
        "max_readers": 1024,
        # A child process that closes an inherited environment releases the reader slots of
        # spare transactions in the table that it shares with its parent.
        "max_spare_txns": 0,
    }
    until = time.monotonic() + _FORK_TIMEOUT
    while True:
        try:
            environment = lmdb.open(path, **options)
        except lmdb.Error as error:
            # Another thread is closing the environment.
            if "already open" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.001)
        else:
            environment.reader_check()  # frees the slots of killed readers
            return environment


class MappedReader(ByteReader):
    """Reader of a large value in the memory map; sees the value as it was when opened."""

    __slots__ = ("_guard", "_key", "_store", "_transaction", "_value", "size")

    def __init__(self, store: Store, key: str, transaction: Any, value: memoryview) -> None:
        self._store = store
        self._key = key
        self._transaction = transaction
        self._value: memoryview | None = value
        self._guard = threading.Lock()
        self.size: int = len(value)
        _readers[id(self)] = ref(self)

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        with self._guard:
            value = self._value
            for start, buffer in parts:
                end = start + len(buffer)
                if value is None:
                    raise StoreReadError("the reader is closed", self._store, self._key)
                self.check_part(start, len(buffer))
                buffer[:] = value[start:end]

    def copy_value(self) -> None:
        """Copy the value before a fork, because the child process ends all transactions."""
        with self._guard:
            if self._value is not None and self._transaction is not None:
                self._value = memoryview(bytes(self._value))
                self._transaction.abort()
                self._transaction = None

    def close(self) -> None:
        with self._guard:
            transaction, self._transaction, self._value = self._transaction, None, None
            if transaction is not None:
                transaction.abort()
        _readers.pop(id(self), None)

    def __del__(self) -> None:
        if self._value is not None:
            self.close()

    def reset_lock(self) -> None:
        """Create a new lock after a fork; a thread of the parent may have held the old one."""
        self._guard = threading.Lock()


def _open_readers() -> list[MappedReader]:
    return [reader for reference in list(_readers.values()) if (reader := reference()) is not None]


def close_before_fork(store: Store) -> None:
    """Register a store to be closed before a fork; it reopens the environment when used."""
    _stores[id(store)] = store


def _before_fork() -> None:
    # LMDB environments cannot be used after a fork.  A child process that closes one while
    # another thread uses it would wait for that thread forever.
    _guard.acquire()
    environments = list(_environments.values())
    until = time.monotonic() + _FORK_TIMEOUT
    while True:
        for reference in _stores.valuerefs():  # other threads may add stores
            store = reference()
            if store is not None:
                store.close()
        for reader in _open_readers():
            reader.copy_value()
        used = any(sys.getrefcount(environments[at]) > _OURS for at in range(len(environments)))
        if not used or time.monotonic() > until:  # or a long transaction is open
            return
        time.sleep(1e-5)  # lets other threads finish their operations


def _after_fork_in_parent() -> None:
    _guard.release()


def _after_fork() -> None:
    # Inherited environments must not be used, and block opening new ones.
    global _guard
    _guard = threading.Lock()
    for reader in _open_readers():
        reader.reset_lock()
    for environment in list(_environments.values()):
        environment.close()
    _environments.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
    )
