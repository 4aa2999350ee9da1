"""Validation of node names and paths."""

from __future__ import annotations

import re

from zarr_core.errors import NodeNameError

CHECKPOINT_NAME = ".copying"
"""Key of the checkpoint of an interrupted copy, next to the chunks of an array."""

MANIFEST_NAME = ".manifest.jsonl"
"""Key of the manifest of a hierarchy."""

# Names that the specification recommends; they need no further check.
_ORDINARY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9_-]*)*").fullmatch

_SURROGATE = re.compile("[\ud800-\udfff]").search


def is_manifest_key(key: str) -> bool:
    """Whether a key is that of a manifest, and not of the hierarchy that it describes."""
    return key.rpartition("/")[2] == MANIFEST_NAME


def name_problem(name: str) -> str | None:
    """Return why a string is not a valid node name of version 3, or None."""
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
    return _part_problem(name)


def _part_problem(name: str) -> str | None:
    """Return why a string cannot be a part of a path in any format, or None."""
    if name in ("", ".", ".."):
        return "a node name must not be empty, and not consist of periods alone"
    # Not valid in keys (interfaces/keys.py).
    if "/" in name or "\\" in name or "\0" in name:
        return "a node name must not have a slash, backslash or NUL, which stores refuse in keys"
    if _SURROGATE(name):
        return "a node name must not contain half of a surrogate pair"
    return None


def is_node_name(name: str) -> bool:
    """Whether a string is a valid name for a new node (v3.1, "Node names")."""
    return name_problem(name) is None


def is_reserved_name(name: str) -> bool:
    """Whether a name begins with ``__``, which is reserved, and is valid otherwise.

    Such nodes exist: xarray stores a data array without a name as
    ``__xarray_dataarray_variable__``.

    Specification: v3.1, "Node names".
    """
    return name.startswith("__") and _part_problem(name) is None


def is_path_part(name: str) -> bool:
    """Whether a string can be a part of a path in any format."""
    return _part_problem(name) is None


def normalise_path(path: str) -> str:
    """Return a path in its normal form, such as ``"a/b"``; empty for the root.

    Raises a NodeNameError if one of the names is ``.`` or ``..``, or not valid in keys.
    """
    if not isinstance(path, str):
        raise TypeError(f"a path must be a string, not {type(path).__name__}")
    if _ORDINARY(path):
        return path
    # v2, "Logical storage paths": backslashes become slashes; leading, trailing and repeated
    # slashes are removed.  Version 3 does not define such paths.
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    for name in parts:
        if (reason := _part_problem(name)) is not None:
            raise NodeNameError(repr(path), reason)
    return "/".join(parts)


def join(parent: str, path: str) -> str:
    """Return the path of a node relative to a normalised parent path, in its normal form."""
    path = normalise_path(path)
    return f"{parent}/{path}" if parent and path else parent or path
