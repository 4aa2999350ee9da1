"""Leases of files on an SFTP server, because the protocol has no locks.

A lease is a file that only one client can create.  Its owner renews it by changing its content
regularly.  If a client sees the same content for long enough, by its own clock, it renames
the file to a name that only one client can use, which removes the lease.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from asyncssh import FXF_READ, FXF_WRITE, SFTPError, SFTPNoSuchFile
from zarr_core.tools import log

from zarr_stores.sftp_files import create_exclusive, part_of, remove, temporary_path
from zarr_stores.sftp_link import sleep

if TYPE_CHECKING:
    from asyncssh import SFTPClient

    from zarr_stores.sftp_directory import Directory

_LONGEST_PAUSE = 0.5


class Lease:
    """The exclusive right to change a file, which must be renewed.

    Parameters
    ----------
    directory : Directory
        The directory of the store.
    path : bytes
        Path of the file.
    seconds : float
        Duration of the lease without renewal; other clients wait twice as long.
    """

    def __init__(self, directory: Directory, path: bytes, seconds: float) -> None:
        self._directory = directory
        self._path = temporary_path(path, b"lease")
        self._seconds = seconds
        self._token = secrets.token_hex(16).encode()
        self._renewed = 0.0
        self._renewals = 0
        self._task: Any = None

    @property
    def holds(self) -> bool:
        """Whether the lease is valid."""
        return time.monotonic() - self._renewed < self._seconds

    async def acquire(self, client: SFTPClient) -> None:
        """Wait for the lease, then renew it until it is released."""
        await self._directory.check(client, self._path.rpartition(b"/")[0])
        pause = 0.01
        seen, since = b"", time.monotonic()
        while True:
            began = time.monotonic()
            if await create_exclusive(client, self._directory.root, self._path, self._content()):
                break
            content = await self._read(client)
            if content.startswith(self._token):  # created before the connection was lost
                break
            if content != seen:
                seen, since = content, time.monotonic()
            elif content and time.monotonic() - since > 2 * self._seconds:
                await self._remove_expired(client, content)
                continue
            await sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
        self._renewed = began
        self._task = self._directory.link.start_task(self._renew())

    def _content(self) -> bytes:
        return b"%s %08d" % (self._token, self._renewals)

    async def _read(self, client: SFTPClient) -> bytes:
        """Return the content of the lease file; empty if the file does not exist."""
        try:
            async with client.open(self._path, FXF_READ, encoding=None) as file:
                content = await part_of(file, 0, 64)
                if content:
                    return content
            # The owner has not written the content yet, or has failed.
            return b"empty-%d" % ((await client.lstat(self._path)).mtime or 0)
        except SFTPNoSuchFile:
            return b""

    async def _remove_expired(self, client: SFTPClient, content: bytes) -> None:
        """Remove the lease of a lost owner."""
        # The new name contains the token of the owner.  It is kept, so that a slow client
        # cannot rename the next lease, which may already exist, to the same name.
        with suppress(SFTPError):
            await client.rename(self._path, temporary_path(self._path, content.split()[0]))
            log("recovery", "%r: lease of a lost client removed", self._path)

    async def _renew(self) -> None:
        while True:
            await sleep(self._seconds / 3)
            with suppress(SFTPError, OSError):
                began = time.monotonic()
                client = await self._directory.link.client()
                if not (await self._read(client)).startswith(self._token):
                    self._renewed = 0.0
                    return
                self._renewals += 1
                async with client.open(self._path, FXF_WRITE, encoding=None) as file:
                    await file.write(self._content(), 0)
                self._renewed = began

    async def release(self, client: SFTPClient) -> None:
        """Release the lease."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self.holds:
            self._renewed = 0.0
            # Also removes the directory if it becomes empty.
            await remove(client, self._directory.root, self._path)
