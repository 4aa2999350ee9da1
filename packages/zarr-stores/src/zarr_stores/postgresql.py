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
    BufferReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    ValueReader,
    check_prefix,
    key_lock,
)

from zarr_stores._database import change_freely, is_key, joined
from zarr_stores._server import ServerStore
from zarr_stores.postgresql_reader import RowReader
from zarr_stores.postgresql_statements import Statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

    from zarr_stores.postgresql_connections import Connections

__all__ = ["PostgreSQLStore"]

T = TypeVar("T")

_LARGEST: Final = (1 << 30) - (1 << 16)  # a message has at most 1 GiB, with all around the value
_WHOLE: Final = 1 << 16  # bytes: smaller values are read at once, larger ones in parts
_TOGETHER: Final = 1000  # keys or parts in one request
_END: Final = 1 << 30
_TRIES: Final = 100
# What servers say of connections that they will accept later.
_SOON: Final = (
    "starting up",
    "shutting down",
    "recovery",
    "too many",
    "slots",
    "terminating",
    "not yet",
)


class PostgreSQLStore(ServerStore):
    """Keys and values in a table, which is created when first written to.

    Parameters
    ----------
    url : str
        ``postgresql://host:5432/database``.
    read_only : bool
        Refuse changes, and create nothing.
    schema, table : str
        The table; the schema has to be there.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retries``;
        whatever else libpq takes, such as ``sslmode``, ``service``, ``passfile``.

    Notes
    -----
    What libpq finds in the environment, in ``~/.pgpass`` and in the service file is used, so
    passwords need not be given.  Any number of threads and processes may read and write at
    the same time, each with connections of its own.  A value has nearly 1 GiB at most.  It
    is stored uncompressed, so that parts of it are read where they lie.
    """

    schemes = ("postgresql", "postgres")
    port = 5432
    place = MappingProxyType({"schema": "public", "table": "zarr"})
    kept = frozenset({"sslmode", "service"})
    secrets = frozenset({"password", "sslpassword", "sslkey"})
    secret_from = (
        "password_variable='NAME', the name of an environment variable, or leave it to PGPASSWORD, "
        "to ~/.pgpass or to a service file"
    )
    library = "psycopg"
    requests = 16  # each connection is a process of the server

    def __init__(self, url: str = "postgresql://", read_only: bool = False, **options: Any) -> None:
        super().__init__(url, read_only, **options)
        self._say = Statements.of(self._place["schema"], self._place["table"])
        self._table_is_there = False

    # --- connections ---

    def _connect(self) -> Connections:
        from zarr_stores.postgresql_connections import Connections  # noqa: PLC0415 - an extra

        hosts = [host.rpartition(":") for host in self._hosts.split(",")]
        named = [
            (name, port) if colon and not port.endswith("]") else (f"{name}{colon}{port}", "")
            for name, colon, port in hosts
        ]
        options = {
            "connect_timeout": max(1, round(self._connect_timeout)),
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

    def failures(self) -> tuple[type[BaseException], ...]:
        from psycopg import Error  # noqa: PLC0415 - lazy: an extra, wanted by few

        return (Error,)

    def is_lost(self, error: BaseException) -> bool:
        from psycopg import InterfaceError, OperationalError  # noqa: PLC0415 - lazy: an extra

        state: str = getattr(error, "sqlstate", None) or ""
        if state or not isinstance(error, OperationalError | InterfaceError):
            return state[:2] == "08" or state[:3] == "57P" or state == "53300"
        # Without a state: the connection failed, unless the server refused it for good.
        said = str(error)
        return "FATAL" not in said or any(word in said for word in _SOON)

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str, unsure: bool
    ) -> StoreError:
        from psycopg.errors import ProgramLimitExceeded  # noqa: PLC0415 - lazy: an extra

        if isinstance(error, ProgramLimitExceeded):
            reason = f"too long for an index of PostgreSQL: {self._reason(error)}"
            return StoreKeyError(reason, self, f"{key[:40]}...")
        return super()._failure(error, key, kind, done, unsure)

    def _rows(self, key: str, words: str, values: Any, done: str = "read") -> list[Any]:
        def work() -> list[Any]:
            connections: Connections = self._opened()
            return connections.rows(words, values)

        return self.ask(key, StoreReadError, done, work)

    def _write(self, key: str, words: str, values: Any, again: bool = True) -> int:
        """Change something in the table, which there is afterwards; how many rows."""
        if not self._table_is_there:
            self.ask(key, StoreError, "written", lambda: self._opened().create(self._say))
            self._table_is_there = True

        def work() -> int:
            connections: Connections = self._opened()
            return connections.count(words, values)

        return self.ask(key, StoreError, "written", work, again)

    def _remove(self, key: str, words: str, values: Any) -> None:
        self.ask(key, StoreError, "erased", lambda: self._opened().remove(words, values))

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        rows = self._rows(key, self._say.get, (key,))
        return rows[0][0] if rows else None

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for; many with one statement."""
        asked = list(key_ranges)
        for key, _ in asked:
            self._check(key)
        parts: list[Buffer | None] = [None] * len(asked)
        for first in range(0, len(asked), _TOGETHER):
            some = asked[first : first + _TOGETHER]
            values = (
                [key for key, _ in some],
                [max(-_END, min(_END, part.start)) for _, part in some],
                [_END if part.length is None else min(_END, part.length) for _, part in some],
            )
            rows = self._rows(some[0][0], self._say.parts, values)
            for number, data in rows:
                parts[first + number - 1] = data
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        self._check(key)
        start, length = (0, 0) if first is None else first
        values = {
            "key": key,
            "whole": _WHOLE,
            "start": max(-_END, min(_END, start)),
            "length": _END if length is None else min(_END, length),
        }
        rows = self._rows(key, self._say.open, values)
        if not rows:
            return None
        size, version, whole, part = rows[0]
        if whole is not None or len(part) == size:
            reader: ValueReader = BufferReader(part if whole is None else whole)
            reader.version = version
            return reader
        start = 0 if first is None else first.within(size)[0]
        read = partial(self._parts, key, version)
        return RowReader(self, key, size, version, start, part, read)

    def _parts(self, key: str, version: str, starts: list[int], lengths: list[int]) -> list[bytes]:
        """Parts of a version of a value; none if it is there no more."""
        values = (starts, lengths, key, version)
        return [data for (data,) in self._rows(key, self._say.read, values)]

    def exists(self, key: str) -> bool:
        return self.getsize(key) is not None

    def getsize(self, key: str) -> int | None:
        return self._state(key)[0]

    def version(self, key: str) -> str | None:
        return self._state(key)[1]

    def _state(self, key: str) -> tuple[int | None, str | None]:
        self._check(key)
        rows = self._rows(key, self._say.state, (key,))
        return rows[0] if rows else (None, None)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        data = joined(value)
        self._check_size(key, data)
        self._write(key, self._say.set, (key, data))

    def _check_size(self, key: str, data: bytes) -> None:
        if len(data) > _LARGEST:
            raise StoreError(
                f"a value of {len(data):,} bytes; PostgreSQL has values of at most {_LARGEST:,}: "
                "make the chunks or shards smaller",
                self,
                key,
            )

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys with one statement, so all or none of them."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        if names:
            self._remove(names[0], self._say.erase, (names,))

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix with one statement."""
        self._check_prefix_to_change(prefix)
        words = self._say.erase_all if not prefix else self._say.erase_below
        self._remove(prefix, words, _bounds(prefix))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other change of the key.

        Notes
        -----
        The new value is stored if the old one is still there.  If others were faster
        several times, the row is locked, so that everyone else waits for this change.
        """
        self._check_to_change(key)

        def look() -> tuple[bytes | None, str | None]:
            rows = self._rows(key, self._say.look_at, (key,))
            return rows[0] if rows else (None, None)

        def swap(seen: str | None, new: bytes | None) -> bool:
            if new is None:
                return bool(self._write(key, self._say.erase_version, (key, seen), again=False))
            self._check_size(key, new)
            if seen is None:
                return bool(self._write(key, self._say.insert, (key, new), again=False))
            return bool(self._write(key, self._say.swap, (new, key, seen), again=False))

        with key_lock(self.url, key):
            for _ in range(_TRIES):
                if change_freely(change, look, swap) or self._change_locked(key, change):
                    return
        raise StoreError("others make and erase the key again and again", self, key)

    def _change_locked(self, key: str, change: Change) -> bool:
        """Change a value whose row nobody else can change meanwhile; False if there is none."""

        def work() -> bool:
            connections: Connections = self._opened()
            with connections.taken() as connection, connection.transaction():
                cursor = connection.cursor(binary=True)
                row = cursor.execute(self._say.lock, (key,)).fetchone()
                if row is None:
                    return False
                value = change(BufferReader(row[0]))
                if value is None:
                    cursor.execute(self._say.erase, ([key],))
                elif not isinstance(value, ValueReader):
                    data = joined(value)
                    self._check_size(key, data)
                    cursor.execute(self._say.set, (key, data))
                return True

        return self.ask(key, StoreError, "written", work, again=False)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        words = self._say.list_all if not prefix else self._say.list_below
        rows = self._rows(prefix, words, _bounds(prefix), "listed")
        return (key for (key,) in rows if is_key(key))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        words = self._say.children
        first, end = _bounds(prefix) or ("", None)
        values = {"prefix": first, "end": end, "skip": len(prefix) + 1}
        rows = self._rows(prefix, words, values, "listed")
        keys: list[str] = []
        prefixes: list[str] = []
        for (key,) in rows:
            head, slash, _ = key[len(prefix) :].partition("/")
            if is_key(prefix + head):
                (prefixes if slash else keys).append(prefix + head + slash)
        return keys, prefixes


def _bounds(prefix: str) -> tuple[str, ...]:
    """The first key below a prefix, and what comes after the last: "0" follows "/"."""
    return (prefix, f"{prefix[:-1]}0") if prefix else ()
