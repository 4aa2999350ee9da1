"""A store in a table of a PostgreSQL database.

Name:           postgresql
URL:            postgresql://[user@]host[:port]/database[?schema=public&table=zarr]
Library:        psycopg
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
)

from zarr_stores._partial_reader import copy_held
from zarr_stores._reader_store import replaced
from zarr_stores.databases.database_store import SortedStore, key_range
from zarr_stores.databases.postgresql_statements import statements_of
from zarr_stores.databases.server_store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffer, ByteRange

    from zarr_stores.databases.postgresql_connections import Connections

__all__ = ["PostgreSQLStore"]

_WHOLE: Final = 1 << 16  # bytes: smaller values are read as a whole
_END: Final = 1 << 30
_DATABASE_OPTIONS: Final = ("dbname", "host", "hostaddr", "port", "service")
# Messages of servers that will accept connections later.
_RETRY_MESSAGES: Final = (
    "starting up",
    "shutting down",
    "recovery",
    "too many",
    "slots",
    "terminating",
    "not yet",
)


class PostgreSQLStore(SortedStore, ServerStore):
    """A store in a PostgreSQL table, which is created by the first write.

    Parameters
    ----------
    url : str
        ``postgresql://host:5432/database``.
    read_only : bool
        If True, changes raise an error and nothing is created.
    schema, table : str
        Schema and name of the table; the schema must exist.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retry_timeout``,
        and options of libpq, such as ``sslmode``, ``service``, ``passfile``.

    Notes
    -----
    libpq also reads options and passwords from the environment, ``~/.pgpass`` and the service
    file.  Threads and processes can read and write concurrently, each with its own
    connections.  A value has at most about 1 GiB.  Values are stored uncompressed, so that
    the server can read parts of them.
    """

    schemes = ("postgresql", "postgres")
    port = 5432
    location_options = MappingProxyType({"schema": "public", "table": "zarr"})
    url_options = frozenset({"sslmode", *_DATABASE_OPTIONS})
    secrets = frozenset(
        {
            "password",
            "sslpassword",
            "sslkey",
            "oauth_client_secret",
            "scram_client_key",
            "scram_server_key",
        }
    )
    secret_hint = (
        "password_variable='NAME', the name of an environment variable, or set PGPASSWORD, "
        "~/.pgpass or a service file"
    )
    library = "psycopg"
    product = "PostgreSQL"
    largest_value = (1 << 30) - (1 << 16)  # a protocol message has at most 1 GiB
    max_concurrency = 16  # each connection is a process of the server

    def __init__(self, url: str = "postgresql://", read_only: bool = False, **options: Any) -> None:
        super().__init__(url, read_only, **options)
        self._sql = statements_of(self._location["schema"], self._location["table"])
        self._table_exists = False

    def _identity(self) -> tuple[Any, ...]:
        return *super()._identity(), *map(self._options.get, _DATABASE_OPTIONS)

    # --- connections ---

    def _connect(self) -> Connections:
        from zarr_stores.databases.postgresql_connections import Connections  # optional dependency

        options = {
            "conninfo": f"postgresql://{self._hosts}{quote(self._path.rstrip('/'))}",
            "connect_timeout": max(1, int(self._connect_timeout)),
            "application_name": "zarr",
            **self._options,
            **self._secrets,
            "user": self.user or None,
            "password": self._password(),
        }
        return Connections(
            {word: value for word, value in options.items() if value is not None}, self._timeout
        )

    @staticmethod
    def _disconnect(resources: Connections) -> None:
        resources.close()

    def _failures(self) -> tuple[type[BaseException], ...]:
        from psycopg import Error  # optional dependency

        return (Error,)

    def is_lost(self, error: BaseException) -> bool:
        from psycopg import InterfaceError, OperationalError  # optional dependency

        state: str = getattr(error, "sqlstate", None) or ""
        if state or not isinstance(error, OperationalError | InterfaceError):
            return state[:2] == "08" or state[:3] == "57P" or state == "53300"
        # Without a state the connection failed, unless the server rejected it permanently.
        message = str(error)
        return "FATAL" not in message or any(word in message for word in _RETRY_MESSAGES)

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        from psycopg.errors import ProgramLimitExceeded  # optional dependency

        if isinstance(error, ProgramLimitExceeded):
            reason = f"the key is too long for an index of PostgreSQL: {self._reason(error)}"
            return StoreKeyError(reason, self, f"{key[:40]}...")
        return super()._failure(error, key, kind, done)

    def _rows(self, key: str, sql: str, values: Any) -> list[Any]:
        def work() -> list[Any]:
            connections: Connections = self._opened()
            return connections.rows(sql, values)

        return self.request(key, StoreReadError, "read", work)

    def _execute(self, sql: str, values: Any) -> int:
        """Execute a statement, after creating the table if necessary; return the row count."""
        connections: Connections = self._opened()
        if not self._table_exists:
            connections.create(self._sql)
            self._table_exists = True
        return connections.count(sql, values)

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        rows = self._opened().rows(self._sql.get, (key,))
        return rows[0][0] if rows else None

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        for key, value in values:
            self._check_size(key, value)
            self._execute(self._sql.set, (key, value))

    def _erase(self, keys: Sequence[str]) -> None:
        self._opened().remove(self._sql.erase, ([*keys],))

    def _list(self, prefix: str) -> list[str]:
        sql = self._sql.list_all if not prefix else self._sql.list_below
        rows = self._opened().rows(sql, key_range(prefix) if prefix else ())
        return [key for (key,) in rows]

    def _look(self, key: str) -> AbstractContextManager[tuple[bytes | None, Any]]:
        rows = self._rows(key, self._sql.look_at, (key,))
        return nullcontext(rows[0] if rows else (None, None))

    def _swap(self, key: str, expected: str | None, new: bytes | None) -> bool:
        if new is None:
            return bool(self._execute(self._sql.erase_version, (key, expected)))
        self._check_size(key, new)
        if expected is None:
            return bool(self._execute(self._sql.insert, (key, new)))
        return bool(self._execute(self._sql.swap, (new, key, expected)))

    # --- faster ways ---

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        self._check(key)
        rows = self._rows(key, self._sql.get_limited, (min(limit, _END), key))
        if not rows:
            return None
        size, value = rows[0]
        return size if value is None else value  # type: ignore[no-any-return]  # a value

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        self._check(key)
        start, length = (0, 0) if first is None else first
        values = {
            "key": key,
            "whole": _WHOLE,
            "start": max(-_END, min(_END, start)),
            "length": _END if length is None else min(_END, length),
        }
        rows = self._rows(key, self._sql.open, values)
        if not rows:
            return None
        size, generation, whole, part = rows[0]
        if whole is not None or len(part) == size:
            reader: ByteReader = BufferByteReader(part if whole is None else whole)
            reader.generation = generation
            return reader
        start = 0 if first is None else first.within(size)[0]
        read = partial(self._parts, key, generation)
        return _RowReader(self, key, size, generation, (start, part), read)

    def _parts(
        self, key: str, generation: str, starts: list[int], lengths: list[int]
    ) -> list[bytes]:
        """Return parts of a generation of a value; none if the generation no longer exists."""
        values = (starts, lengths, key, generation)
        return [data for (data,) in self._rows(key, self._sql.read, values)]

    def getsize(self, key: str) -> int | None:
        return self._state(key)[0]

    def generation(self, key: str) -> str | None:
        return self._state(key)[1]

    def _state(self, key: str) -> tuple[int | None, str | None]:
        self._check(key)
        rows = self._rows(key, self._sql.state, (key,))
        return rows[0] if rows else (None, None)

    def _erase_below(self, prefix: str) -> None:
        sql = self._sql.erase_below if prefix else self._sql.erase_all
        self._opened().remove(sql, key_range(prefix) if prefix else ())

    def _children(self, prefix: str) -> list[str]:
        first, end = key_range(prefix) if prefix else ("", None)
        values = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        return [key for (key,) in self._opened().rows(self._sql.children, values)]


class _RowReader(ByteReader):
    """Reader of a large value, a part of which is in memory; raises an error after it is replaced."""

    def __init__(
        self, store: PostgreSQLStore, key: str, size: int, generation: str, held: tuple[int, bytes],
        read: Callable[[list[int], list[int]], list[bytes]],
    ) -> None:  # fmt: skip
        self._store, self._key = store, key
        self.size = size
        self.generation = generation
        self.max_concurrency = store.max_concurrency
        self._held = held
        self._read = read

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            self.check_part(start, len(buffer))
        requested = copy_held([self._held], parts)
        if not requested:
            return
        lengths = [len(buffer) for _, buffer in requested]
        answers = self._read([start for start, _ in requested], lengths)
        if not answers:
            raise replaced(self._store, self._key)
        if [len(data) for data in answers] != lengths:
            reason = "the server returned fewer bytes than requested"
            raise StoreReadError(reason, self._store, self._key)
        for (_, buffer), data in zip(requested, answers, strict=True):
            buffer[:] = data
