"""Reader of parts of a file on an SFTP server."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from zarr_core.extension import ValueReplacedError

from zarr_stores._partial_reader import PartialReader
from zarr_stores.sftp_files import part_of
from zarr_stores.sftp_link import gather

if TYPE_CHECKING:
    from asyncssh import SFTPClient, SFTPClientFile

    from zarr_stores.sftp import SFTPStore
    from zarr_stores.sftp_link import Link


class FileReader(PartialReader):
    """Reader of an open file, which keeps its contents if the path is replaced.

    Parameters
    ----------
    store, key
        Store and key of the value.
    size : int
        Length of the value in bytes.
    start, held : int, bytes
        Start and contents of a part that is in memory.
    link, file
        The connection, and the open file.
    """

    def __init__(
        self, store: SFTPStore, key: str, size: int, start: int, held: bytes, link: Link,
        file: SFTPClientFile,
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, [(start, held)])
        self._link, self._file = link, file
        self._closing = weakref.finalize(self, link.start_task_threadsafe, file.close)

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        async def read(_: SFTPClient) -> list[bytes]:
            parts = zip(starts, lengths, strict=True)
            return await gather(*(part_of(self._file, *part) for part in parts))

        return self._store.request(
            self._key, ValueReplacedError, "read", lambda: self._link.run(read), again=False
        )

    def close(self) -> None:
        self._closing()
