"""Operations on files of an SFTP server, as coroutines."""

from __future__ import annotations

import secrets
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from asyncssh import (
    FILEXFER_TYPE_DIRECTORY,
    FILEXFER_TYPE_REGULAR,
    FILEXFER_TYPE_SYMLINK,
    FXF_CREAT,
    FXF_EXCL,
    FXF_READ,
    FXF_WRITE,
    SFTPError,
    SFTPFailure,
    SFTPNoSuchFile,
    SFTPPermissionDenied,
)
from zarr_core.tools import log

from zarr_stores.sftp_link import UnusableError, extend_timeout, gather

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from asyncssh import SFTPAttrs, SFTPClient, SFTPClientFile

# The same as in ``LocalStore``; such names are not keys.
PARTIAL: Final = b".zarr-partial"
_SUFFIXES: Final = (PARTIAL, b".zarr-lock")
_NAME_LIMIT: Final = 100
_ATTEMPTS: Final = 100
_AT_ONCE: Final = 64  # number of concurrent operations


def is_reserved(name: bytes) -> bool:
    """Return whether a name is that of a temporary file or a lock, which is not a key."""
    return name.endswith(_SUFFIXES) and name.startswith(b".")


def temporary_path(path: bytes, ending: bytes) -> bytes:
    """Return the path of a temporary file in the directory of ``path``."""
    directory, _, name = path.rpartition(b"/")
    if len(name) > _NAME_LIMIT:  # file names have at most 255 bytes
        name = b"%s~%08x" % (name[:20], zlib.crc32(name))
    return b"%s/.%s.%s%s" % (directory, name, ending, PARTIAL)


# --- reading ---


async def open_to_read(client: SFTPClient, path: bytes) -> tuple[SFTPClientFile, SFTPAttrs] | None:
    """Open a regular file; return None if it does not exist.

    Returns
    -------
    file, attributes
        The attributes of the path; of a symbolic link, those of the link itself.
    """
    # Two requests in one round trip.
    opened, attributes = await gather(
        client.open(path, FXF_READ, encoding=None), client.lstat(path), return_exceptions=True
    )
    if isinstance(opened, BaseException):
        if isinstance(opened, SFTPNoSuchFile) and isinstance(attributes, SFTPNoSuchFile):
            return None
        if not isinstance(attributes, BaseException):
            if attributes.type == FILEXFER_TYPE_SYMLINK:
                raise UnusableError("a symbolic link is broken or circular")
            if isinstance(opened, SFTPNoSuchFile):  # created between the two requests
                return await open_to_read(client, path)
        raise opened
    try:
        if isinstance(attributes, BaseException):
            raise attributes
        if attributes.type not in (FILEXFER_TYPE_REGULAR, FILEXFER_TYPE_SYMLINK):
            raise UnusableError("not a regular file")
    except BaseException:
        await opened.close()
        raise
    return opened, attributes


async def part_of(file: SFTPClientFile, start: int, length: int) -> bytes:
    """Read a part of a file, up to the end of the file."""
    extend_timeout(length)
    part: Any = await file.read(length, start)
    return part  # type: ignore[no-any-return]  # bytes, since it has no encoding


async def size_and_part(file: SFTPClientFile, start: int, length: int) -> tuple[int, bytes]:
    """Return the size of a file and a part of it."""
    attributes, part = await gather(file.stat(), part_of(file, start, length))
    if attributes.type != FILEXFER_TYPE_REGULAR:
        raise UnusableError("not a regular file")
    return attributes.size or 0, part


# --- writing ---


async def write_partial(
    client: SFTPClient, root: bytes, path: bytes, data: bytes, *, sync: bool
) -> bytes:
    """Write a temporary file in the same directory and return its path."""
    partial = temporary_path(path, b"x" + secrets.token_hex(8).encode())
    file = await _create(client, root, partial)
    try:
        try:
            extend_timeout(len(data))
            await file.write(data)
            if sync:
                await file.fsync()
        finally:
            await file.close()
    except BaseException:
        with suppress(SFTPError):
            await client.remove(partial)
        raise
    return partial


async def _create(client: SFTPClient, root: bytes, path: bytes) -> SFTPClientFile:
    for attempt in range(_ATTEMPTS):
        try:
            return await client.open(path, FXF_WRITE | FXF_CREAT | FXF_EXCL, encoding=None)
        except SFTPNoSuchFile:
            if attempt and not await _can_have(client, path.rpartition(b"/")[0]):
                raise UnusableError("a file exists where a directory is required") from None
            if attempt:
                log("retries", "%r: the directory was removed; creating it again", path)
            await make_directories(client, root, path.rpartition(b"/")[0])
    raise UnusableError("the directory is removed repeatedly by another client")


async def create_exclusive(client: SFTPClient, root: bytes, path: bytes, data: bytes) -> bool:
    """Create a file unless it exists; return whether it was created."""
    try:
        file = await _create(client, root, path)
    except SFTPFailure:
        return False
    try:
        await file.write(data)
    finally:
        await file.close()
    return True


async def _can_have(client: SFTPClient, directory: bytes) -> bool:
    """Return whether all existing parents of a directory are directories."""
    while directory:
        try:
            return (await client.stat(directory)).type == FILEXFER_TYPE_DIRECTORY
        except SFTPNoSuchFile:
            directory = directory.rpartition(b"/")[0]
    return True


async def make_directories(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Create a directory and its missing parents."""
    missing = [path]
    while True:
        above = missing[-1].rpartition(b"/")[0]
        if not above or await client.exists(above):
            break
        missing.append(above)
    refused = await gather(*map(client.mkdir, reversed(missing)), return_exceptions=True)
    for error in refused:  # an existing directory is reported as SFTPFailure
        if isinstance(error, BaseException) and not isinstance(error, SFTPFailure | SFTPNoSuchFile):
            raise error


async def publish(client: SFTPClient, partial: bytes, path: bytes) -> None:
    """Rename a temporary file to its final path."""
    try:
        await client.posix_rename(partial, path)
    except BaseException as error:
        with suppress(SFTPError):
            await client.remove(partial)
        if isinstance(error, SFTPFailure) and await client.isdir(path):
            raise UnusableError(
                "a directory exists at the path of the value; erase_prefix removes it"
            ) from error
        raise


async def remove(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Remove a file, and the directories that become empty."""
    try:
        await client.remove(path)
    except SFTPNoSuchFile:
        return
    except (SFTPFailure, SFTPPermissionDenied) as error:
        if await client.isdir(path):
            raise UnusableError(
                "the path is a directory, not a value; erase_prefix removes it"
            ) from error
        raise
    await remove_empty_directories(client, root, path.rpartition(b"/")[0])


async def remove_empty_directories(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Remove a directory and its parents below the root if they are empty."""
    while len(path) > len(root):
        try:
            await client.rmdir(path)
        except SFTPError:
            return
        path = path.rpartition(b"/")[0]


# --- directories ---


async def entries(client: SFTPClient, path: bytes) -> list[tuple[bytes, int]]:
    """Return names and types of the entries of a directory; none if it does not exist."""
    try:
        found = [entry async for entry in client.scandir(path)]
    except (SFTPNoSuchFile, SFTPFailure):
        if await client.isdir(path):
            raise
        return []
    named = [(_bytes(entry.filename), entry.attrs.type) for entry in found]
    return [(name, kind) for name, kind in named if name not in (b".", b"..")]


def _bytes(name: bytes | str) -> bytes:
    return name if isinstance(name, bytes) else name.encode()


async def walk(top: bytes, look: Callable[[bytes], Awaitable[Any]]) -> list[tuple[bytes, Any]]:
    """Call ``look`` for a directory and all directories below it; return the results.

    Parameters
    ----------
    top : bytes
        Path of the directory.
    look : callable
        Takes a path; returns a sequence whose last item is the list of the paths of the
        subdirectories.
    """
    results: list[tuple[bytes, Any]] = []
    left: list[bytes] = [top]
    while left:
        some, left = left[-_AT_ONCE:], left[:-_AT_ONCE]
        for path, found in zip(some, await gather(*map(look, some)), strict=True):
            results.append((path, found))
            left.extend(found[-1])
    return results


async def remove_tree(client: SFTPClient, top: bytes, *, keep_top: bool) -> None:
    """Remove a file or directory tree; symbolic links are removed, not followed."""

    async def look(path: bytes) -> tuple[list[bytes], list[bytes]]:
        found = [(b"%s/%s" % (path, name), kind) for name, kind in await entries(client, path)]
        return (
            [name for name, kind in found if kind != FILEXFER_TYPE_DIRECTORY],
            [name for name, kind in found if kind == FILEXFER_TYPE_DIRECTORY],
        )

    with suppress(SFTPNoSuchFile):
        if (await client.lstat(top)).type != FILEXFER_TYPE_DIRECTORY:
            await client.remove(top)
            return
        directories = await walk(top, look)
        files = [path for _, (here, _) in directories for path in here]
        await _each(client.remove, files)
        for path, _ in reversed(directories):  # deepest first
            if path != top or not keep_top:
                with suppress(SFTPFailure):  # not empty, because of a concurrent write
                    await client.rmdir(path)


async def _each(work: Callable[[bytes], Awaitable[None]], paths: Iterable[bytes]) -> None:
    """Apply a function to many paths concurrently; missing files are ignored."""
    paths = list(paths)
    for first in range(0, len(paths), _AT_ONCE):
        some = map(work, paths[first : first + _AT_ONCE])
        for error in await gather(*some, return_exceptions=True):
            if isinstance(error, BaseException) and not isinstance(error, SFTPNoSuchFile):
                raise error
