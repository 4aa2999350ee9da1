"""A directory on an SFTP server, with keys as file paths."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from asyncssh import (
    FILEXFER_TYPE_DIRECTORY,
    FILEXFER_TYPE_REGULAR,
    FILEXFER_TYPE_SYMLINK,
    SFTPError,
    SFTPNoSuchFile,
)
from zarr_core.extension import ByteRange

from zarr_stores import sftp_files
from zarr_stores._database import is_key
from zarr_stores.sftp_link import UnusableError, gather

if TYPE_CHECKING:
    from asyncssh import SFTPClient, SFTPClientFile

    from zarr_stores.sftp_lease import Lease
    from zarr_stores.sftp_link import Link

_FIRST: Final = 1 << 16  # bytes that are read by default when a value is opened
_ALL: Final = ByteRange(0)
_OUTSIDE: Final = "a symbolic link points outside the store"


class Directory:
    """A directory on a server; its methods are coroutines for the event loop of the link.

    Parameters
    ----------
    root : bytes
        Path of the directory, without a trailing slash.
    link : Link
        The connection.
    sync : bool
        Whether writes return only after the data is on the disk of the server.
    """

    def __init__(self, root: bytes, link: Link, sync: bool) -> None:
        self.root = root
        self.link = link
        self._sync = sync
        self._real_root: bytes | None = None
        self._known: set[bytes] = {root}  # directories known to be inside the root

    def path(self, key: str) -> bytes:
        """Return the path of a key or prefix."""
        return b"%s/%s" % (self.root, key.rstrip("/").encode()) if key else self.root

    # --- within the root ---

    async def check(self, client: SFTPClient, directory: bytes) -> None:
        """Raise an error if a directory is outside the store because of a symbolic link."""
        while directory not in self._known:
            try:
                if await self._is_inside(client, directory):
                    return
            except SFTPNoSuchFile:  # then its parent directory decides
                directory = directory.rpartition(b"/")[0]
                continue
            raise UnusableError(_OUTSIDE)

    async def _is_inside(self, client: SFTPClient, path: bytes) -> bool:
        if self._real_root is None:
            self._real_root = _bytes(await client.realpath(self.root or b"/"))
        real = _bytes(await client.realpath(path))
        return real == self._real_root or real.startswith(self._real_root.rstrip(b"/") + b"/")

    async def _open(self, client: SFTPClient, key: str) -> tuple[SFTPClientFile, int] | None:
        """Open a value; return its file and its length, or a default if that is unknown."""
        path = self.path(key)
        directory = path.rpartition(b"/")[0]
        await self.check(client, directory)
        found = await sftp_files.open_to_read(client, path)
        if found is None:
            return None
        file, attributes = found
        self._known.add(directory)
        if attributes.type == FILEXFER_TYPE_SYMLINK and not await self._is_inside(client, path):
            self.link.start_task(file.close())
            raise UnusableError(_OUTSIDE)
        size = attributes.size if attributes.type == FILEXFER_TYPE_REGULAR else None
        return file, _FIRST if size is None else size

    # --- reading ---

    async def read(
        self, client: SFTPClient, key: str, part: ByteRange | None = None
    ) -> bytes | None:
        """Return a value or a part of it; None for a missing key."""
        opened = await self.begin(client, key, _ALL if part is None else part)
        if opened is None:
            return None
        file, _, _, data = opened
        self.link.start_task(file.close())
        return data

    async def begin(
        self, client: SFTPClient, key: str, first: ByteRange | None = None
    ) -> tuple[SFTPClientFile, int, int, bytes] | None:
        """Open a value and read a part; return the file, the size, the start and the part."""
        opened = await self._open(client, key)
        if opened is None:
            return None
        file, likely = opened
        try:
            # The size rarely changes after the file is opened, so one round trip is enough.
            start, stop = (0, _FIRST) if first is None else first.within(likely)
            size, data = await sftp_files.size_and_part(file, start, stop - start)
            if first is not None and first.within(size) != (start, stop):
                start, stop = first.within(size)
                data = await sftp_files.part_of(file, start, stop - start)
            return file, size, start, data
        except BaseException:
            self.link.start_task(file.close())
            raise

    async def size(self, client: SFTPClient, key: str) -> int | None:
        """Return the length of a value in bytes; None for a missing key."""
        path = self.path(key)
        await self.check(client, path.rpartition(b"/")[0])
        try:
            attributes = await client.lstat(path)
            if attributes.type == FILEXFER_TYPE_SYMLINK:
                if not await self._is_inside(client, path):
                    raise UnusableError(_OUTSIDE)
                attributes = await client.stat(path)
        except SFTPNoSuchFile:
            return None
        return attributes.size if attributes.type == FILEXFER_TYPE_REGULAR else None

    # --- writing ---

    async def replace(
        self, client: SFTPClient, key: str, data: bytes, lease: Lease | None = None
    ) -> bool:
        """Store a value unless the lease was lost; return whether it was stored."""
        path = self.path(key)
        await self.check(client, path.rpartition(b"/")[0])
        partial = await sftp_files.write_partial(client, self.root, path, data, sync=self._sync)
        if lease is None or lease.holds:
            await sftp_files.publish(client, partial, path)
            return True
        with suppress(SFTPError):
            await client.remove(partial)
        return False

    async def erase(self, client: SFTPClient, key: str, lease: Lease | None = None) -> bool:
        """Remove a value unless the lease was lost; return whether it was removed."""
        path = self.path(key)
        await self.check(client, path.rpartition(b"/")[0])
        if lease is None or lease.holds:
            await sftp_files.remove(client, self.root, path)
            return True
        return False

    async def erase_prefix(self, client: SFTPClient, prefix: str) -> None:
        """Remove everything below a prefix."""
        path = self.path(prefix)
        above = path.rpartition(b"/")[0]
        if prefix:
            await self.check(client, above)
        await sftp_files.remove_tree(client, path, keep_top=not prefix)
        if prefix:
            await sftp_files.remove_empty_directories(client, self.root, above)

    # --- listing ---

    async def keys(self, client: SFTPClient, prefix: str) -> list[str]:
        """Return all keys below a prefix."""
        seen: set[bytes] = set()  # targets of symbolic links to directories

        async def look(path: bytes) -> Any:
            return await self._entries(client, path, seen)

        await self.check(client, self.path(prefix))
        found = await sftp_files.walk(self.path(prefix), look)
        return [self._key(path) for _, (files, _) in found for path in files]

    async def children(self, client: SFTPClient, prefix: str) -> tuple[list[str], list[str]]:
        """Return the keys and prefixes directly below a prefix."""
        await self.check(client, self.path(prefix))
        files, directories = await self._entries(client, self.path(prefix), set())
        return [self._key(path) for path in files], [f"{self._key(it)}/" for it in directories]

    def _key(self, path: bytes) -> str:
        return path[len(self.root) + 1 :].decode()

    async def _entries(
        self, client: SFTPClient, path: bytes, seen: set[bytes]
    ) -> tuple[list[bytes], list[bytes]]:
        """Return the paths of the values and of the directories in a directory."""
        files: list[bytes] = []
        directories: list[bytes] = []
        for name, its in await sftp_files.entries(client, path):
            if sftp_files.is_reserved(name) or not is_key(_text(name)):
                continue
            there, kind = b"%s/%s" % (path, name), its
            if kind == FILEXFER_TYPE_SYMLINK:
                try:
                    real = _bytes(await client.realpath(there))
                    if real in seen or not await self._is_inside(client, there):
                        continue
                    kind = (await client.stat(there)).type
                except SFTPError:  # a broken link
                    continue
                if kind == FILEXFER_TYPE_DIRECTORY:
                    seen.add(real)
            if kind == FILEXFER_TYPE_REGULAR:
                files.append(there)
            elif kind == FILEXFER_TYPE_DIRECTORY:
                directories.append(there)
        return files, directories


def _bytes(path: Any) -> bytes:
    return path if isinstance(path, bytes) else str(path).encode()


def _text(name: bytes) -> str:
    try:
        return name.decode()
    except UnicodeDecodeError:  # not a valid key
        return ""


async def read_all(
    some: list[tuple[str, ByteRange]], directory: Directory, client: SFTPClient
) -> list[bytes | None]:
    """Return parts of several values."""
    return await gather(*(directory.read(client, key, part) for key, part in some))
