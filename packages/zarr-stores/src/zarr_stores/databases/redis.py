"""A store in Redis, or in a compatible server.

Name:           redis
URL:            redis://[user@]host[:port]/[database][?prefix=zarr]; rediss:// for TLS;
                unix:///path[?db=0] for a socket
Library:        redis
"""

from __future__ import annotations

from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import BufferByteReader, StoreError, StoreReadError, StoreTraits

from zarr_stores.databases.database_store import INVALID_NAMES
from zarr_stores.databases.server_store import ServerStore
from zarr_stores.unknown_options import arguments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zarr_core.extension import Buffer, ByteRange, ByteReader

__all__ = ["RedisStore"]

_WHOLE: Final = 1 << 16  # bytes: smaller values are read as a whole
_BATCH_SIZE: Final = 500  # keys or parts in one request
_CLUSTER_ERRORS: Final = ("MovedError", "AskError", "ClusterCrossSlotError", "ClusterDownError")
_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\*?[]^-"})


class RedisStore(ServerStore):
    """A store in Redis, with the layout of zarr-python 2: ``prefix:key``.

    Parameters
    ----------
    url : str
        ``redis://host:6379/0``, where 0 is the number of the database.
    read_only : bool
        If True, changes raise an error.
    prefix : str
        Part of the Redis keys before the colon.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retry_timeout``,
        and options of ``redis.Redis.from_url``, such as ``ssl_ca_certs``.

    Notes
    -----
    Threads and processes can read and write concurrently.  ``update`` watches the key
    (``WATCH``) and detects changes by any program.  A value has at most 512 MiB.  Listing
    scans all keys of the database, independent of the prefix.  The durability of writes
    depends on the configuration of the server (``appendonly``).  Reading parts of large
    values requires Redis 6.2; older servers send whole values.
    """

    gap_nbytes = 1 << 17
    traits = StoreTraits(opening_nbytes=_WHOLE, gap_nbytes=gap_nbytes)
    schemes = ("redis", "rediss", "unix")
    port = 6379
    location_options = MappingProxyType({"prefix": "zarr", "db": ""})
    secrets = frozenset({"password", "ssl_password"})
    library = "redis"
    product = "Redis"
    largest_value = 1 << 29
    max_concurrency = 32

    def __init__(
        self, url: str = "redis://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        number = self._location["db"]
        if self.scheme != "unix":  # the path of a unix URL is the socket
            number = self._path.strip("/") or number
        number = number or "0"
        if not (number.isascii() and number.isdecimal()):
            raise StoreError(f"the database must be a number, not {number!r}", self)
        self._database = int(number)
        if self.scheme == "unix":
            self._location["db"] = number.removeprefix("0")
        else:
            self._location["db"], self._path = "", f"/{self._database}"
        prefix = self._location["prefix"]
        if ":" in prefix and not read_only:
            raise StoreError(
                f"the prefix {prefix!r} contains a colon, so its keys would also be those of the "
                f"prefix {prefix.partition(':')[0]!r}, which could remove them; choose another, or "
                "open the store for reading",
                self,
            )
        self._head = f"{prefix}:"

    # --- connections ---

    def library_options(self) -> Iterable[str]:
        import redis  # optional dependency
        from redis.connection import SSLConnection, UnixDomainSocketConnection

        kinds = (redis.Redis, redis.ConnectionPool, SSLConnection, UnixDomainSocketConnection)
        return arguments_of(*kinds)

    def _connect(self) -> Any:
        import redis  # optional dependency
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        options = {
            "socket_timeout": self._timeout,
            "socket_connect_timeout": self._connect_timeout,
            "socket_keepalive": True,
            **self._options,
            **self._secrets,
            "username": self.user or None,
            "password": self._password(),
            "db": self._database,
            "decode_responses": False,
            "retry": Retry(NoBackoff(), 0),  # ``request`` retries requests
        }
        if self.scheme == "unix":
            del options["socket_keepalive"]
            url = f"unix://{self._path}"
        else:
            url = f"{self.scheme}://{self._hosts}"
        client = redis.Redis.from_url(url, **options)
        try:
            client.connection_pool.make_connection()  # checks the options; does not connect
        except TypeError as error:
            raise StoreError(f"cannot connect: {error}", self) from error
        return client

    @staticmethod
    def _disconnect(resources: Any) -> None:
        resources.close()

    def _failures(self) -> tuple[type[BaseException], ...]:
        from redis.exceptions import RedisError  # optional dependency

        return RedisError, OSError

    def is_lost(self, error: BaseException) -> bool:
        from redis.exceptions import AuthenticationError, ConnectionError, TimeoutError

        lost = isinstance(error, ConnectionError | TimeoutError | OSError)
        return lost and not isinstance(error, AuthenticationError)

    def _reason(self, error: BaseException) -> str:
        message = super()._reason(error)
        if type(error).__name__ in _CLUSTER_ERRORS:
            message += (
                ". Clusters are not supported as a whole: use a prefix in braces, such as "
                "?prefix={field}, which keeps the store on one node, and the address of that node"
            )
        return message

    def _command(self, key: str, kind: type[StoreError], done: str, *words: Any) -> Any:
        return self.request(key, kind, done, lambda: self._opened().execute_command(*words))

    def _commands(
        self, key: str, kind: type[StoreError], done: str, commands: list[tuple[Any, ...]]
    ) -> list[Any]:
        """Send several commands with one request; they are not executed atomically."""

        def work() -> list[Any]:
            pool = self._opened().connection_pool
            from zarr_stores.databases.redis_reader import answers  # optional dependency

            connection = pool.get_connection()
            try:
                return answers(connection, *commands)
            finally:
                pool.release(connection)

        return self.request(key, kind, done, work)

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        value: bytes | None = self._opened().execute_command("GET", self._head + key)
        return value

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        for key, value in values:
            self._check_size(key, value)
            self._opened().execute_command("SET", self._head + key, value)

    def _erase(self, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), _BATCH_SIZE):
            names = (self._head + key for key in keys[first : first + _BATCH_SIZE])
            self._opened().execute_command("UNLINK", *names)

    def _list(self, prefix: str) -> list[str]:
        head = self._head + prefix
        pattern = head.translate(_SPECIAL) + "*"
        skip = len(self._head.encode())
        found: dict[bytes, None] = {}  # SCAN may return a key more than once
        cursor: Any = 0
        while True:
            words = ("SCAN", cursor, "MATCH", pattern, "COUNT", 5000)
            cursor, names = self._command(prefix, StoreReadError, "listed", *words)
            found.update(dict.fromkeys(names))
            if not int(cursor):
                return [name[skip:].decode(errors=INVALID_NAMES) for name in found]

    @contextmanager
    def _look(self, key: str) -> Iterator[tuple[bytes | None, Any]]:
        pool = self._opened().connection_pool
        from zarr_stores.databases.redis_reader import answers  # optional dependency

        name = self._head + key
        connection = self.request(key, StoreReadError, "read", pool.get_connection)
        try:
            (old,) = self.request(
                key, StoreReadError, "read", lambda: answers(connection, ("GET", name), watch=name)
            )
            yield old, connection
        finally:
            pool.release(connection)

    def _swap(self, key: str, expected: Any, new: bytes | None) -> bool:
        from zarr_stores.databases.redis_reader import answers_while_watching

        name = self._head + key
        if new is not None:
            self._check_size(key, new)
        command = ("UNLINK", name) if new is None else ("SET", name, new)
        return answers_while_watching(expected, ("MULTI",), command, ("EXEC",))[-1] is not None

    # --- faster ways ---

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        self._check(key)
        name = self._head + key
        requested: list[tuple[Any, ...]] = [("GETRANGE", name, 0, limit), ("EXISTS", name)]
        value: bytes
        value, is_there = self._commands(key, StoreReadError, "read", requested)
        if not is_there:
            return None
        if len(value) <= limit:
            return value
        return max(len(value), self.getsize(key) or 0)

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Return parts of values in the given order; one request reads many parts."""
        requested = list(key_ranges)
        for key, _ in requested:
            self._check(key)
        parts: list[Buffer | None] = []
        for first in range(0, len(requested), _BATCH_SIZE):
            some = requested[first : first + _BATCH_SIZE]
            # GETRANGE returns an empty string for missing keys.
            commands = [
                command
                for key, part in some
                for command in (_part(self._head + key, part), ("EXISTS", self._head + key))
            ]
            found = iter(self._commands(some[0][0], StoreReadError, "read", commands))
            parts += [
                data[: part.length] if data or is_there else None
                for (_, part), data, is_there in zip(some, found, found, strict=True)
            ]
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        self._check(key)
        return self.request(key, StoreReadError, "read", lambda: self._open_value(key, first))

    def _open_value(self, key: str, first: ByteRange | None) -> ByteReader | None:
        pool = self._opened().connection_pool
        from zarr_stores.databases.redis_reader import RedisReader, answers, is_dirty

        name = self._head + key
        # The start of the value, which may be all of it, and the range ``first``.
        commands: list[tuple[Any, ...]] = [
            ("GETRANGE", name, 0, (_WHOLE if first is None else _WHOLE >> 2) - 1)
        ]
        if first is not None:
            commands = [_part(name, first), *(commands if first.start else [])]
        commands += [("EXISTS", name), ("STRLEN", name), ("CLIENT", "INFO")]
        connection = pool.get_connection()
        kept = False
        try:
            *parts, is_there, size, state = answers(connection, *commands, watch=name)
            if is_dirty(state) is False:  # the value did not change between the responses
                held = [(0, parts[-1])]
                if first is not None:
                    held = [(first.within(size)[0], parts[0]), *held[: len(parts) - 1]]
                if is_there and all(len(part) < size for part in parts):
                    kept = True
                    return RedisReader(self, key, name, size, held, pool, connection)
                return BufferByteReader(max(parts, key=len)) if is_there else None
        finally:
            if not kept:
                pool.release(connection)
        value = self._get(key)
        return None if value is None else BufferByteReader(value)

    def getsize(self, key: str) -> int | None:
        self._check(key)
        name = self._head + key
        requested: list[tuple[Any, ...]] = [("STRLEN", name), ("EXISTS", name)]
        size, is_there = self._commands(key, StoreReadError, "read", requested)
        return int(size) if size or is_there else None


def _part(name: str, part: ByteRange) -> tuple[Any, ...]:
    """Return the command that reads a part; its response may be longer than the part."""
    start, length = part
    if length is None or start < 0:
        return "GETRANGE", name, start, -1
    if not length:
        return "GETRANGE", name, 1, 0
    return "GETRANGE", name, start, start + length - 1
