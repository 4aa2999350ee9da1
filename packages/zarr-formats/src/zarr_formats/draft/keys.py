"""The keys of metadata documents and chunks.

Specification: draft of December 2022, "Storage keys", "Node names".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from zarr_core.errors import NodeNameError

Kind = Literal["array", "group"]

_NAME = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]+", re.ASCII).fullmatch

CONSOLIDATED = ".zmetadata"
"""Name of the consolidated metadata of zarr-python 2, below ``meta/root/consolidated/``."""

# Chunk keys, of any number of dimensions.
_CHUNK = re.compile(r"(?:.*/)?c(?:[0-9]+(?:[/.][0-9]+)*)?", re.DOTALL).fullmatch


@dataclass(frozen=True, slots=True)
class Layout:
    """The keys of one draft; ``root`` is empty in the draft of 2022, ``/root`` in that of 2021."""

    root: str = ""

    def document(self, kind: Kind, path: str, suffix: str) -> str:
        """Return the key of the document of a node at a normalised path."""
        if path:
            return f"meta{self.root}/{path}.{kind}{suffix}"
        return f"meta{self.root}.{kind}{suffix}" if self.root else f"meta/{kind}{suffix}"

    def below(self, path: str) -> str:
        """Return the prefix of the documents of all nodes below a path."""
        return f"meta{self.root}/{path}/" if path else f"meta{self.root}/"

    def chunks(self, path: str) -> str:
        """Return the prefix of the chunks of an array."""
        return f"data{self.root}/{path}/" if path else f"data{self.root}/"

    def node(self, key: str, suffix: str) -> tuple[str, Kind] | None:
        """Return the path and kind of the node whose document has a key, or None."""
        kinds: tuple[Kind, ...] = ("array", "group")
        for kind in kinds:
            if key == self.document(kind, "", suffix):
                return "", kind
            path = key.removeprefix(self.below(""))
            if path != key and path.endswith(f".{kind}{suffix}"):
                return path.removesuffix(f".{kind}{suffix}"), kind
        return None


def check_names(path: str) -> None:
    """Raise a NodeNameError if a name in the path of a new node is invalid.

    Draft, "Node names": a name "must use only characters in the sets a-z, A-Z, 0-9,
    -_.", must not be empty, and "must not be a string composed only of period characters".
    """
    for name in path.split("/") if path else ():
        if not _NAME(name):
            raise NodeNameError(
                repr(path),
                f"{name!r} is not a node name in this format: names contain only letters (a to z, "
                "A to Z), digits, '-', '_' and '.', and not only periods",
            )


def may_be_chunk(key: str) -> bool:
    """Whether a key looks like that of a chunk."""
    return _CHUNK(key) is not None
