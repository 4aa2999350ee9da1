"""Metadata of groups, under the class names of zarr-python."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from zarr_compat.metadata import array_metadata_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["ConsolidatedMetadata", "GroupMetadata", "ImplicitGroupMarker"]


@dataclass(frozen=True)
class ConsolidatedMetadata:
    """Metadata of the members of a group; groups among them have that of their members.

    Parameters
    ----------
    metadata : dict
        Metadata of arrays and groups by name.
    """

    metadata: dict[str, Any]
    kind: str = "inline"
    must_understand: bool = False

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create it from the additional field of a metadata document."""
        if data.get("kind") != "inline":
            raise ValueError(f"Consolidated metadata kind={data.get('kind')!r} is not supported.")
        documents = data.get("metadata")
        if not isinstance(documents, dict):
            raise TypeError(f"Unexpected type for 'metadata': {type(documents)}")
        for path, document in documents.items():
            if not isinstance(document, dict):
                raise TypeError(
                    f"Invalid value for metadata items. key={path!r}, "
                    f"type={type(document).__name__!r}"
                )
        return cls(_nested({path: metadata_of(value) for path, value in documents.items()}))

    @staticmethod
    def _flat_to_nested(metadata: dict[str, Any]) -> None:
        """Replace metadata by path by that by name, in place."""
        nested = _nested(metadata)
        metadata.clear()
        metadata.update(nested)

    def to_dict(self) -> dict[str, Any]:
        """Return the additional field, with paths relative to the group."""
        ordered = sorted(
            self.flattened_metadata.items(),
            key=lambda item: (item[0].count("/"), item[0].casefold()),
        )
        return {
            "kind": self.kind,
            "must_understand": self.must_understand,
            "metadata": {path: metadata.to_dict() for path, metadata in ordered},
        }

    @property
    def flattened_metadata(self) -> dict[str, Any]:
        """Metadata of all nodes below the group by path."""
        flat: dict[str, Any] = {}
        for name, metadata in self.metadata.items():
            inner = getattr(metadata, "consolidated_metadata", None)
            if inner is None:
                flat[name] = metadata
                continue
            flat[name] = replace(metadata, consolidated_metadata=ConsolidatedMetadata({}))
            for path, other in inner.flattened_metadata.items():
                flat[f"{name}/{path}"] = other
        return flat


@dataclass(frozen=True)
class GroupMetadata:
    """Metadata of a group.

    Parameters
    ----------
    attributes : dict, optional
        The attributes.
    zarr_format : {2, 3}
        Version of the format.
    consolidated_metadata : ConsolidatedMetadata, optional
        The metadata of its members.
    extra_fields : dict
        Additional fields, with their values.
    """

    attributes: dict[str, Any] = field(default_factory=dict)
    zarr_format: int = 3
    consolidated_metadata: ConsolidatedMetadata | None = None
    extra_fields: dict[str, Any] = field(default_factory=dict)
    node_type: str = field(default="group", init=False)

    def __post_init__(self) -> None:
        if self.zarr_format not in (2, 3):
            raise ValueError(
                f"Invalid zarr_format. Expected one of 2 or 3. Got {self.zarr_format}."
            )
        if self.attributes is None:
            object.__setattr__(self, "attributes", {})  # type: ignore[unreachable]  # programs pass it

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Create it from a metadata document with its attributes."""
        inner = data.get("consolidated_metadata")
        return cls(
            dict(data.get("attributes") or {}),
            data.get("zarr_format", 3),
            ConsolidatedMetadata.from_dict(inner) if inner else None,
            {name: value for name, value in data.items() if name not in _MEMBERS},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata document with its attributes."""
        document: dict[str, Any] = {
            "attributes": dict(self.attributes),
            "zarr_format": self.zarr_format,
            "node_type": self.node_type,
        }
        if self.consolidated_metadata is not None:
            document["consolidated_metadata"] = self.consolidated_metadata.to_dict()
        return document | self.extra_fields

    def to_buffer_dict(self, prototype: Any) -> dict[str, Any]:
        """Return the documents by key, without consolidated metadata of version 2."""
        documents: dict[str, Any] = {"zarr.json": self.to_dict()}
        if self.zarr_format == 2:
            documents = {".zgroup": {"zarr_format": 2}, ".zattrs": self.attributes}
        return {
            key: prototype.buffer.from_bytes(json.dumps(document, indent=2).encode())
            for key, document in documents.items()
        }


_MEMBERS = ("zarr_format", "node_type", "attributes", "consolidated_metadata")


@dataclass(frozen=True)
class ImplicitGroupMarker(GroupMetadata):
    """Marks groups that are created only if they do not exist."""


def metadata_of(document: Mapping[str, Any]) -> Any:
    """Return the metadata of an array or group for a document with its attributes."""
    document = deepcopy(document)  # zarr-python changes documents, those of the core are read-only
    if document.get("node_type") == "array" or "shape" in document:
        return array_metadata_of(document)
    return GroupMetadata.from_dict(document)


def consolidated_metadata_of(entries: Mapping[str, Any]) -> ConsolidatedMetadata:
    """Return the consolidated metadata for the entries of a group of the core."""
    documents = {path: _document(entry) for path, entry in entries.items()}
    return ConsolidatedMetadata(
        _nested({path: metadata_of(document) for path, document in documents.items()})
    )


def _document(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a consolidated entry as one document; in version 2, it has one for each key."""
    if "zarr_format" in entry:
        return entry
    main: Any = entry.get(".zarray") or entry.get(".zgroup") or {"zarr_format": 2}
    return {**main, "attributes": entry.get(".zattrs", {})}


def _nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata by name, for metadata by path."""
    names = {path.split("/", 1)[0]: path for path in flat if "/" not in path}
    nested: dict[str, Any] = {}
    for name in names:
        metadata = flat[name]
        if isinstance(metadata, GroupMetadata):
            start = f"{name}/"
            below = {
                path.removeprefix(start): value
                for path, value in flat.items()
                if path.startswith(start)
            }
            inner = ConsolidatedMetadata(_nested(below))
            metadata = replace(metadata, consolidated_metadata=inner)
        nested[name] = metadata
    return nested
