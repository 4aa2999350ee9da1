"""Directory trees: what is really below a root."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from zarr_core.stores.local_write import LOCK, is_ours, remove_leftover

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMEMBERED = 100_000
_VISITS = 4


class Boundary:
    """The directories below a root, as prefixes of keys, without those that links lead out to.

    Parameters
    ----------
    root : str
        Absolute path that ends in ``/``.
    follow_links : bool
        Let links lead anywhere.
    """

    __slots__ = ("_real", "follow_links", "known", "root")

    def __init__(self, root: str, follow_links: bool) -> None:
        self.root = root
        self.follow_links = follow_links
        self.known = {""}
        """Prefixes found to be inside; read by the store on its fastest path."""
        self._real: str | None = None

    def contains(self, prefix: str) -> bool:
        """Whether a prefix is a directory inside, or not there at all."""
        known = self.known
        end = 0
        while (end := prefix.find("/", end) + 1) > 0:
            part = prefix[:end]
            if part in known:
                continue
            path = self.root + part[:-1]
            try:
                is_link = stat.S_ISLNK(os.lstat(path).st_mode)
            except (FileNotFoundError, NotADirectoryError):
                return True
            if is_link and self.real_path(path) is None:
                return False
            if len(known) > _REMEMBERED:
                known.clear()
                known.add("")
            known.add(part)
        return True

    def real_path(self, path: str) -> str | None:
        """Where a link leads; None if out of the root, in a circle, or nowhere."""
        try:
            real = os.path.realpath(path, strict=True)
        except OSError:
            return None
        if self._real is None:
            self._real = os.path.join(os.path.realpath(self.root), "")
        return real if self.follow_links or f"{real}/".startswith(self._real) else None

    def scan(self, prefix: str) -> tuple[list[str], list[str]]:
        """Keys and prefixes directly below a prefix.

        A link back to a directory above is neither: who went through it would never end.
        """
        keys: list[str] = []
        prefixes: list[str] = []
        try:
            with os.scandir(self.root + prefix) as entries:
                for entry in entries:
                    name = entry.name
                    if "\\" in name:  # no part of a key
                        continue
                    if entry.is_file(follow_symlinks=False):
                        if not (name[0] == "." and is_ours(name)):
                            keys.append(prefix + name)
                    elif entry.is_dir(follow_symlinks=False):
                        prefixes.append(f"{prefix}{name}/")
                    elif not entry.is_symlink() or not self._is_directory_inside(entry.path):
                        keys.append(prefix + name)
                    elif not self._leads_back(prefix + name):
                        prefixes.append(f"{prefix}{name}/")
        except (FileNotFoundError, NotADirectoryError):
            pass  # what is not there, or no longer, holds nothing
        return keys, prefixes

    def _is_directory_inside(self, path: str) -> bool:
        real = self.real_path(path)
        return real is not None and os.path.isdir(real)

    def walk(self, prefix: str) -> Iterator[str]:
        """All keys below a prefix."""
        stack = [prefix]
        while stack:
            keys, prefixes = self.scan(stack.pop())
            yield from keys
            stack += prefixes

    def _leads_back(self, link: str) -> bool:
        above = self.root + link
        target = os.path.realpath(above)
        while len(above) > len(self.root):
            above = os.path.dirname(above)
            if os.path.realpath(above) == target:
                return True
        return False


def remove_tree(top: str, *, keep_top: bool) -> None:
    """Remove what is below a directory; links are removed, never followed.

    What others write there meanwhile may survive.
    """
    stack = [(top, 0)]
    while stack:
        path, visits = stack.pop()
        below = _remove_files(path)
        if visits == 0:
            stack.append((path, visits + 1))
            stack += ((directory, 0) for directory in below)
        elif path != top or not keep_top:
            try:
                os.rmdir(path)
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                if visits < _VISITS:
                    stack.append((path, visits + 1))
                    stack += ((directory, 0) for directory in below)


def _remove_files(path: str) -> list[str]:
    """Remove the files of a directory; return the directories in it."""
    below: list[str] = []
    try:
        with os.scandir(path) as entries:
            found = list(entries)
    except FileNotFoundError:
        return below
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            below.append(entry.path)
            continue
        with suppress(FileNotFoundError):
            if entry.name.endswith(LOCK) and is_ours(entry.name):
                remove_leftover(entry.path, 0.0)
            else:
                os.unlink(entry.path)
    return below


def remove_leftovers(top: str, older_than: float) -> int:
    """Remove what killed processes left below a directory; return how many files."""
    count = 0
    stack = [top]
    while stack:
        try:
            with os.scandir(stack.pop()) as entries:
                found = list(entries)
        except (FileNotFoundError, NotADirectoryError):
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
            elif is_ours(entry.name):
                count += remove_leftover(entry.path, older_than)
    return count


def move_tree(old: str, new: str) -> bool:
    """Rename a directory; False if it is none, is a link, or something is at its new place."""
    if os.path.islink(old) or not os.path.isdir(old):
        return False
    os.makedirs(os.path.dirname(new), exist_ok=True)
    try:
        os.rename(old, new)  # an empty directory at the new place is replaced
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            return False
        raise
    return True
