"""Under which keys the drafts keep the documents of nodes, the chunks of arrays.

Specification: draft of December 2022, "Storage keys", "Node names".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from zarr_core.extension import NodeNameError

Kind = Literal["array", "group"]

_NAME = re.compile(r"(?!\.+\Z)[A-Za-z0-9._-]+", re.ASCII).fullmatch

CONSOLIDATED = ".zmetadata"
"""Where zarr-python 2 keeps consolidated metadata, below ``meta/root/consolidated/``; no node."""

# What may be a chunk: the name at the end of its key, of any number of dimensions.
_CHUNK = re.compile(r"(?:.*/)?c(?:[0-9]+(?:[/.][0-9]+)*)?", re.DOTALL).fullmatch


@dataclass(frozen=True, slots=True)
class Layout:
    """The keys of one dialect.

    Parameters
    ----------
    root : str
        What stands for the root: nothing in the text, ``/root`` before it.
    """

    root: str = ""

    def document(self, kind: Kind, path: str, suffix: str) -> str:
        """The key of the document of a node.

        Parameters
        ----------
        kind : {"array", "group"}
            What the node is.
        path : str
            Normalised path.
        suffix : str
            The metadata key suffix of the hierarchy.
        """
        if path:
            return f"meta{self.root}/{path}.{kind}{suffix}"
        return f"meta{self.root}.{kind}{suffix}" if self.root else f"meta/{kind}{suffix}"

    def below(self, path: str) -> str:
        """The prefix of the documents of all nodes below a path."""
        return f"meta{self.root}/{path}/" if path else f"meta{self.root}/"

    def chunks(self, path: str) -> str:
        """The prefix of the chunks of an array."""
        return f"data{self.root}/{path}/" if path else f"data{self.root}/"

    def node(self, key: str, suffix: str) -> tuple[str, Kind] | None:
        """The path and kind of the node that a key is the document of, or None."""
        kinds: tuple[Kind, ...] = ("array", "group")
        for kind in kinds:
            if key == self.document(kind, "", suffix):
                return "", kind
            path = key.removeprefix(self.below(""))
            if path != key and path.endswith(f".{kind}{suffix}"):
                return path.removesuffix(f".{kind}{suffix}"), kind
        return None


def check_names(path: str) -> None:
    """Refuse the path of a new node if a name in it is none.

    Draft, "Node names": a name "must use only characters in the sets a-z, A-Z, 0-9,
    -_.", must not be empty, and "must not be a string composed only of period characters".

    Raises
    ------
    NodeNameError
        If one is none.
    """
    for name in path.split("/") if path else ():
        if not _NAME(name):
            raise NodeNameError(
                repr(path),
                f"{name!r} is no node name in this format: a name consists of letters from a to z "
                "in either case, digits, '-', '_' and '.', and not of periods alone",
            )


def may_be_chunk(key: str) -> bool:
    """Whether a key looks like that of a chunk."""
    return _CHUNK(key) is not None
