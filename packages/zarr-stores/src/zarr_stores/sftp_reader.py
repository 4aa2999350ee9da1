"""Reading parts of one file on an SFTP server."""

from __future__ import annotations

import asyncio
import weakref
from typing import TYPE_CHECKING

from zarr_core.extension import StoreReadError, ValueReader, ValueReplacedError

from zarr_stores.sftp_files import part_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from asyncssh import SFTPClient, SFTPClientFile

    from zarr_stores.sftp import SFTPStore
    from zarr_stores.sftp_link import Link


class FileReader(ValueReader):
    """An open file: the same one, whatever is renamed to its path meanwhile.

    Parameters
    ----------
    store, key
        Where it is.
    link, file
        The connection that has it open; the file.
    size : int
        Length of the value.
    start, held : int, bytes
        A part that is here already.
    """

    def __init__(
        self,
        store: SFTPStore,
        key: str,
        link: Link,
        file: SFTPClientFile,
        size: int,
        start: int,
        held: bytes,
    ) -> None:
        self._store, self._key = store, key
        self._link, self._file = link, file
        self._size = size
        self._start, self._held = start, memoryview(held)
        self.requests = store.requests
        self._closing = weakref.finalize(self, link.begin_soon, file.close)

    @property
    def size(self) -> int:
        return self._size

    def read_into(self, parts: Sequence[tuple[int, memoryview]]) -> None:
        asked = []
        for start, buffer in parts:
            end = start + len(buffer)
            if start < 0 or end > self._size:
                raise StoreReadError(
                    f"bytes {start} to {end} of a value of {self._size} bytes",
                    self._store,
                    self._key,
                )
            if self._start <= start and end <= self._start + len(self._held):
                buffer[:] = self._held[start - self._start : end - self._start]
            elif buffer:
                asked.append((start, buffer))
        if not asked:
            return

        async def read(_: SFTPClient) -> list[bytes]:
            parts = (part_of(self._file, start, len(buffer)) for start, buffer in asked)
            return await asyncio.gather(*parts)

        found = self._store.ask(
            self._key, ValueReplacedError, "read", lambda: self._link.run(read), again=False
        )
        for (_, buffer), data in zip(asked, found, strict=True):
            if len(data) != len(buffer):
                raise StoreReadError("the file has become shorter", self._store, self._key)
            buffer[:] = data

    def close(self) -> None:
        self._closing()
