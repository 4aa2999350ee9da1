"""Consolidated metadata: copies of the metadata of all nodes below a group, in its document.

Specification: v3.1, "Additional fields".  The member ``consolidated_metadata`` is
``{"kind": "inline", "must_understand": false, "metadata": {path: document}}``; the
specification does not define its contents.  Paths are relative to the group, as in
zarr-python.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from zarr_core.metadata.array import in_order_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON


@dataclass(frozen=True, slots=True)
class ConsolidatedMetadata:
    """Copies of the documents of the nodes below a group.  Immutable.

    ``entries`` are the documents by path relative to the group (``"a/b"``); validated on access.
    ``envelope`` is the member as it was read; it determines the order of its parts.
    """

    entries: dict[str, JSON]
    envelope: dict[str, JSON] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_documents(cls, documents: Mapping[str, JSON]) -> ConsolidatedMetadata:
        """Create an instance from documents by path relative to the group.

        Paths are sorted.  Copies of groups do not contain consolidated metadata.
        """
        return cls({path: without_copies(documents[path]) for path in sorted(documents)})

    def to_json(self) -> dict[str, JSON]:
        """Return the member ``consolidated_metadata``."""
        members: dict[str, JSON] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": self.entries,
        }
        return in_order_of(self.envelope or {}, members)


# Members with consolidated metadata, in version 3 or 2.
_COPIES = ("consolidated_metadata", ".zmetadata")


def without_copies(document: JSON) -> JSON:
    """A document of a node without consolidated metadata."""
    if not isinstance(document, dict):
        return document
    # zarr-python 3 also leaves an empty one in the copies of groups of version 2.
    return {
        name: without_copies(value) if name == ".zgroup" else value
        for name, value in document.items()
        if name not in _COPIES
    }
