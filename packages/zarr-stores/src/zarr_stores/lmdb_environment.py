"""LMDB environments of this process, each opened once, none of them used by a forked one."""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary, ref

from zarr_core.extension import StoreReadError, ValueReader

from zarr_stores._database import is_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Store

__all__ = ["MappedReader", "is_environment", "let_go_before_forks", "open_once"]

_PATIENCE = 5.0  # seconds
_OURS = 2  # references to an environment in a list that is looked at
_FILE_SUFFIX = ".mdb"
_DATA = "data.mdb"

# A process opens each environment once, or the locks of LMDB fail.
_environments: WeakValueDictionary[str, Any] = WeakValueDictionary()
_readers: dict[int, ref[MappedReader]] = {}
# By the numbers of the objects, since stores are equal if they are the same place.
_users: WeakValueDictionary[int, Store] = WeakValueDictionary()
_guard = threading.Lock()


def is_environment(directory: str) -> bool:
    """Whether a directory is one."""
    return os.path.exists(os.path.join(directory, _DATA))


def open_once(path: str, *, create: bool, subdir: bool | None, map_size: int, fsync: bool) -> Any:
    """The environment at a path; None if there is none and none is to be created.

    Parameters
    ----------
    path : str
        A directory or a file.
    create : bool
        Make it.
    subdir, map_size, fsync
        As the store was given them; of what another store has opened already, they are
        what that one was given.
    """
    real = os.path.realpath(path)
    with _guard:
        environment = _environments.get(real)
        if environment is None:
            environment = _open(real, create, subdir, map_size, fsync)
            if environment is not None:
                _environments[real] = environment
        return environment


def _open(path: str, create: bool, subdir: bool | None, map_size: int, fsync: bool) -> Any:
    import lmdb  # noqa: PLC0415 - lazy: an extra, wanted by few

    if is_there(path):
        subdir = os.path.isdir(path)
    elif subdir is None:
        subdir = not path.endswith(_FILE_SUFFIX)
    data = os.path.join(path, _DATA) if subdir else path
    if not create and not is_there(data):
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
        # A child that closes what it inherited gives up the places of kept
        # transactions in the table that it shares with its parent: keep none.
        "max_spare_txns": 0,
    }
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            environment = lmdb.open(path, **options)
        except lmdb.Error as error:
            # Another thread has let go of it, and is just closing it.
            if "already open" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.001)
        else:
            environment.reader_check()  # places that killed readers held
            return environment


class MappedReader(ValueReader):
    """A large value, read where it lies in the file, as it was when it was opened.

    Parameters
    ----------
    store, key
        Where it is, for messages.
    transaction : lmdb.Transaction
        Which keeps the value where it is; the reader's to end.
    value : memoryview
        The value, of that transaction.
    """

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
                if value is None or start < 0 or end > self.size:
                    raise self._refused(start, end)
                buffer[:] = value[start:end]

    def _refused(self, start: int, end: int) -> StoreReadError:
        reason = f"bytes {start} to {end} of a value of {self.size} bytes"
        if self._value is None:
            reason = "the reader is closed"
        return StoreReadError(reason, self._store, self._key)

    def keep(self) -> None:
        """Copy the value: this process is about to fork, and the child ends all transactions."""
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

    def renew_guard(self) -> None:
        """Forget that another thread, left behind by a fork, was reading."""
        self._guard = threading.Lock()


def _open_readers() -> list[MappedReader]:
    return [reader for it in tuple(_readers.values()) if (reader := it()) is not None]


def let_go_before_forks(store: Store) -> None:
    """Have a store closed whenever this process is about to fork; it opens itself again."""
    _users[id(store)] = store


def _before_fork() -> None:
    # LMDB takes nothing over a fork, and a child that closes what another thread is at work in
    # waits for that thread, which it does not have.
    _guard.acquire()
    environments = list(_environments.values())
    until = time.monotonic() + _PATIENCE
    while True:
        for it in _users.valuerefs():  # while others are added
            store = it()
            if store is not None:
                store.close()
        for reader in _open_readers():
            reader.keep()
        used = any(sys.getrefcount(environments[at]) > _OURS for at in range(len(environments)))
        if not used or time.monotonic() > until:  # or a transaction lasts
            return
        time.sleep(1e-5)  # in which others finish what they are at


def _after_fork_in_parent() -> None:
    _guard.release()


def _after_fork() -> None:
    # What was inherited must not be used, and nothing else can be opened beside it.
    global _guard
    _guard = threading.Lock()
    for reader in _open_readers():
        reader.renew_guard()
    for environment in list(_environments.values()):
        environment.close()
    _environments.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork
    )
