"""Reader of parts of a large value in SQLite."""

from __future__ import annotations

import os
import sqlite3
import weakref
from typing import TYPE_CHECKING, cast

from zarr_core.extension import ByteReader, StoreReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Store

    from zarr_stores.databases.sqlite_connections import Connections

__all__ = ["BlobReader"]


class BlobReader(ByteReader):
    """Reader of a blob, with its own connection in a read transaction."""

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
        self.size = len(blob)
        self.cursor = cursor
        """Cursor of the connection."""
        self.reads = False
        """Whether a thread is reading."""
        connections.readers[id(self)] = weakref.ref(self)
        self._closing = weakref.finalize(
            self, _end_reading, os.getpid(), id(self), blob, connections, cursor
        )

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        for start, buffer in parts:
            end = start + len(buffer)
            self.check_part(start, len(buffer))
            if buffer:
                self.reads = True
                try:
                    part = cast("bytes", self._blob[start:end])
                except sqlite3.Error as error:
                    reason = f"cannot be read: {error}"
                    raise StoreReadError(reason, self._store, self._key) from error
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
