"""Names that the specification gives a grammar: of nodes, paths, extensions."""

from __future__ import annotations

import re

from zarr_core.errors import NodeNameError

__all__ = [
    "check_extension_name",
    "check_node_name",
    "is_node_name",
    "is_path_part",
    "join",
    "located",
    "normalise_path",
]

# Names that need no closer look: what the specification recommends.
_ORDINARY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9_-]*)*").fullmatch

# v3.1, "Extension naming": ``^[a-z][a-z0-9-_.]+$``
_EXTENSION_NAME = re.compile(r"[a-z][a-z0-9\-_.]+").fullmatch


def _objection(name: str) -> str | None:
    """Why a string cannot be the name of a node of version 3, or None if it can."""
    # v3.1, "Node names", in the order of the text.
    if name == "":
        return "a node name must not be empty"
    if "/" in name:
        return 'a node name must not have a "/"'
    if not name.strip("."):
        return "a node name must not consist of periods alone"
    if name.startswith("__"):
        return 'names that begin with "__" are reserved'
    if name == "zarr.json":
        return '"zarr.json" is the key of metadata documents'
    return _unusable(name)


def _unusable(name: str) -> str | None:
    """Why a string cannot be a part of a path, in whatever format, or None if it can."""
    if name in ("", ".", ".."):
        return "a node name must not be empty, and not consist of periods alone"
    # What no store key can hold (interfaces/store.py).
    if "/" in name or "\\" in name or "\0" in name:
        return "a node name must not have a slash, backslash or NUL, which stores refuse in keys"
    if any("\ud800" <= character <= "\udfff" for character in name):
        return "a node name must consist of whole characters, and this has half of a surrogate pair"
    return None


def is_node_name(name: str) -> bool:
    """Whether a string may be the name of a node.

    Specification: v3.1, "Node names".
    """
    return _objection(name) is None


def is_path_part(name: str) -> bool:
    """Whether a string may stand between the slashes of a path, in whatever format."""
    return _unusable(name) is None


def check_node_name(name: str) -> str:
    """Return the name if a node of version 3 may have it.

    Raises
    ------
    NodeNameError
        If it may not.  Specification: v3.1, "Node names".
    """
    if (reason := _objection(name)) is not None:
        raise NodeNameError(repr(name), reason)
    return name


def normalise_path(path: str) -> str:
    """The path of a node in the form in which keys begin with it.

    Parameters
    ----------
    path : str
        Names joined by ``/``.

    Returns
    -------
    str
        Such as ``"a/b"``; empty for the root.

    Raises
    ------
    NodeNameError
        If one of the names is ``.`` or ``..``, or no key can hold it.
    TypeError
        If it is not a string.
    """
    if not isinstance(path, str):
        raise TypeError(f"a path of a node is a string, not {type(path).__name__}")
    if _ORDINARY(path):
        return path
    # v2, "Logical storage paths": a backslash is a slash, several slashes are one, those
    # at the ends are none.  Version 3 says nothing of paths that are not normal.
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    for name in parts:
        if (reason := _unusable(name)) is not None:
            raise NodeNameError(repr(path), reason)
    return "/".join(parts)


def join(parent: str, path: str) -> str:
    """The path of a node that is named relative to another.

    Parameters
    ----------
    parent : str
        Normalised path.
    path : str
        Path below the parent; normalised here.

    Raises
    ------
    NodeNameError
        If one of its names is none.
    """
    path = normalise_path(path)
    return f"{parent}/{path}" if parent and path else parent or path


def check_extension_name(name: str) -> str:
    """Return the name if a new extension may be registered under it.

    Documents that are read may hold any name: URIs are permitted for the sake of
    old ones (v3.1, "Extension naming").

    Raises
    ------
    ValueError
        If it is not a lower-case letter followed by one or more lower-case
        letters, digits, underscores, dots and dashes.
    """
    if not _EXTENSION_NAME(name):
        raise ValueError(
            f"{name!r} is not an extension name: it must begin with one of a-z, followed by at "
            "least one of a-z, 0-9, '_', '.' and '-'"
        )
    return name


def located(store: object, path: str) -> str:
    """What errors call the node at a path of a store."""
    return f"{store} {'/' + path!r}"
