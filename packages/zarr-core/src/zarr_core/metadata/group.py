"""Metadata of a group."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.definition import ReadOnlyDict, freeze, freeze_fields, ordinary
from zarr_core.metadata.array import additional, in_order_of
from zarr_core.metadata.validation import GROUP_MEMBERS, check_document

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.location import Location


@dataclass(frozen=True, slots=True)
class ConsolidatedMetadata:
    """Consolidated metadata: copies of the documents of the nodes below a group.  Immutable.

    Specification: v3.1, "Additional fields", which does not define the contents of the member
    ``consolidated_metadata``: ``{"kind": "inline", "must_understand": false, "metadata": {path:
    document}}``.  Paths are relative to the group, as in zarr-python.

    ``entries`` are the documents by path relative to the group (``"a/b"``); validated on access.
    ``envelope`` is the member as it was read; it determines the order of its parts.
    """

    entries: dict[str, JSON]
    envelope: dict[str, JSON] | None = field(default=None, repr=False, compare=False)

    def to_json(self) -> dict[str, JSON]:
        """Return the member ``consolidated_metadata``."""
        members: dict[str, JSON] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": self.entries,
        }
        return in_order_of(self.envelope or {}, members)


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """Metadata of a group.  Immutable; do not change the dictionaries within.

    Parameters
    ----------
    attributes : dict
        The attributes; they are changed through the node, with ``group.attrs``.
    consolidated : ConsolidatedMetadata, optional
        Copies of the metadata of all nodes below the group.
    additional_fields : dict
        Fields that the specification does not define, unchanged.
    document : dict, optional
        The document from which this was read, in its own format.  It determines the order of
        the members and which optional members are written.
    nonstandard : tuple of str
        What was not valid in the stored document; ``document`` has the valid form.
    """

    attributes: dict[str, JSON] = field(default_factory=dict)
    consolidated: ConsolidatedMetadata | None = None
    additional_fields: dict[str, JSON] = field(default_factory=dict)
    document: dict[str, JSON] | None = field(default=None, repr=False, compare=False)
    nonstandard: tuple[str, ...] = field(default=(), repr=False, compare=False)

    def __post_init__(self) -> None:
        freeze_fields(self, "attributes", "additional_fields")

    def __hash__(self) -> int:
        return hash((len(self.attributes), self.consolidated is None))

    def replace(self, **changes: Any) -> GroupMetadata:
        """Return a copy with other values of some fields."""
        if "document" in changes:
            changes.setdefault("nonstandard", ())
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_json(
        cls, document: JSON, location: Location | str = "group metadata"
    ) -> GroupMetadata:
        """Create metadata from a document of version 3.

        Parameters and errors are those of :meth:`ArrayMetadata.from_json`.
        """
        # Copies of documents become read-only when they are written, and then keep their text.
        members = {
            name: value if name == "consolidated_metadata" else freeze(value)
            for name, value in check_document(document, location, "group").items()
        }
        copies: Any = members.get("consolidated_metadata")
        return cls(
            attributes=members.get("attributes", {}),
            # zarr-python wrote null for nested groups.
            consolidated=ConsolidatedMetadata(copies["metadata"], copies) if copies else None,
            additional_fields=additional(members, GROUP_MEMBERS),
            document=ReadOnlyDict(members),
        )

    def to_json(self) -> dict[str, JSON]:
        """Return the version 3 document; unchanged parts are written as they were read."""
        old = self.document or {}
        members: dict[str, JSON] = {"zarr_format": 3, "node_type": "group"}
        if self.attributes or not old or "attributes" in old:
            members["attributes"] = ordinary(self.attributes)
        if self.consolidated is not None:
            members["consolidated_metadata"] = self.consolidated.to_json()
        elif "consolidated_metadata" in old and old["consolidated_metadata"] is None:
            members["consolidated_metadata"] = None
        return in_order_of(old, members | ordinary(self.additional_fields))

    def to_stored(
        self, location: Location | str = "new group metadata"
    ) -> tuple[bytes, GroupMetadata]:
        """Return the version 3 document as it is stored, and the metadata as read from it.

        Errors are those of :meth:`ArrayMetadata.to_stored`.
        """
        document: Any = strictjson.plain(self.to_json(), location)
        if self.consolidated is not None:
            member = document["consolidated_metadata"]
            member["metadata"] = strictjson.keep_texts(member["metadata"])
        stored = self.from_json(document, location)
        return strictjson.encode(document), stored
