"""Files in file systems of fsspec: put, replaced, with the directories above them."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from errno import ENAMETOOLONG
from stat import S_ISDIR, S_ISREG
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_stores.fsspec_traits import Traits

PARTIAL = ".zarr-partial"
_ATTEMPTS = 20
_NAME_LIMIT = 255  # bytes


def put(fs: Any, traits: Traits, path: str, data: bytes) -> None:
    """Write a file, in directories that others may remove while they are empty."""
    if not traits.directories:
        fs.pipe_file(path, data)
        return
    above, _, name = path.rpartition("/")
    there = False
    for attempt in range(1, _ATTEMPTS + 1):
        target = path
        if traits.renames:
            target = f"{above}/.{name[:60]}.{uuid.uuid4().hex}{PARTIAL}"
        try:
            fs.pipe_file(target, data)
            if target != path:
                _replace(fs, traits, target, path)
            return
        except Exception as error:
            if target != path:
                with suppress(Exception):
                    fs.rm_file(target)
            if len(name.encode()) > _NAME_LIMIT:  # not every server says so
                raise OSError(ENAMETOOLONG, "the name is too long", path) from error
            if isinstance(error, IsADirectoryError | NotADirectoryError) or attempt == _ATTEMPTS:
                raise
            # Which error says that the directory is missing is up to the file system; if it is
            # there, another thread may just have made it.
            if _kind(fs, above) == "directory":
                if there and not isinstance(error, FileNotFoundError):
                    raise
                there = True
                continue
        _make_directories(fs, above)


def remove(fs: Any, traits: Traits, path: str, top: int) -> None:
    """Remove a file, with directories above it that become empty.

    Parameters
    ----------
    fs, traits
        The file system.
    path : str
        The file; if there is none, nothing is done.
    top : int
        Directories with a path as short as this stay.
    """
    try:
        fs.rm_file(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return
    except Exception:  # which error says that there is no file is up to the file system
        if _kind(fs, path) == "file":
            raise
        return
    above = path.rpartition("/")[0]
    while traits.directories and len(above) > top:
        try:
            fs.rmdir(above)
        except Exception:  # most of all because something is in it
            return
        above = above.rpartition("/")[0]


def objection(base: str, path: str) -> str:
    """Why a local path is not to be followed; empty if it is.

    Parameters
    ----------
    base : str
        The directory of the store.
    path : str
        The path of a key in it, or of a directory.
    """
    root = os.path.realpath(base)
    real = os.path.realpath(path)
    if real != root and not real.startswith(f"{root.rstrip('/')}/"):
        return "a symbolic link leads out of the store"
    try:
        mode = os.stat(real).st_mode
    except OSError:  # who asks for it is told
        return ""
    if S_ISREG(mode) or S_ISDIR(mode):
        return ""
    return "this is no file but a pipe, a socket or a device"


def drop_cached(fs: Any, path: str) -> None:
    """Remove a file from a cache that was perhaps not fetched whole."""
    with suppress(Exception):
        local = fs._check_file(path)  # noqa: SLF001 - caches of fsspec have no public name for it
        if isinstance(local, str):
            os.remove(local)


def _replace(fs: Any, traits: Traits, source: str, target: str) -> None:
    if traits.local:
        os.replace(source, target)  # fsspec would move it into a directory of that name
    else:
        fs.mv(source, target)


def listed(fs: Any, path: str) -> list[Mapping[str, Any]]:
    """What is in a directory; nothing if it is a file, which some list as if it were in itself."""
    entries: list[Mapping[str, Any]] = fs.ls(path, detail=True)
    if len(entries) == 1 and _last(entries[0]["name"]) == _last(path) and _kind(fs, path) == "file":
        return []
    return entries


def found(fs: Any, path: str) -> list[str]:
    """All files below a directory; not the empty ones that some tools put where others lie."""
    files: dict[str, Mapping[str, Any]] = fs.find(path, detail=True)
    empty = {name for name, info in files.items() if not info.get("size")}
    above = {part for name in files for part in _above(name, path)} if empty else set()
    return [name for name in files if name not in empty or name not in above]


def _above(name: str, path: str) -> Iterator[str]:
    """The directories of a file below another one."""
    while (slash := name.rfind("/")) > len(path):
        name = name[:slash]
        yield name


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _kind(fs: Any, path: str) -> str:
    try:
        return str(fs.info(path)["type"])
    except FileNotFoundError:
        return ""


def _make_directories(fs: Any, path: str) -> None:
    missing = []
    while path and not fs.exists(path):
        missing.append(path)
        path = path.rpartition("/")[0]
    for one in reversed(missing):
        with suppress(FileExistsError):
            fs.mkdir(one, create_parents=False)
