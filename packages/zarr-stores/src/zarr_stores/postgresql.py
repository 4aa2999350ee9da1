"""A store in a table of a PostgreSQL database.

Name:           postgresql
URL:            postgresql://[user@]host[:port]/database[?schema=public&table=zarr]
Library:        psycopg
"""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    check_prefix,
)
from zarr_core.tools import key_lock

from zarr_stores._database import compare_and_swap, is_key, to_bytes
from zarr_stores._server import ServerStore
from zarr_stores.postgresql_reader import RowReader
from zarr_stores.postgresql_statements import Statements
from zarr_stores.unknown_options import arguments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change

    from zarr_stores.postgresql_connections import Connections

__all__ = ["PostgreSQLStore"]

T = TypeVar("T")

_LARGEST: Final = (1 << 30) - (1 << 16)  # a protocol message has at most 1 GiB
_WHOLE: Final = 1 << 16  # bytes: smaller values are read as a whole
_BATCH_SIZE: Final = 1000  # keys or parts in one request
_END: Final = 1 << 30
_MAX_ATTEMPTS: Final = 100
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


class PostgreSQLStore(ServerStore):
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
    url_options = frozenset({"sslmode", "service"})
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
    max_concurrency = 16  # each connection is a process of the server

    def __init__(self, url: str = "postgresql://", read_only: bool = False, **options: Any) -> None:
        super().__init__(url, read_only, **options)
        self._sql = Statements.of(self._location["schema"], self._location["table"])
        self._table_exists = False

    # --- connections ---

    def library_options(self) -> Iterable[str]:
        from psycopg import Connection, pq  # optional dependency

        libpq = {option.keyword.decode() for option in pq.Conninfo.get_defaults()}
        return libpq | {*arguments_of(Connection.connect)}

    def _connect(self) -> Connections:
        from zarr_stores.postgresql_connections import Connections  # optional dependency

        hosts = [host.rpartition(":") for host in self._hosts.split(",")]
        named = [
            (name, port) if colon and not port.endswith("]") else (f"{name}{colon}{port}", "")
            for name, colon, port in hosts
        ]
        options = {
            "connect_timeout": max(1, int(self._connect_timeout)),
            "application_name": "zarr",
            **self._options,
            **self._secrets,
            "host": ",".join(unquote(name).strip("[]") for name, _ in named) or None,
            "port": ",".join(port for _, port in named).strip(",") or None,
            "dbname": self._path.strip("/") or None,
            "user": self.user or None,
            "password": self._password(),
        }
        return Connections(
            {word: it for word, it in options.items() if it is not None}, self._timeout
        )

    @staticmethod
    def _disconnect(resources: Connections) -> None:
        resources.close()

    def exceptions(self) -> tuple[type[BaseException], ...]:
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
        self, error: BaseException, key: str, kind: type[StoreError], done: str, unsure: bool
    ) -> StoreError:
        from psycopg.errors import ProgramLimitExceeded  # optional dependency

        if isinstance(error, ProgramLimitExceeded):
            reason = f"the key is too long for an index of PostgreSQL: {self._reason(error)}"
            return StoreKeyError(reason, self, f"{key[:40]}...")
        return super()._failure(error, key, kind, done, unsure)

    def _rows(self, key: str, sql: str, values: Any, done: str = "read") -> list[Any]:
        def work() -> list[Any]:
            connections: Connections = self._opened()
            return connections.rows(sql, values)

        return self.request(key, StoreReadError, done, work)

    def _write(self, key: str, sql: str, values: Any, again: bool = True) -> int:
        """Execute a statement, after creating the table if necessary; return the row count."""
        if not self._table_exists:
            self.request(key, StoreError, "written", lambda: self._opened().create(self._sql))
            self._table_exists = True

        def work() -> int:
            connections: Connections = self._opened()
            return connections.count(sql, values)

        return self.request(key, StoreError, "written", work, again)

    def _remove(self, key: str, sql: str, values: Any) -> None:
        self.request(key, StoreError, "erased", lambda: self._opened().remove(sql, values))

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        rows = self._rows(key, self._sql.get, (key,))
        return rows[0][0] if rows else None

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        self._check(key)
        rows = self._rows(key, self._sql.get_limited, (min(limit, _END), key))
        if not rows:
            return None
        size, value = rows[0]
        return size if value is None else value  # type: ignore[no-any-return]  # a value

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Return parts of values in the given order; one statement reads many parts."""
        requested = list(key_ranges)
        for key, _ in requested:
            self._check(key)
        parts: list[Buffer | None] = [None] * len(requested)
        for first in range(0, len(requested), _BATCH_SIZE):
            some = requested[first : first + _BATCH_SIZE]
            values = (
                [key for key, _ in some],
                [max(-_END, min(_END, part.start)) for _, part in some],
                [_END if part.length is None else min(_END, part.length) for _, part in some],
            )
            rows = self._rows(some[0][0], self._sql.parts, values)
            for number, data in rows:
                parts[first + number - 1] = data
        return parts

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
        return RowReader(self, key, size, generation, start, part, read)

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

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_writable(key)
        data = to_bytes(value)
        self._check_size(key, data)
        self._write(key, self._sql.set, (key, data))

    def _check_size(self, key: str, data: bytes) -> None:
        if len(data) > _LARGEST:
            raise StoreError(
                f"the value has {len(data):,} bytes; PostgreSQL supports at most {_LARGEST:,}: "
                "use smaller chunks or shards",
                self,
                key,
            )

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys atomically with one statement."""
        names = list(keys)
        for key in names:
            self._check_writable(key)
        if names:
            self._remove(names[0], self._sql.erase, (names,))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix with one statement."""
        self._check_prefix_writable(prefix)
        sql = self._sql.erase_all if not prefix else self._sql.erase_below
        self._remove(prefix, sql, _bounds(prefix))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other changes of the key.

        Notes
        -----
        The new value is stored if the old one is still present.  After several conflicts the
        row is locked until the change is complete.
        """
        self._check_writable(key)

        def look() -> tuple[bytes | None, str | None]:
            rows = self._rows(key, self._sql.look_at, (key,))
            return rows[0] if rows else (None, None)

        def swap(seen: str | None, new: bytes | None) -> bool:
            if new is None:
                return bool(self._write(key, self._sql.erase_version, (key, seen), again=False))
            self._check_size(key, new)
            if seen is None:
                return bool(self._write(key, self._sql.insert, (key, new), again=False))
            return bool(self._write(key, self._sql.swap, (new, key, seen), again=False))

        with key_lock(self.url, key):
            for _ in range(_MAX_ATTEMPTS):
                if compare_and_swap(change, look, swap) or self._change_locked(key, change):
                    return
        raise StoreError(
            "cannot be updated: other writers create and erase the key repeatedly", self, key
        )

    def _change_locked(self, key: str, change: Change) -> bool:
        """Change a value with its row locked; return False if the key is missing."""

        def work() -> bool:
            connections: Connections = self._opened()
            with connections.connection() as connection, connection.transaction():
                cursor = connection.cursor(binary=True)
                row = cursor.execute(self._sql.lock, (key,)).fetchone()
                if row is None:
                    return False
                value = change(BufferByteReader(row[0]))
                if value is None:
                    cursor.execute(self._sql.erase, ([key],))
                elif not isinstance(value, ByteReader):
                    data = to_bytes(value)
                    self._check_size(key, data)
                    cursor.execute(self._sql.set, (key, data))
                return True

        # Not ``request``: ``change`` may read memory of the caller.
        return self._request(key, StoreError, "written", work, again=False)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        sql = self._sql.list_all if not prefix else self._sql.list_below
        rows = self._rows(prefix, sql, _bounds(prefix), "listed")
        return (key for (key,) in rows if is_key(key))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        sql = self._sql.children
        first, end = _bounds(prefix) or ("", None)
        values = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        rows = self._rows(prefix, sql, values, "listed")
        keys: list[str] = []
        prefixes: list[str] = []
        for (key,) in rows:
            head, slash, _ = key[len(prefix) :].partition("/")
            if is_key(prefix + head):
                (prefixes if slash else keys).append(prefix + head + slash)
        return keys, prefixes


def _bounds(prefix: str) -> tuple[str, ...]:
    """Return the half-open range of keys below a prefix: "0" follows "/"."""
    return (prefix, f"{prefix[:-1]}0") if prefix else ()
