"""Copies of the documents below a group, inside the group's own document.

Specification: v3.1, "Additional fields": the member ``consolidated_metadata`` is
``{"kind": "inline", "must_understand": false, "metadata": {path: document}}``.
The specification names the envelope and leaves the contents to writers; paths
here are relative to the group, as zarr-python has them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.metadata.array import in_order_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from zarr_core.definition import JSON


@dataclass(frozen=True, slots=True)
class Difference:
    """How consolidated metadata differs from the documents that are stored.

    Parameters
    ----------
    stale : tuple of str
        Paths whose copy is not what is stored.
    missing : tuple of str
        Paths that are stored and have no copy.
    extra : tuple of str
        Paths that have a copy and are not stored.
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
    """The documents of the nodes below a group.  Immutable.

    Parameters
    ----------
    entries : dict
        Path relative to the group (``"a/b"``) -> document.  Documents are looked
        at when a node is asked for, not before.
    envelope : dict, optional
        The member as it was read, which gives the order of its parts.
    """

    entries: dict[str, JSON]
    envelope: dict[str, JSON] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def from_json(cls, value: JSON) -> ConsolidatedMetadata | None:
        """Read the member ``consolidated_metadata``, whose structure was checked before.

        None where it is null, which zarr-python wrote for nested groups.
        """
        if not isinstance(value, dict):
            return None
        entries: Any = value["metadata"]
        return cls(entries, value)

    @classmethod
    def from_documents(cls, documents: Mapping[str, JSON]) -> ConsolidatedMetadata:
        """Consolidate documents.

        The result depends on the documents alone: paths are sorted, and copies of
        groups do not hold consolidated metadata of their own.

        Parameters
        ----------
        documents : mapping
            Path relative to the group -> document of the node.
        """
        return cls({path: _without_copies(documents[path]) for path in sorted(documents)})

    def to_json(self) -> dict[str, JSON]:
        """The member ``consolidated_metadata``."""
        members: dict[str, JSON] = {
            "kind": "inline",
            "must_understand": False,
            "metadata": self.entries,
        }
        return in_order_of(self.envelope or {}, members)

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def paths(self) -> Iterable[str]:
        """Paths of the nodes, relative to the group, in the order of the document."""
        return self.entries.keys()

    def below(self, path: str) -> ConsolidatedMetadata:
        """The part that concerns the nodes below one of the groups."""
        prefix = f"{path}/" if path else ""
        return ConsolidatedMetadata(
            {
                name.removeprefix(prefix): document
                for name, document in self.entries.items()
                if name.startswith(prefix)
            }
        )

    def compare(self, documents: Mapping[str, JSON]) -> Difference:
        """Compare with the documents that are stored.

        Parameters
        ----------
        documents : mapping
            Path relative to the group -> document, for all nodes below the group.
        """
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


# What holds the copies of a group, in version 3 or 2.
_COPIES = ("consolidated_metadata", ".zmetadata")


def _without_copies(document: JSON) -> JSON:
    if not isinstance(document, dict):
        return document
    # zarr-python 3 leaves an empty one in the copies of groups of version 2, too.
    return {
        name: _without_copies(value) if name == ".zgroup" else value
        for name, value in document.items()
        if name not in _COPIES
    }
