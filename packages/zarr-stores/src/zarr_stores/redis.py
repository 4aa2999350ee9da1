"""A store in Redis, or in what is compatible with it.

Name:           redis
URL:            redis://[user@]host[:port]/[database][?prefix=zarr], with TLS rediss://, of a
                socket unix:///path[?db=0]
Library:        redis
"""

from __future__ import annotations

import time
from random import random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import (
    BufferReader,
    StoreError,
    StoreReadError,
    ValueReader,
    check_prefix,
    key_lock,
)

from zarr_stores._database import is_key, joined
from zarr_stores._server import ServerStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

    from zarr_stores.redis_reader import Session, Sessions

__all__ = ["RedisStore"]

_LARGEST: Final = 1 << 29
_WHOLE: Final = 1 << 16  # bytes: smaller values are read at once, larger ones in parts
_TOGETHER: Final = 500  # keys or parts in one request
_TRIES: Final = 200
_OF_CLUSTERS: Final = ("MovedError", "AskError", "ClusterCrossSlotError", "ClusterDownError")
_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\*?[]^-"})


class RedisStore(ServerStore):
    """Keys and values in Redis, as zarr-python 2 has them: ``prefix:key``.

    Parameters
    ----------
    url : str
        ``redis://host:6379/0``; the number is that of the database.
    read_only : bool
        Refuse changes.
    prefix : str
        What stands before the colon in the names that Redis has.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retries``;
        whatever else ``redis.Redis.from_url`` takes, such as ``ssl_ca_certs``.

    Notes
    -----
    Any number of threads and processes may read and write at the same time; ``update``
    watches the key, so it excludes everyone who changes it, by whatever program.  A value
    has at most 512 MiB.  To list, Redis goes through all its keys, whatever their prefix.
    What it acknowledges outlives it only as far as its configuration says (``appendonly``).
    Parts of large values are read from Redis 6.2 or newer; an older one sends them whole.
    """

    schemes = ("redis", "rediss", "unix")
    port = 6379
    place = MappingProxyType({"prefix": "zarr", "db": ""})
    library = "redis"
    requests = 32

    def __init__(
        self, url: str = "redis://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        number = self._place["db"]
        if self.scheme != "unix":  # there the path is that of the socket
            number = self._path.strip("/") or number
        number = number or "0"
        if not (number.isascii() and number.isdecimal()):
            raise StoreError("databases of Redis have numbers, not names", self)
        self._database = int(number)
        if self.scheme == "unix":
            self._place["db"] = number.removeprefix("0")
        else:
            self._place["db"], self._path = "", f"/{self._database}"
        self._head = f"{self._place['prefix']}:"

    # --- connections ---

    def _connect(self) -> tuple[Any, Sessions]:
        import redis  # noqa: PLC0415 - lazy: an extra, wanted by few
        from redis.backoff import NoBackoff  # noqa: PLC0415 - likewise
        from redis.retry import Retry  # noqa: PLC0415 - likewise

        from zarr_stores.redis_reader import Sessions  # noqa: PLC0415 - needs an extra

        options = {
            "socket_timeout": self._timeout,
            "socket_connect_timeout": self._connect_timeout,
            "socket_keepalive": True,
            **self._options,
            "username": self.user or None,
            "password": self._password(),
            "db": self._database,
            "decode_responses": False,
            "retry": Retry(NoBackoff(), 0),  # what may be repeated is known here
        }
        if self.scheme == "unix":
            del options["socket_keepalive"]
            url = f"unix://{self._path}"
        else:
            url = f"{self.scheme}://{self._hosts}"
        client = redis.Redis.from_url(url, **options)
        try:
            client.connection_pool.make_connection()  # which does not connect yet
        except TypeError as error:
            raise StoreError(f"cannot connect: {error}", self) from error
        return client, Sessions(client.connection_pool, self.requests or 1)

    @staticmethod
    def _disconnect(resources: tuple[Any, Sessions]) -> None:
        client, sessions = resources
        sessions.close()
        client.close()

    def failures(self) -> tuple[type[BaseException], ...]:
        from redis.exceptions import RedisError  # noqa: PLC0415 - lazy: an extra

        return RedisError, OSError

    def is_lost(self, error: BaseException) -> bool:
        from redis.exceptions import AuthenticationError, ConnectionError, TimeoutError  # noqa: PLC0415 - likewise

        lost = isinstance(error, ConnectionError | TimeoutError | OSError)
        return lost and not isinstance(error, AuthenticationError)

    def _reason(self, error: BaseException) -> str:
        said = super()._reason(error)
        if type(error).__name__ in _OF_CLUSTERS:
            said += (
                ". A cluster is not used as a whole: give a prefix in braces, as in "
                "?prefix={field}, which keeps the store on one node, and the address of that node"
            )
        return said

    def _command(self, key: str, kind: type[StoreError], done: str, *words: Any) -> Any:
        return self.ask(key, kind, done, lambda: self._opened()[0].execute_command(*words))

    def _commands(
        self, key: str, kind: type[StoreError], done: str, commands: list[tuple[Any, ...]]
    ) -> list[Any]:
        """Send several commands at once, which is not to do them at once."""

        def work() -> list[Any]:
            sessions: Sessions = self._opened()[1]
            with sessions.taken() as session:
                return session.answers(*commands)

        return self.ask(key, kind, done, work)

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        name = self._head + key
        value: bytes | None = self._command(key, StoreReadError, "read", "GET", name)
        return value

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for; hundreds with one request."""
        asked = list(key_ranges)
        for key, _ in asked:
            self._check(key)
        parts: list[Buffer | None] = []
        for first in range(0, len(asked), _TOGETHER):
            some = asked[first : first + _TOGETHER]
            commands = [_part(self._head + key, part) for key, part in some]
            found = self._commands(some[0][0], StoreReadError, "read", commands)
            parts += [
                data if part.length is None else data[: part.length]
                for (_, part), data in zip(some, found, strict=True)
            ]
        # Of a missing key every part is empty.
        empty = list({asked[number][0] for number, part in enumerate(parts) if not part})
        missing = {key for key, is_there in self._which_exist(empty) if not is_there}
        return [
            None if key in missing and not part else part
            for (key, _), part in zip(asked, parts, strict=True)
        ]

    def _which_exist(self, keys: list[str]) -> Iterator[tuple[str, bool]]:
        for first in range(0, len(keys), _TOGETHER):
            some = keys[first : first + _TOGETHER]
            commands = [("EXISTS", self._head + key) for key in some]
            yield from zip(
                some, self._commands(some[0], StoreReadError, "read", commands), strict=True
            )

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        self._check(key)
        return self.ask(key, StoreReadError, "read", lambda: self._open_value(key, first))

    def _open_value(self, key: str, first: ByteRange | None) -> ValueReader | None:
        from zarr_stores.redis_reader import RedisReader, is_dirty  # noqa: PLC0415 - an extra

        name = self._head + key
        # The beginning, which may be all, and what is to be read first unless that is there.
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", name, 0, (_WHOLE if first is None else _WHOLE >> 2) - 1)
        ]
        if first is not None:
            commands = [_part(name, first), *(commands if first.start else [])]
        commands += [("EXISTS", name), ("STRLEN", name), ("CLIENT", "INFO")]
        sessions: Sessions = self._opened()[1]
        session = sessions.take()
        try:
            *parts, is_there, size, state = session.answers(*commands, watch=name)
        except BaseException:
            sessions.give_back(session)
            raise
        if is_dirty(state) is False:  # nothing was changed between the answers
            held = [(0, parts[-1])]
            if first is not None:
                held = [(first.within(size)[0], parts[0]), *held[: len(parts) - 1]]
            if is_there and all(len(part) < size for part in parts):
                return RedisReader(self, key, name, size, held, sessions, session)
            sessions.give_back(session)
            return BufferReader(max(parts, key=len)) if is_there else None
        sessions.give_back(session)
        value = self._get(key)
        return None if value is None else BufferReader(value)

    def exists(self, key: str) -> bool:
        self._check(key)
        return bool(self._command(key, StoreReadError, "read", "EXISTS", self._head + key))

    def getsize(self, key: str) -> int | None:
        self._check(key)
        name = self._head + key
        asked: list[tuple[Any, ...]] = [("STRLEN", name), ("EXISTS", name)]
        size, is_there = self._commands(key, StoreReadError, "read", asked)
        return int(size) if size or is_there else None

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        data = self._fitting(key, value)
        self._command(key, StoreError, "written", "SET", self._head + key, data)

    def _fitting(self, key: str, value: Pieces) -> bytes:
        data = joined(value)
        if len(data) > _LARGEST:
            raise StoreError(
                f"a value of {len(data):,} bytes; Redis has values of at most {_LARGEST:,}: "
                "make the chunks or shards smaller",
                self,
                key,
            )
        return data

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys, hundreds with one request."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        for first in range(0, len(names), _TOGETHER):
            some = names[first : first + _TOGETHER]
            words = (self._head + key for key in some)
            self._command(some[0], StoreError, "erased", "UNLINK", *words)

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        self.erase_values(list(self.list_prefix(prefix)))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other change of the key.

        Notes
        -----
        The key is watched while ``change`` works: the new value is stored only if nobody
        has changed the key meanwhile; else all is done again.
        """
        self._check_to_change(key)
        sessions: Sessions = self._opened()[1]
        with key_lock(self.url, key):
            for attempt in range(_TRIES):
                session = self.ask(key, StoreReadError, "read", sessions.take)
                try:
                    if self._change_watched(session, key, change):
                        return
                finally:
                    sessions.give_back(session)
                if attempt > 2:
                    time.sleep(random() * min(0.1, 0.001 * attempt))
        raise StoreError(f"others have changed the key {_TRIES} times meanwhile", self, key)

    def _change_watched(self, session: Session, key: str, change: Change) -> bool:
        name = self._head + key
        (old,) = self.ask(
            key, StoreReadError, "read", lambda: session.answers(("GET", name), watch=name)
        )
        value = change(None if old is None else BufferReader(old))
        if isinstance(value, ValueReader) or (old is None and value is None):
            return True
        new = ("UNLINK", name) if value is None else ("SET", name, self._fitting(key, value))

        def store() -> bool:
            return session.answers(("MULTI",), new, ("EXEC",), watching=True)[-1] is not None

        return self.ask(key, StoreError, "written", store, again=False)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        head = self._head + prefix
        pattern = head.translate(_SPECIAL) + "*"
        skip = len(self._head.encode())
        found: dict[bytes, None] = {}  # Redis may give a key more than once
        cursor: Any = 0
        while True:
            words = ("SCAN", cursor, "MATCH", pattern, "COUNT", 5000)
            cursor, names = self._command(prefix, StoreReadError, "listed", *words)
            found.update(dict.fromkeys(names))
            if not int(cursor):
                break
        return (key for name in found if is_key(key := _text(name[skip:])))


def _part(name: str, part: ByteRange) -> tuple[Any, ...]:
    """The command for a part; what it gives may be too long."""
    start, length = part
    if length is None or start < 0:
        return "GETRANGE", name, start, -1
    if not length:
        return "GETRANGE", name, 1, 0
    return "GETRANGE", name, start, start + length - 1


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:  # no key of a store
        return ""
