"""The order in which the keys of a hierarchy are written or removed, told by their names.

What can be seen shall be complete: documents come after the values that they describe,
those of members before those of the groups that show them.  Removing goes the other way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# Those that make a node, in any format; and those beside them.
_MAIN = frozenset(("zarr.json", ".zarray", ".zgroup", "attributes.json", "meta"))
_BESIDE = frozenset((".zattrs", ".zmetadata", "attrs"))
_ENDINGS = (".array.json", ".group.json")


def is_document(key: str) -> bool:
    """Whether a key has the name of a document of some format."""
    name = key.rpartition("/")[2]
    return name in _MAIN or name in _BESIDE or name.endswith(_ENDINGS)


def to_write(keys: Iterable[str]) -> tuple[list[str], list[list[str]]]:
    """Split keys into those that come first in any order, then steps of documents.

    Returns
    -------
    values : list of str
        All that is no document, sorted.
    documents : list of list of str
        Those of a step may be written in any order, after those of the steps before.
    """
    values: list[str] = []
    steps: dict[tuple[int, bool], list[str]] = {}
    for key in sorted(keys):
        if is_document(key):
            beside = key.rpartition("/")[2] in _BESIDE
            steps.setdefault((-key.count("/"), not beside), []).append(key)
        else:
            values.append(key)
    return values, [steps[step] for step in sorted(steps)]


def documents_to_remove(keys: Iterable[str]) -> list[list[str]]:
    """The documents among keys, in steps: those first that others depend on to be seen."""
    return to_write(filter(is_document, keys))[1][::-1]
