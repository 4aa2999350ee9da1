"""Validation of names of nodes in version 2.

Specification: version 2, "Logical storage paths".
"""

from __future__ import annotations

from zarr_core.errors import NodeNameError

from zarr_formats.v2.document import ARRAY, ATTRIBUTES, CONSOLIDATED, GROUP

DOCUMENT_NAMES = frozenset([ARRAY, GROUP, ATTRIBUTES, CONSOLIDATED, "zarr.json"])
"""Names of documents of this format and of version 3, which are stored in the same place."""


def check_names(path: str) -> None:
    """Raise a NodeNameError if a path is not ASCII, or a name is that of a metadata document.

    In file systems, a directory with the name of a document hides the document of its parent.
    """
    for name in path.split("/"):
        if name in DOCUMENT_NAMES:
            raise NodeNameError(
                repr(path), f"{name!r} is the key of metadata documents; choose another name"
            )
    if not path.isascii():
        raise NodeNameError(
            repr(path), "keys of version 2 are ASCII; choose another name, or version 3"
        )
