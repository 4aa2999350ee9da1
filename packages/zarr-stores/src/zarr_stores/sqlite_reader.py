"""A large value of SQLite, read where it lies in the file."""

from __future__ import annotations

import os
import sqlite3
import weakref
from typing import TYPE_CHECKING, cast

from zarr_core.extension import StoreReadError, ValueReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Store

    from zarr_stores.sqlite_connections import Connections

__all__ = ["BlobReader"]


class BlobReader(ValueReader):
    """A value of which parts are read; it has a connection, which is in a transaction.

    Parameters
    ----------
    store, key
        Where it is, for messages.
    blob : sqlite3.Blob
        The value.
    connections : Connections
        Where the connection goes when the reader is closed.
    cursor : sqlite3.Cursor
        Of the connection, nobody else's.
    """

    def __init__(
        self,
        store: Store,
        key: str,
        blob: sqlite3.Blob,
        connections: Connections,
        cursor: sqlite3.Cursor,
    ) -> None:
        self._store = store
        self._key = key
        self._blob = blob
        self._size = len(blob)
        self.cursor = cursor
        """Of the connection."""
        self.reads = False
        """Whether a thread is reading just now."""
        connections.readers[id(self)] = weakref.ref(self)
        self._closing = weakref.finalize(
            self, _end_reading, os.getpid(), id(self), blob, connections, cursor
        )

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                raise StoreReadError(
                    f"bytes {start} to {end} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
            if buffer:
                self.reads = True
                try:
                    part = cast("bytes", self._blob[start:end])
                except sqlite3.Error as error:
                    raise StoreReadError(str(error), self._store, self._key) from error
                finally:
                    self.reads = False
                buffer[:] = part

    def close(self) -> None:
        self.reads = True
        self._closing()
        self.reads = False


def _end_reading(
    process: int,
    reader: int,
    blob: sqlite3.Blob,
    connections: Connections,
    cursor: sqlite3.Cursor,
) -> None:
    if process != os.getpid():
        connections.keep_inherited(cursor, blob)
        return
    connections.readers.pop(reader, None)
    blob.close()
    cursor.execute("COMMIT")
    connections.idle.append(cursor)
