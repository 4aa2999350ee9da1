"""The objects of an HDF5 file that are brought over, each once."""

from __future__ import annotations

from collections import deque
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_EXTERNAL = "leads to another file; external=True follows it, if you trust who made this one"


class Objects:
    """Groups and datasets below a group, found by their links.

    Parameters
    ----------
    h5py : module
        The library.
    root : h5py.Group
        Where to begin.
    external : bool
        Whether links to other files are followed.

    Attributes
    ----------
    found : list of (str, h5py.Group or h5py.Dataset)
        Each object once, with its path below the root; parents first.
    left_out : list of (str, str)
        Links that are not followed, each with the reason.

    Notes
    -----
    An object that several links lead to is found by the hard link with the shortest path;
    what other links, soft and external, lead to comes after that.  So cycles end.
    """

    def __init__(self, h5py: Any, root: Any, *, external: bool) -> None:
        self._h5py = h5py
        self._external = external
        self._seen: dict[Any, str] = {}
        self.found: list[tuple[str, Any]] = []
        self.left_out: list[tuple[str, str]] = []
        later: list[tuple[str, Any]] = []
        self._enter("", root)
        self._walk("", root, later)
        while later:
            path, group = later.pop(0)
            self._follow(path, group, later)
        self.found.sort(key=lambda item: item[0].split("/") if item[0] else [])

    def _walk(self, path: str, group: Any, later: list[tuple[str, Any]]) -> None:
        """Find what hard links lead to; put the others off."""
        below = deque([(path, group)])
        while below:
            path, group = below.popleft()
            for name in sorted(group):
                child = f"{path}/{name}" if path else name
                if not isinstance(group.get(name, getlink=True), self._h5py.HardLink):
                    later.append((child, group))
                elif (node := self._opened(child, group)) is not None and isinstance(
                    node, self._h5py.Group
                ):
                    below.append((child, node))

    def _follow(self, path: str, group: Any, later: list[tuple[str, Any]]) -> None:
        link = group.get(path.rpartition("/")[2], getlink=True)
        if isinstance(link, self._h5py.ExternalLink) and not self._external:
            self.left_out.append(
                (path, f"a link to {link.filename} {link.path}, which {_EXTERNAL}")
            )
            return
        node = self._opened(path, group)
        if isinstance(node, self._h5py.Group):
            self._walk(path, node, later)

    def _opened(self, path: str, group: Any) -> Any:
        """The object behind a link if it is a new one."""
        try:
            node = group[path.rpartition("/")[2]]
        except (KeyError, OSError) as error:
            self.left_out.append((path, f"a link that leads nowhere ({error})"))
            return None
        if not isinstance(node, self._h5py.Group | self._h5py.Dataset):
            self.left_out.append((path, "a named data type, which Zarr has no place for"))
            return None
        return node if self._enter(path, node) else None

    def _enter(self, path: str, node: Any) -> bool:
        info = self._h5py.h5o.get_info(node.id)
        other = self._seen.setdefault((info.fileno, info.addr), path)
        if other != path:
            self.left_out.append((path, f"another name of /{other}"))
            return False
        self.found.append((path, node))
        return True


class Choice:
    """Which objects a user wants.

    Parameters
    ----------
    include, exclude : str or iterable of str, optional
        Paths below the root, in which ``*`` stands for anything.  What lies below an object
        that is meant is meant as well.
    """

    def __init__(
        self, include: str | Iterable[str] | None = None, exclude: str | Iterable[str] | None = None
    ) -> None:
        self._include = None if include is None else _patterns(include)
        self._exclude = _patterns(() if exclude is None else exclude)

    def __call__(self, path: str) -> bool:
        """Whether an object is wanted."""
        wanted = self._include is None or _meant(path, self._include)
        return wanted and not _meant(path, self._exclude)

    def of(self, objects: Iterable[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """What is wanted of some objects, with all groups that lead to it.

        Raises
        ------
        ValueError
            If one of the patterns means nothing that is there.
        """
        objects = [*objects]
        paths = [path for path, _ in objects]
        for pattern in [*(self._include or ()), *self._exclude]:
            if not any(_meant(path, [pattern]) for path in paths):
                raise ValueError(f"nothing is called {pattern!r}; there are {_some(paths)}")
        wanted = {path for path in paths if self(path)} | {""}
        for path in [*wanted]:
            wanted.update(_ancestors(path))
        return [(path, node) for path, node in objects if path in wanted]


def _patterns(given: str | Iterable[str]) -> list[str]:
    several = [given] if isinstance(given, str) else given
    return [pattern.strip("/") for pattern in several]


def _meant(path: str, patterns: list[str]) -> bool:
    places = [path, *_ancestors(path)]
    return any(fnmatchcase(place, pattern) for pattern in patterns for place in places)


def _ancestors(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _some(paths: list[str]) -> str:
    named = [f"/{path}" for path in paths if path]
    return ", ".join(named[:10]) + (" ..." if len(named) > 10 else "") or "no objects at all"
