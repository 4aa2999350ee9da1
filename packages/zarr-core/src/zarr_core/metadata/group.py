"""What a metadata document says about a group, as data."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.metadata.array import additional, in_order_of
from zarr_core.metadata.consolidated import ConsolidatedMetadata
from zarr_core.metadata.rules import GROUP_MEMBERS
from zarr_core.metadata.validation import check_group

if TYPE_CHECKING:
    from collections.abc import Collection

    from zarr_core.definition import JSON


@dataclass(frozen=True, slots=True)
class GroupMetadata:
    """Metadata of a group.  Immutable; do not change the dictionaries within.

    Parameters
    ----------
    attributes : dict
        Metadata of the user.
    consolidated : ConsolidatedMetadata, optional
        Copies of the documents below, if the group has them.
    additional_fields : dict
        Members that the specification does not define, kept as they are.
    document : dict, optional
        What this was read from, in the words of the node's own format.  It says in
        which order members are written, and which optional ones were there.
    """

    attributes: dict[str, JSON] = field(default_factory=dict)
    consolidated: ConsolidatedMetadata | None = None
    additional_fields: dict[str, JSON] = field(default_factory=dict)
    document: dict[str, JSON] | None = field(default=None, repr=False, compare=False)

    def __hash__(self) -> int:
        return hash((len(self.attributes), self.consolidated is None))

    def replace(self, **changes: Any) -> GroupMetadata:
        """The same metadata with other values for some fields.

        Parameters
        ----------
        **changes
            Fields of this class.
        """
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_json(
        cls, document: JSON, where: str = "group metadata", understood: Collection[str] = ()
    ) -> GroupMetadata:
        """Read a version 3 document.

        Parameters
        ----------
        document : JSON
            The document as :func:`zarr_core.strictjson.loads` gives it.  It is kept.
        where : str
            What the document is, for errors.
        understood : collection of str
            Further members that somebody understands.

        Raises
        ------
        MetadataValidationError
            If it is no valid group document; carries every problem.
        UnsupportedFieldError
            If it has unknown members that must be understood.
        """
        return _from_v3(check_group(document, where, understood))

    def to_json(self) -> dict[str, JSON]:
        """The version 3 document; what was read and not changed comes back as it was."""
        return _to_v3(self)

    def to_bytes(
        self, where: str = "new group metadata", understood: Collection[str] = ()
    ) -> bytes:
        """The version 3 document as it is stored.

        Members that were there when it was read were understood then.

        Parameters
        ----------
        where : str
            What the document is, for errors.
        understood : collection of str
            Further members that somebody understands.

        Raises
        ------
        MetadataValidationError
            If it would not be valid, or has a value without JSON form.
        UnsupportedFieldError
            If it has further members that must be understood, and are not.
        """
        document = strictjson.plain(self.to_json(), where)
        return strictjson.encode(
            check_group(document, where, (*(self.document or ()), *understood))
        )


def _from_v3(document: dict[str, Any]) -> GroupMetadata:
    """The model of a document that was checked."""
    return GroupMetadata(
        attributes=document.get("attributes", {}),
        consolidated=ConsolidatedMetadata.from_json(document.get("consolidated_metadata")),
        additional_fields=additional(document, GROUP_MEMBERS),
        document=document,
    )


def _to_v3(metadata: GroupMetadata) -> dict[str, JSON]:
    """The document of a model, in the order of the one that it was read from."""
    old = metadata.document or {}
    members: dict[str, JSON] = {"zarr_format": 3, "node_type": "group"}
    if metadata.attributes or not old or "attributes" in old:
        members["attributes"] = metadata.attributes
    if metadata.consolidated is not None:
        members["consolidated_metadata"] = metadata.consolidated.to_json()
    elif "consolidated_metadata" in old and old["consolidated_metadata"] is None:
        members["consolidated_metadata"] = None
    return in_order_of(old, members | metadata.additional_fields)
