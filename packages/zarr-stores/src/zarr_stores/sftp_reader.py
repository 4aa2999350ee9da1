"""Reading parts of one file on an SFTP server."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from zarr_core.extension import ValueReplacedError

from zarr_stores._held_reader import HeldReader
from zarr_stores.sftp_files import part_of
from zarr_stores.sftp_link import gather

if TYPE_CHECKING:
    from asyncssh import SFTPClient, SFTPClientFile

    from zarr_stores.sftp import SFTPStore
    from zarr_stores.sftp_link import Link


class FileReader(HeldReader):
    """An open file: the same one, whatever is renamed to its path meanwhile.

    Parameters
    ----------
    store, key
        Where it is.
    size : int
        Length of the value.
    start, held : int, bytes
        A part that is here already.
    link, file
        The connection that has it open; the file.
    """

    def __init__(
        self, store: SFTPStore, key: str, size: int, start: int, held: bytes, link: Link,
        file: SFTPClientFile,
    ) -> None:  # fmt: skip
        super().__init__(store, key, size, [(start, held)])
        self._link, self._file = link, file
        self._closing = weakref.finalize(self, link.begin_soon, file.close)

    def _fetch(self, starts: list[int], lengths: list[int]) -> list[bytes]:
        async def read(_: SFTPClient) -> list[bytes]:
            parts = zip(starts, lengths, strict=True)
            return await gather(*(part_of(self._file, *part) for part in parts))

        return self._store.ask(
            self._key, ValueReplacedError, "read", lambda: self._link.run(read), again=False
        )

    def close(self) -> None:
        self._closing()
