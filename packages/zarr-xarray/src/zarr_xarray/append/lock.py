"""The lock of the appenders of one group, which works in every store.

It is a value that its owner creates, renews and releases.  An owner that was killed cannot release
it, so others take it over: at once if its process no longer exists on this computer, otherwise if
the value has not changed for some time.  A slow owner may still run then.  It cannot write, because
:class:`LockedStore` verifies the lock between reading and replacing a value: if the lock is lost,
nothing is written.

The value tells the next owner whether an append was interrupted.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import suppress
from socket import gethostname
from typing import TYPE_CHECKING, Any, Literal

from zarr_core.extension import Location, Store, WrapperStore, ZarrError, strictjson
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from zarr_core.extension import Buffers, ByteReader, Change

    Previous = Literal["own", "other", "interrupted"]

LOCK_NAME = ".zarr-append"
"""Name of the lock, below the group."""

_SHORTEST_PAUSE = 0.002  # seconds between attempts
_LONGEST_PAUSE = 0.1

_held: set[str] = set()
"""Locks that this process holds, by their owner."""


def host() -> str:
    """Return the name of this computer, on Linux with the namespace of its processes."""
    namespace = "/proc/self/ns/pid"  # containers can share the name, but not the processes
    return gethostname() + (os.readlink(namespace) if os.path.exists(namespace) else "")


class LockLostError(Exception):
    """Another appender has taken over the lock."""


class AppendLock:
    """The exclusive right to append to a group.

    Others take over a lock that is not renewed for some seconds.
    """

    def __init__(self, store: Store, path: str, seconds: float) -> None:
        self.store = store
        self.key = f"{path}/{LOCK_NAME}".lstrip("/")
        self.seconds = seconds
        self.owner = secrets.token_hex(8)
        self._turn = 0
        self.writing = False
        """Whether an error now leaves an incomplete append."""
        self._renewed = 0.0
        self._guard = threading.Lock()

    def hold(self, work: Callable[[Previous], None]) -> None:
        """Wait for the lock, and call a function while this object has it.

        The argument of ``work`` is whether the last owner was this object, another one, or one
        that was interrupted.  If it fails after it has set :attr:`writing`, the next owner receives
        ``"interrupted"``.  Raises LockLostError if another appender took over the lock before ``work``
        had returned.
        """
        previous = self._acquire()
        self.writing = previous == "interrupted"
        try:
            work(previous)
        except BaseException:
            # If the lock cannot be released, the next owner takes it over.
            with suppress(LockLostError, ZarrError, OSError):
                self._release("interrupted" if self.writing else "free")
            raise
        self._release("free")

    def _previous(self, record: dict[str, Any], turn: int) -> Previous:
        """Return who had the lock last; ``turn`` is the last one of this object."""
        if record.get("state", "free") != "free":
            return "interrupted"
        return "own" if (record.get("owner"), record.get("turn")) == (self.owner, turn) else "other"

    def _acquire(self) -> Previous:
        """Wait for the lock, and take it."""
        pause = _SHORTEST_PAUSE
        waited_for: bytes | None = None
        since = time.monotonic()
        current = b""
        previous: Previous | None = None
        last, turn = self._turn, 0

        def change(reader: ByteReader | None) -> Buffers | ByteReader:
            nonlocal current, previous, turn
            current = b"" if reader is None else bytes(reader.read(0, reader.size))
            record = self._parse(current)
            expired = current == waited_for and time.monotonic() - since > self.seconds
            if record.get("state") == "held" and not (expired or self._is_lost(record)):
                previous = None
                assert reader is not None, "a missing lock is not held"
                return reader
            previous = self._previous(record, last)
            turn = int(record.get("turn", 0)) + 1
            return self._record("held", turn)

        _held.add(self.owner)
        try:
            while True:
                began = time.monotonic()
                self.store.update(self.key, change)
                if previous is not None:
                    break
                if current != waited_for:
                    waited_for, since = current, time.monotonic()
                time.sleep(pause)
                pause = min(_LONGEST_PAUSE, pause * 1.5)
        except BaseException:
            _held.discard(self.owner)
            raise
        self._renewed, self._turn = began, turn
        if previous == "interrupted":
            log("recovery", "%r: lock of an interrupted append taken over", self.key)
        return previous

    def verify(self) -> None:
        """Raise LockLostError if another appender has taken over the lock."""
        value = self.store.get(self.key)
        if value is None or not bytes(value).startswith(self._head(self._turn)):
            raise LockLostError(self.key)

    def renew(self) -> None:
        """Renew the lock if a third of its time has passed."""
        with self._guard:
            now = time.monotonic()
            if now - self._renewed > self.seconds / 3:
                self._replace("held", now)
                self._renewed = now

    def _release(self, state: str) -> None:
        _held.discard(self.owner)
        self._replace(state)

    def remove(self) -> None:
        """Remove the lock if no other appender has acquired it since this object released it."""
        mine = self._record("free", self._turn)

        def change(reader: ByteReader | None) -> Buffers | ByteReader | None:
            is_other = reader is None or bytes(reader.read(0, reader.size)) != mine
            return reader if is_other else None

        if self._turn:
            self.store.update(self.key, change)

    def _replace(self, state: str, renewed: float = 0) -> None:
        def change(reader: ByteReader | None) -> Buffers:
            value = b"" if reader is None else bytes(reader.read(0, reader.size))
            if not value.startswith(self._head(self._turn)):
                raise LockLostError(self.key)
            return self._record(state, self._turn, renewed)

        self.store.update(self.key, change)

    def _head(self, turn: int) -> bytes:
        return b'{"owner":"%s","turn":%d,' % (self.owner.encode(), turn)

    def _record(self, state: str, turn: int, renewed: float = 0) -> bytes:
        encoded, process = strictjson.encode(host()).strip(), os.getpid()
        tail = b'"host":%s,"process":%d,"renewed":%.3f,"state":"%s"}'
        return self._head(turn) + tail % (bytes(encoded), process, renewed, state.encode())

    def _parse(self, value: bytes) -> dict[str, Any]:
        record: Any = strictjson.loads(value, Location(self.store, key=self.key)) if value else {}
        return record if isinstance(record, dict) else {}

    def _is_lost(self, record: dict[str, Any]) -> bool:
        """Whether the process of the owner no longer exists, as far as this computer knows."""
        process: Any = record.get("process") if record.get("host") == host() else None
        if process == os.getpid():
            return record.get("owner") == self.owner or record.get("owner") not in _held
        try:
            os.kill(process, 0)
            with open(f"/proc/{process}/stat", "rb") as file:  # on Linux
                return (
                    file.read().rpartition(b")")[2].split()[0] == b"Z"
                )  # ended, but not waited for
        except (OSError, OverflowError, TypeError) as error:  # such as of another user
            return isinstance(error, ProcessLookupError)


class LockedStore(WrapperStore):
    """A store that writes only while a lock is held, and does not list the lock.

    Every value is replaced by :meth:`Store.update` of the inner store, which fails or is retried if
    another writer has changed the value since it was read, or excludes other writers.  The lock is
    verified after the value was read.  So a former owner cannot replace a value of the next one.
    """

    def __init__(self, inner: Store, lock: AppendLock) -> None:
        super().__init__(inner)
        self.lock = lock
        self.traits = self.traits._replace(batch_nbytes=0)

    def set(self, key: str, value: Buffers) -> None:
        self.update(key, lambda _: value)

    def update(self, key: str, change: Change) -> None:
        self.lock.renew()

        def verified(reader: ByteReader | None) -> Buffers | ByteReader | None:
            value = change(reader)
            self.lock.verify()
            return value

        self.inner.update(key, verified)

    def erase(self, key: str) -> None:
        self.update(key, lambda _: None)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return (key for key in self.inner.list_prefix(prefix) if key != self.lock.key)

    def list_sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        return (item for item in self.inner.list_sizes(prefix) if item[0] != self.lock.key)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        keys, prefixes = self.inner.list_dir(prefix)
        return [key for key in keys if key != self.lock.key], prefixes

    def close(self) -> None:
        return  # the store is that of the caller

    def _arguments(self) -> tuple[Any, ...]:
        return self.inner, self.lock
