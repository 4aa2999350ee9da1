"""Operations on files and directories of fsspec file systems."""

from __future__ import annotations

import os
import uuid
from contextlib import suppress
from errno import ENAMETOOLONG
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarr_core.extension import StoreKeyError, encode_key
from zarr_core.messages import log

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from zarr_stores.fsspec.traits import Traits

PARTIAL = ".zarr-partial"
_ATTEMPTS = 20
_NAME_LIMIT = 255  # bytes


def path_in(fs: Any, traits: Traits, base: str, key: str) -> str:
    """Return the path of a key."""
    encode_key(key)
    path = base + (quote(key, safe="/~!$&'()*+,;=:@") if traits.http else key)
    if fs._strip_protocol(path) != path or (traits.s3 and "?versionId=" in key):  # noqa: SLF001 - fsspec's, for this
        raise StoreKeyError(f"is not a file name for the file system {type(fs).__name__}", key=key)
    return path


def write_file(fs: Any, traits: Traits, path: str, data: bytes) -> None:
    """Write a file and create its directories, which others may remove while they are empty."""
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
                fs.mv(target, path)
            return
        except Exception as error:
            if target != path:
                with suppress(Exception):
                    fs.rm_file(target)
            if len(name.encode()) > _NAME_LIMIT:  # some servers do not report it
                raise OSError(ENAMETOOLONG, "the name is too long", path) from error
            if isinstance(error, IsADirectoryError | NotADirectoryError) or attempt == _ATTEMPTS:
                raise
            # File systems raise different errors if the directory is missing.  If it exists,
            # another thread may just have created it.
            if _type_of(fs, above) == "directory":
                if there and not isinstance(error, FileNotFoundError):
                    raise
                there = True
                continue
        log("retries", "%r: the directory does not exist; creating it", above)
        _make_directories(fs, above)


def remove_file(fs: Any, traits: Traits, path: str, top: int) -> None:
    """Remove a file, and the directories above it that become empty."""
    try:
        fs.rm_file(path)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return
    except Exception:  # file systems raise different errors if the file is missing
        if _type_of(fs, path) == "file":
            raise
        return
    above = path.rpartition("/")[0]
    while traits.directories and len(above) > top:
        try:
            fs.rmdir(above)
        except Exception:  # usually because it is not empty
            return
        above = above.rpartition("/")[0]


def drop_cached(fs: Any, path: str) -> None:
    """Remove a possibly incomplete file from the cache of fsspec."""
    with suppress(Exception):
        local = fs._check_file(path)  # noqa: SLF001 - caches of fsspec have no public name for it
        if isinstance(local, str):
            os.remove(local)


def list_directory(fs: Any, path: str) -> list[Mapping[str, Any]]:
    """Return the entries of a directory; none for a file, which some file systems list."""
    entries: list[Mapping[str, Any]] = fs.ls(path, detail=True)
    if (
        len(entries) == 1
        and _basename(entries[0]["name"]) == _basename(path)
        and _type_of(fs, path) == "file"
    ):
        return []
    return entries


def find_files(fs: Any, path: str) -> list[str]:
    """Return all files below a directory, without the empty markers of directories."""
    files: dict[str, Mapping[str, Any]] = fs.find(path, detail=True)
    empty = {name for name, info in files.items() if not info.get("size")}
    above = {part for name in files for part in _parents(name, path)} if empty else set()
    return [name for name in files if name not in empty or name not in above]


def _parents(name: str, path: str) -> Iterator[str]:
    """Iterate over the directories between a file and ``path``."""
    while (slash := name.rfind("/")) > len(path):
        name = name[:slash]
        yield name


def _basename(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _type_of(fs: Any, path: str) -> str:
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
