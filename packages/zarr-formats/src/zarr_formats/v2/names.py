"""What version 2 permits in the names of nodes.

Specification: version 2, "Logical storage paths".
"""

from __future__ import annotations

from zarr_core.errors import NodeNameError


def require_ascii(path: str) -> None:
    """Refuse a path with which keys would not be ASCII.

    Raises
    ------
    NodeNameError
        If the path has other characters.
    """
    if not path.isascii():
        raise NodeNameError(
            repr(path), "keys of version 2 are ASCII; choose another name, or version 3"
        )
