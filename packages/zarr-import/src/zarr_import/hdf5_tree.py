"""Find the objects of an HDF5 file, each once."""

from __future__ import annotations

from collections import deque
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from zarr_import.errors import SourceReadError, UnsupportedSourceError, describe, read_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_EXTERNAL = "refers to another file; pass external=True to follow it if you trust this file"


class Objects:
    """Groups and datasets below a group, each found once, through links.

    An object with several links is found by the hard link with the shortest path; soft and
    external links are followed after that.  Therefore cycles end.  ``external`` tells whether links
    to other files are followed.
    """

    def __init__(self, h5py: Any, root: Any, *, external: bool) -> None:
        self._h5py = h5py
        self._external = external
        self._seen: dict[Any, str] = {}
        self.found: list[tuple[str, Any]] = []  # with paths below the root; parents first
        self.left_out: list[tuple[str, str]] = []  # links that are not followed, with the reasons
        self.problems: list[tuple[str, UnsupportedSourceError]] = []  # objects, by path
        later: list[tuple[str, Any]] = []
        with read_errors(f"{root.file.filename} {root.name}", "the group"):
            self._enter("", root)
        self._walk("", root, later)
        while later:
            path, group = later.pop(0)
            self._follow(path, group, later)
        self.found.sort(key=lambda item: item[0].split("/") if item[0] else [])

    def _walk(self, path: str, group: Any, later: list[tuple[str, Any]]) -> None:
        """Follow hard links, and collect the other links in ``later``."""
        below = deque([(path, group)])
        while below:
            path, group = below.popleft()
            try:
                with read_errors(f"/{path}", "the list of members"):
                    links = [(name, group.get(name, getlink=True)) for name in sorted(group)]
            except SourceReadError as problem:
                if not path:
                    raise
                self.problems.append((path, problem))
                continue
            for name, link in links:
                child = f"{path}/{name}" if path else name
                if not isinstance(link, self._h5py.HardLink):
                    later.append((child, group))
                elif isinstance(node := self._open(child, group, link), self._h5py.Group):
                    below.append((child, node))

    def _follow(self, path: str, group: Any, later: list[tuple[str, Any]]) -> None:
        link = group.get(path.rpartition("/")[2], getlink=True)
        if isinstance(link, self._h5py.ExternalLink) and not self._external:
            self.left_out.append(
                (path, f"a link to {link.filename} {link.path}, which {_EXTERNAL}")
            )
            return
        node = self._open(path, group, link)
        if isinstance(node, self._h5py.Group):
            self._walk(path, node, later)

    def _open(self, path: str, group: Any, link: Any) -> Any:
        """Return the target of a link if it was not found before."""
        try:
            node = group[path.rpartition("/")[2]]
            if isinstance(node, self._h5py.Group | self._h5py.Dataset):
                return node if self._enter(path, node) else None
        except Exception as error:  # h5py raises KeyError, OSError, RuntimeError, ValueError
            if isinstance(link, self._h5py.HardLink):  # the object is part of this file
                reason = f"cannot be opened, the file is damaged ({describe(error)})"
                self.problems.append((path, SourceReadError(f"/{path}", reason)))
            else:
                self.left_out.append((path, f"a broken link ({error})"))
            return None
        self.left_out.append((path, "a named data type, which Zarr does not support"))
        return None

    def _enter(self, path: str, node: Any) -> bool:
        info = self._h5py.h5o.get_info(node.id)
        other = self._seen.setdefault((info.fileno, info.addr), path)
        if other != path:
            self.left_out.append((path, f"another name of /{other}"))
            return False
        self.found.append((path, node))
        return True


class PathFilter:
    """Selects objects by paths below the root, where ``*`` matches anything.

    A matching group includes everything below it.
    """

    def __init__(
        self, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None
    ) -> None:
        self._include = None if include is None else _patterns(include)
        self._exclude = _patterns(() if exclude is None else exclude)

    def __call__(self, path: str) -> bool:
        """Return whether an object is selected."""
        included = self._include is None or _matches(path, self._include)
        return included and not _matches(path, self._exclude)

    def select(self, objects: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return the selected objects with all groups above; ValueError if a pattern matches nothing."""
        objects = [*objects]
        paths = [path for path, _ in objects]
        for pattern in [*(self._include or ()), *self._exclude]:
            if not any(_matches(path, [pattern]) for path in paths):
                raise ValueError(f"{pattern!r} matches nothing; available are {_some(paths)}")
        selected = {path for path in paths if self(path)} | {""}
        for path in [*selected]:
            selected.update(_ancestors(path))
        return [(path, node) for path, node in objects if path in selected]


def _patterns(patterns: str | Iterable[str]) -> list[str]:
    several = [patterns] if isinstance(patterns, str) else patterns
    return [pattern.strip("/") for pattern in several]


def _matches(path: str, patterns: list[str]) -> bool:
    paths = [path, *_ancestors(path)]
    return any(fnmatchcase(each, pattern) for pattern in patterns for each in paths)


def _ancestors(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _some(paths: list[str]) -> str:
    named = [f"/{path}" for path in paths if path]
    return ", ".join(named[:10]) + (" ..." if len(named) > 10 else "") or "no objects"
