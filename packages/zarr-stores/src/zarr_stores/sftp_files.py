"""What is done to files on an SFTP server, as coroutines."""

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

from zarr_stores.sftp_link import UnusableError, allow, gather

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from asyncssh import SFTPAttrs, SFTPClient, SFTPClientFile

# As those of a directory that is used without a server; nobody takes them for keys.
PARTIAL: Final = b".zarr-partial"
_SUFFIXES: Final = (PARTIAL, b".zarr-lock")
_NAME_LIMIT: Final = 100
_ATTEMPTS: Final = 100
_AT_ONCE: Final = 64  # directories that are read at the same time


def is_ours(name: bytes) -> bool:
    """Whether a file name is that of an unfinished file or of a lock: never a key."""
    return name.endswith(_SUFFIXES) and name.startswith(b".")


def beside(path: bytes, ending: bytes) -> bytes:
    """Path of a file of ours in the directory of ``path``."""
    directory, _, name = path.rpartition(b"/")
    if len(name) > _NAME_LIMIT:  # stay below the 255 bytes that a name may have
        name = b"%s~%08x" % (name[:20], zlib.crc32(name))
    return b"%s/.%s.%s%s" % (directory, name, ending, PARTIAL)


# --- reading ---


async def open_to_read(client: SFTPClient, path: bytes) -> tuple[SFTPClientFile, SFTPAttrs] | None:
    """Open a regular file; None if there is nothing.

    Returns
    -------
    file, attributes
        The attributes are those of the path: of a link, if it is one.
    """
    # Two questions, one wait.
    opened, attributes = await gather(
        client.open(path, FXF_READ, encoding=None), client.lstat(path), return_exceptions=True
    )
    if isinstance(opened, BaseException):
        if isinstance(opened, SFTPNoSuchFile) and isinstance(attributes, SFTPNoSuchFile):
            return None
        if not isinstance(attributes, BaseException):
            if attributes.type == FILEXFER_TYPE_SYMLINK:
                raise UnusableError("a symbolic link that leads nowhere or in a circle")
            if isinstance(opened, SFTPNoSuchFile):  # it came just now
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
    """A part of a file, which ends where the file ends."""
    allow(length)
    part: Any = await file.read(length, start)
    return part  # type: ignore[no-any-return]  # bytes, since it has no encoding


async def size_and_part(file: SFTPClientFile, start: int, length: int) -> tuple[int, bytes]:
    """Size of a file, and a part of it."""
    attributes, part = await gather(file.stat(), part_of(file, start, length))
    if attributes.type != FILEXFER_TYPE_REGULAR:
        raise UnusableError("not a regular file")
    return attributes.size or 0, part


# --- writing ---


async def write_partial(
    client: SFTPClient, root: bytes, path: bytes, data: bytes, *, sync: bool
) -> bytes:
    """Write a file beside the one that it is to replace; its path."""
    partial = beside(path, b"x" + secrets.token_hex(8).encode())
    file = await _create(client, root, partial)
    try:
        try:
            allow(len(data))
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
                raise UnusableError("a file stands where a directory is needed") from None
            await make_directories(client, root, path.rpartition(b"/")[0])
    raise UnusableError("its directory is removed again and again")


async def create_locked(client: SFTPClient, root: bytes, path: bytes, data: bytes) -> bool:
    """Make a file that is not there yet; whether it was not."""
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
    """Whether there is nothing but directories on the way to one."""
    while directory:
        try:
            return (await client.stat(directory)).type == FILEXFER_TYPE_DIRECTORY
        except SFTPNoSuchFile:
            directory = directory.rpartition(b"/")[0]
    return True


async def make_directories(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Make a directory with those above it, as far as they are missing."""
    missing = [path]
    while True:  # upwards to what is there
        above = missing[-1].rpartition(b"/")[0]
        if not above or await client.exists(above):
            break
        missing.append(above)
    refused = await gather(*map(client.mkdir, reversed(missing)), return_exceptions=True)
    for error in refused:  # that it is there already is no more than a "failure"
        if isinstance(error, BaseException) and not isinstance(error, SFTPFailure | SFTPNoSuchFile):
            raise error


async def publish(client: SFTPClient, partial: bytes, path: bytes) -> None:
    """Let an unfinished file take the place of what it replaces."""
    try:
        await client.posix_rename(partial, path)
    except BaseException as error:
        with suppress(SFTPError):
            await client.remove(partial)
        if isinstance(error, SFTPFailure) and await client.isdir(path):
            raise UnusableError(
                "a directory stands where the value should be; erase_prefix removes it"
            ) from error
        raise


async def remove(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Remove a file with the directories that are empty without it."""
    try:
        await client.remove(path)
    except SFTPNoSuchFile:
        return
    except (SFTPFailure, SFTPPermissionDenied) as error:
        if await client.isdir(path):
            raise UnusableError("a directory, not a value; erase_prefix removes it") from error
        raise
    await remove_empty_directories(client, root, path.rpartition(b"/")[0])


async def remove_empty_directories(client: SFTPClient, root: bytes, path: bytes) -> None:
    """Remove a directory and those above it as long as they are empty, but not the root."""
    while len(path) > len(root):
        try:
            await client.rmdir(path)
        except SFTPError:
            return
        path = path.rpartition(b"/")[0]


# --- directories ---


async def entries(client: SFTPClient, path: bytes) -> list[tuple[bytes, int]]:
    """Names in a directory, each with what it is; none if it is not there."""
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
    """What ``look`` gives for each directory at and below one.

    Parameters
    ----------
    top : bytes
        Path of the directory.
    look : callable
        Gets a path; gives a sequence whose last item are the paths of the directories
        directly below.
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
    """Remove everything at and below a path; links are removed, not followed."""

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
        for path, _ in reversed(directories):  # the deepest first
            if path != top or not keep_top:
                with suppress(SFTPFailure):  # something came meanwhile
                    await client.rmdir(path)


async def _each(work: Callable[[bytes], Awaitable[None]], paths: Iterable[bytes]) -> None:
    """Do something with many paths, some at a time; those that have gone do not matter."""
    paths = list(paths)
    for first in range(0, len(paths), _AT_ONCE):
        some = map(work, paths[first : first + _AT_ONCE])
        for error in await gather(*some, return_exceptions=True):
            if isinstance(error, BaseException) and not isinstance(error, SFTPNoSuchFile):
                raise error
