"""What version 2 permits in the names of nodes.

Specification: version 2, "Logical storage paths".
"""

from __future__ import annotations

from zarr_core.extension import NodeNameError


def is_name(name: str) -> bool:
    """Whether a part of a key may be the name of a node: any text but ``.`` and ``..``."""
    return name not in ("", ".", "..") and "\\" not in name


def require_ascii(path: str) -> None:
    """Refuse to make a node whose keys would not be ASCII.

    Raises
    ------
    NodeNameError
        If the path has other characters.
    """
    if not path.isascii():
        raise NodeNameError(
            repr(path), "keys of version 2 are ASCII; choose another name, or version 3"
        )
