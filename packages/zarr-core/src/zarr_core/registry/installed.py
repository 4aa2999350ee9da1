"""The entry points that installers recorded, read with as few system calls as possible.

Specification: the Python Packaging User Guide's "Recording installed projects"
(``*.dist-info``) with "Entry points specification"; setuptools' ``*.egg-info``.

importlib_metadata finds the same, but takes a quarter of a millisecond for every
distribution, and 30 to be imported.  It is asked about what is not a plain folder
of such files: eggs, zip archives, finders that others have put into ``sys.meta_path``.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class EntryPoint(NamedTuple):
    """One line by which a distribution offers something.

    Parameters
    ----------
    group, name, target : str
        The line; its target is ``module:attribute``.
    distribution, version : str
        Who declares it.
    """

    group: str
    name: str
    target: str
    distribution: str
    version: str


class Installed(NamedTuple):
    """One distribution that has entry points of interest.

    Parameters
    ----------
    place : str
        Where it is recorded; for messages.
    name, version : str
        As its metadata says; empty if it does not.
    entry_points : str
        Its file ``entry_points.txt``.
    """

    place: str
    name: str
    version: str
    entry_points: str


def entry_points(mark: str) -> Iterator[EntryPoint]:
    """Every entry point whose group begins with some text; nothing is imported.

    An earlier folder of ``sys.path`` hides a distribution in a later one, as it does for
    the modules.

    Parameters
    ----------
    mark : str
        The beginning of a group's name, such as ``"zarr_core."``.

    Warns
    -----
    UserWarning
        Where a distribution is damaged; it is left out and hides no other.
    """
    seen: set[str] = set()
    for place, name, version, text in distributions(mark):
        try:
            if not name:
                raise ValueError("their metadata does not name the distribution")
            points = [
                EntryPoint(*line, name, version) for line in lines(text) if line[0].startswith(mark)
            ]
        except ValueError as error:  # one damaged installation must not hide the others
            warnings.warn(
                f"the entry points in {place} cannot be read and are left out: {error}",
                UserWarning,
                stacklevel=2,
            )
            continue
        if (key := canonical(name)) not in seen:
            seen.add(key)
            yield from points


def canonical(distribution: str) -> str:
    """The name of a distribution as it is compared: ``Acme_Xor`` is ``acme-xor``."""
    return re.sub(r"[-_.]+", "-", distribution.strip()).lower()


def distributions(mark: str) -> Iterator[Installed]:
    """The installed distributions whose entry points contain some text.

    Parameters
    ----------
    mark : str
        The text, such as the beginning of a group's name.

    Returns
    -------
    iterator of Installed
        In the order of ``sys.path``, and by name within a folder, whatever order the
        file system lists them in.
    """
    if _has_unusual_finder():
        yield from _by_library(None, mark)
        return
    hidden: set[str] = set()
    # Modules are imported from nothing but strings either.
    for entry in dict.fromkeys(item for item in sys.path if isinstance(item, str)):
        if entry.endswith(".egg") or os.path.isfile(entry):
            yield from _by_library(entry, mark)
        else:
            yield from _in_folder(entry or ".", mark, hidden)


def lines(text: str) -> Iterator[tuple[str, str, str]]:
    """Group, name and target of each line of an ``entry_points.txt``.

    Raises
    ------
    ValueError
        If it is no such file.
    """
    group = ""
    for raw in text.splitlines():
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        if line.startswith("[") and line.endswith("]"):
            group = line[1:-1]
            continue
        name, equals, target = line.partition("=")
        if not (equals and group):
            raise ValueError(f"{line!r} is no line of a file of entry points")
        yield group, name.strip(), target.strip()


def _in_folder(folder: str, mark: str, hidden: set[str]) -> Iterator[Installed]:
    """Those in a folder, but for what an earlier one hides; notes what this one does."""
    try:
        children = sorted(os.listdir(folder))
    except (OSError, ValueError):  # it need not exist
        return
    here: set[str] = set()
    wanted = mark.encode()
    for child in children:
        if not child.lower().endswith((".dist-info", ".egg-info")):
            continue
        # Those without entry points hide, too; their names are known without reading them.
        name = canonical(os.path.splitext(child)[0].partition("-")[0])
        here.add(name)
        if name in hidden:
            continue
        place = os.path.join(folder, child)
        try:
            with open(f"{place}/entry_points.txt", "rb", buffering=0) as file:
                content = file.read()
        except (OSError, ValueError):  # has none, or unreadable: no concern of ours
            continue
        if wanted in content:
            text = content.decode(errors="replace")
            yield Installed(place, *_name_and_version(place), text)
    hidden |= here


def _name_and_version(place: str) -> tuple[str, str]:
    found = {b"name": "", b"version": ""}
    for file in ("METADATA", "PKG-INFO"):
        try:
            with open(f"{place}/{file}", "rb") as lines:
                for line in lines:
                    word, colon, value = line.partition(b":")
                    if not colon and not line.strip():  # the description begins
                        break
                    if (key := word.lower()) in found:
                        found[key] = value.decode(errors="replace").strip()
                        if all(found.values()):
                            break
            break
        except OSError:
            continue
    return found[b"name"], found[b"version"]


def _has_unusual_finder() -> bool:
    """Whether somebody beside the standard library's finder knows of distributions."""
    return any(
        hasattr(finder, "find_distributions")
        and getattr(finder, "__name__", type(finder).__name__)
        not in {"PathFinder", "MetadataPathFinder"}
        for finder in sys.meta_path
    )


def _by_library(entry: str | None, mark: str) -> Iterator[Installed]:
    import importlib_metadata  # noqa: PLC0415 - lazy: 30 ms, and rarely needed

    options: dict[str, Any] = {} if entry is None else {"path": [entry]}
    for distribution in importlib_metadata.distributions(**options):
        try:
            text = distribution.read_text("entry_points.txt") or ""
        except (OSError, ValueError):  # unreadable; no concern of ours
            continue
        if mark not in text:
            continue
        try:
            name, version = distribution.name, distribution.version
        except Exception:  # whatever a finder of strangers raises; said by the caller
            name = version = ""
        yield Installed(repr(distribution), name or "", version or "", text)
