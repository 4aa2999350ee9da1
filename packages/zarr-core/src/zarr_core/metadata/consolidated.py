"""Consolidated metadata: copies of the metadata of all nodes below a group, in its document.

Specification: v3.1, "Additional fields".  The member ``consolidated_metadata`` is
``{"kind": "inline", "must_understand": false, "metadata": {path: document}}``; the
specification does not define its contents.  Paths are relative to the group, as in
zarr-python.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.metadata.array import in_order_of
from zarr_core.metadata.encoded_members import EncodedMembers, encode_nested, joined_members
from zarr_core.metadata.validation import check_group

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from zarr_core.definition import JSON
    from zarr_core.location import Location


@dataclass(frozen=True, slots=True)
class Difference:
    """Differences between consolidated metadata and the stored documents.

    Parameters
    ----------
    stale : tuple of str
        Paths whose copy differs from the stored document.
    missing : tuple of str
        Paths without a copy.
    extra : tuple of str
        Paths that have a copy but are not stored.
    """

    stale: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.extra)

    def __str__(self) -> str:
        parts = [
            f"{len(paths)} {word} ({', '.join(map(repr, paths[:3]))}{', ...' if len(paths) > 3 else ''})"
            for word, paths in (
                ("stale", self.stale),
                ("missing", self.missing),
                ("extra", self.extra),
            )
            if paths
        ]
        return ", ".join(parts) or "up to date"


@dataclass(frozen=True, slots=True)
class ConsolidatedMetadata:
    """Copies of the documents of the nodes below a group.  Immutable.

    ``entries`` are the documents by path relative to the group (``"a/b"``); validated on access.
    ``envelope`` is the member as it was read; it determines the order of its parts.
    """

    entries: dict[str, JSON]
    envelope: dict[str, JSON] | None = field(default=None, repr=False, compare=False)
    encoded: EncodedMembers | None = field(default=None, repr=False, compare=False)
    """The text of entries that were written; shared with changed copies."""

    @classmethod
    def from_json(cls, value: JSON) -> ConsolidatedMetadata | None:
        """Create an instance from the valid member ``consolidated_metadata``.

        None if the member is null, as zarr-python wrote for nested groups.
        """
        if not isinstance(value, dict):
            return None
        entries: Any = value["metadata"]
        return cls(entries, value)

    @classmethod
    def from_documents(cls, documents: Mapping[str, JSON]) -> ConsolidatedMetadata:
        """Create an instance from documents by path relative to the group.

        Paths are sorted.  Copies of groups do not contain consolidated metadata.
        """
        return cls({path: _without_copies(documents[path]) for path in sorted(documents)})

    def to_json(self) -> dict[str, JSON]:
        """Return the member ``consolidated_metadata``."""
        members: dict[str, JSON] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": self.entries,
        }
        return in_order_of(self.envelope or {}, members)

    def to_stored(
        self, document: dict[str, JSON], location: Location | str, understood: Collection[str]
    ) -> tuple[ConsolidatedMetadata, bytes]:
        """Return the copies as read from the document of the group, and the text of the member.

        ``document`` is the document with the other members, which is validated together with the
        entries that were not stored before.  ``location`` and ``understood`` are those of
        :meth:`GroupMetadata.to_bytes`, as are the errors.
        """
        pointer = "/consolidated_metadata"
        envelope: Any = strictjson.plain(
            {**self.to_json(), "metadata": {}}, location, pointer, depth=1
        )
        known = self.texts(3)
        new = known.unknown(self.entries)
        try:
            entries, text = known.encode(self.entries, location, f"{pointer}/metadata")
            valid = {**envelope, "metadata": {path: entries[path] for path in new}}
            check_group({**document, "consolidated_metadata": valid}, location, understood)
        except BaseException:
            known.clear()  # it has entries that are not valid
            raise
        texts = {
            name: text if name == "metadata" else encode_nested(value, 2)
            for name, value in envelope.items()
        }
        return ConsolidatedMetadata(
            entries, {**envelope, "metadata": entries}, known
        ), joined_members(texts, 2)

    def with_text(self, text: bytes, *path: str) -> ConsolidatedMetadata:
        """Consolidated metadata as read, with the text of its document.

        ``path`` has the names that lead to the entries.
        """
        return replace(self, encoded=EncodedMembers.from_text(text, self.entries, *path))

    def texts(self, level: int) -> EncodedMembers:
        """The text of entries that were written, at the nesting that a format has."""
        known = self.encoded
        return known if known is not None and known.level == level else EncodedMembers(level)

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def paths(self) -> Iterable[str]:
        """Paths of the nodes, relative to the group, in the order of the document."""
        return self.entries.keys()

    def below(self, path: str) -> ConsolidatedMetadata:
        """Return the consolidated metadata of one of the groups."""
        prefix = f"{path}/" if path else ""
        return ConsolidatedMetadata(
            {
                name.removeprefix(prefix): document
                for name, document in self.entries.items()
                if name.startswith(prefix)
            }
        )

    def compare(self, documents: Mapping[str, JSON]) -> Difference:
        """Compare with the stored documents of all nodes below the group, by relative path."""
        return Difference(
            stale=tuple(
                path
                for path, document in self.entries.items()
                if path in documents
                and not strictjson.identical(
                    _without_copies(document), _without_copies(documents[path])
                )
            ),
            missing=tuple(path for path in documents if path not in self.entries),
            extra=tuple(path for path in self.entries if path not in documents),
        )


# Members with consolidated metadata, in version 3 or 2.
_COPIES = ("consolidated_metadata", ".zmetadata")


def _without_copies(document: JSON) -> JSON:
    if not isinstance(document, dict):
        return document
    # zarr-python 3 also leaves an empty one in the copies of groups of version 2.
    return {
        name: _without_copies(value) if name == ".zgroup" else value
        for name, value in document.items()
        if name not in _COPIES
    }
