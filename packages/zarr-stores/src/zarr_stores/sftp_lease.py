"""Excluding other clients of an SFTP server, which has no locks, from one file.

A lock is a file that only one can make.  Who made it changes it now and then, which shows
that it lives; who sees the same content for long enough, by a clock of its own, takes the
file away, under a name that only one can give.
"""

from __future__ import annotations

import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from asyncssh import FXF_READ, FXF_WRITE, SFTPError, SFTPNoSuchFile

from zarr_stores.sftp_files import beside, create_locked, part_of, remove
from zarr_stores.sftp_link import sleep

if TYPE_CHECKING:
    from asyncssh import SFTPClient

    from zarr_stores.sftp_directory import Directory

_LONGEST_PAUSE = 0.5


class Lease:
    """The right to change a file, as long as it is renewed.

    Parameters
    ----------
    directory : Directory
        The directory of the store.
    path : bytes
        The file.
    seconds : float
        How long the right lasts if it cannot be renewed; others wait twice as long.
    """

    def __init__(self, directory: Directory, path: bytes, seconds: float) -> None:
        self._directory = directory
        self._path = beside(path, b"lease")
        self._seconds = seconds
        self._token = secrets.token_hex(16).encode()
        self._renewed = 0.0
        self._renewals = 0
        self._task: Any = None

    @property
    def holds(self) -> bool:
        """Whether nobody else can have the right now."""
        return time.monotonic() - self._renewed < self._seconds

    async def acquire(self, client: SFTPClient) -> None:
        """Wait for the right, then renew it until it is released."""
        await self._directory.check(client, self._path.rpartition(b"/")[0])
        pause = 0.01
        seen, since = b"", time.monotonic()
        while True:
            began = time.monotonic()
            if await create_locked(client, self._directory.root, self._path, self._content()):
                break
            content = await self._read(client)
            if content.startswith(self._token):  # before the connection was lost
                break
            if content != seen:
                seen, since = content, time.monotonic()
            elif content and time.monotonic() - since > 2 * self._seconds:
                await self._take_away(client, content)
                continue
            await sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 1.5)
        self._renewed = began
        self._task = self._directory.link.begin(self._renew())

    def _content(self) -> bytes:
        return b"%s %08d" % (self._token, self._renewals)

    async def _read(self, client: SFTPClient) -> bytes:
        """What is in the lock; nothing if there is none any more."""
        try:
            async with client.open(self._path, FXF_READ, encoding=None) as file:
                content = await part_of(file, 0, 64)
                if content:
                    return content
            # Nobody has written into it yet, or will.
            return b"empty-%d" % ((await client.lstat(self._path)).mtime or 0)
        except SFTPNoSuchFile:
            return b""

    async def _take_away(self, client: SFTPClient, content: bytes) -> None:
        """Take a lock away whose owner has gone."""
        # The name is that of the owner: who comes late, when there is a new lock already,
        # cannot give it a second time.  So it has to stay.
        with suppress(SFTPError):
            await client.rename(self._path, beside(self._path, content.split()[0]))

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
        """Let the next one have the right."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self.holds:
            self._renewed = 0.0
            # It may have been the last in its directory.
            await remove(client, self._directory.root, self._path)
