"""Validation of names of nodes in version 2.

Specification: version 2, "Logical storage paths".
"""

from __future__ import annotations

from zarr_core.errors import NodeNameError


def require_ascii(path: str) -> None:
    """Check that the keys of a path are ASCII.

    Raises
    ------
    NodeNameError
        If the path has other characters.
    """
    if not path.isascii():
        raise NodeNameError(
            repr(path), "keys of version 2 are ASCII; choose another name, or version 3"
        )
