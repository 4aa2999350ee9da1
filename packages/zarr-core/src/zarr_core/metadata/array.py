"""Metadata of an array.

All formats convert their documents to this class, which does not look up extensions.
"""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.definition import ExtensionDefinition, freeze, freeze_fields, ordinary
from zarr_core.metadata.validation import ARRAY_MEMBERS, array_problems, check_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zarr_core.definition import JSON
    from zarr_core.location import Location


@dataclass(frozen=True, slots=True)
class ArrayMetadata:
    """Metadata of an array.  Immutable; do not change the dictionaries within.

    Parameters
    ----------
    shape : tuple of int
        Length of each dimension, in elements.
    data_type, chunk_grid, chunk_key_encoding : ExtensionDefinition
        As in the document.
    codecs : tuple of ExtensionDefinition
        In the order of encoding.
    fill_value : JSON
        In its JSON form; the data type decodes it.
    storage_transformers : tuple of ExtensionDefinition
        The transformer nearest to the array first.
    dimension_names : tuple of str or None, optional
        One for each dimension; None if the document has no names.
    attributes : dict
        The attributes; they are changed through the node, with ``array.attrs``.
    additional_fields : dict
        Fields that the specification does not define, unchanged.
    document : dict, optional
        The document from which this was read, in its own format.  It determines the order of
        the members and which optional members are written.
    fill_value_undefined : bool
        Whether the document has no fill value, as version 2 permits.  Missing chunks then read
        as ``fill_value``, and every chunk is stored, as other readers may use another value.
    data_type_fallbacks : tuple of ExtensionDefinition
        Alternatives to ``data_type`` (draft of December 2022).
    chunk_memory_layout : ExtensionDefinition, optional
        Order of the elements, if it is an extension (draft of December 2022).
    nonstandard : tuple of str
        What was not valid in the stored document; ``document`` has the valid form.
    """

    shape: tuple[int, ...]
    data_type: ExtensionDefinition
    chunk_grid: ExtensionDefinition
    chunk_key_encoding: ExtensionDefinition
    codecs: tuple[ExtensionDefinition, ...]
    fill_value: JSON
    storage_transformers: tuple[ExtensionDefinition, ...] = ()
    dimension_names: tuple[str | None, ...] | None = None
    attributes: dict[str, JSON] = field(default_factory=dict)
    additional_fields: dict[str, JSON] = field(default_factory=dict)
    document: dict[str, JSON] | None = field(default=None, repr=False, compare=False)
    fill_value_undefined: bool = False
    data_type_fallbacks: tuple[ExtensionDefinition, ...] = ()
    chunk_memory_layout: ExtensionDefinition | None = None
    nonstandard: tuple[str, ...] = field(default=(), repr=False, compare=False)
    _extensions_key: bytes | None = field(default=None, init=False, repr=False, compare=False)
    # Whether it is what `document` of version 3 contains, except for the shape and attributes.
    _is_as_read: bool = field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        freeze_fields(self, "attributes", "additional_fields", "document")

    @property
    def extensions_key(self) -> bytes:
        """Key for caches: all extensions with the fill value; empty if a configuration is not JSON."""
        key = self._extensions_key
        if key is None:
            points = (
                (self.data_type, self.chunk_grid, self.chunk_key_encoding, *self.codecs),
                self.storage_transformers,
                self.data_type_fallbacks,
                () if self.chunk_memory_layout is None else (self.chunk_memory_layout,),
            )
            content: list[Any] = [
                [(item.name, item.configuration, item.must_understand) for item in definitions]
                for definitions in points
            ]
            try:
                # Unlike repr() and json.dumps(), it keeps the text of numbers and types of NumPy.
                key = pickle.dumps((content, self.fill_value, self.fill_value_undefined), 4)
            except Exception:  # a configuration that is not JSON
                key = b""
            object.__setattr__(self, "_extensions_key", key)
        return key

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __hash__(self) -> int:
        # Dictionaries have no hash.
        return hash((self.shape, self.data_type.name, self.dimension_names, len(self.codecs)))

    def replace(self, **changes: Any) -> ArrayMetadata:
        """Return a copy with other values of some fields."""
        if "document" in changes:
            changes.setdefault("nonstandard", ())
        new = dataclasses.replace(self, **changes)
        if changes.keys() <= {"shape", "dimension_names", "attributes"}:
            object.__setattr__(new, "_extensions_key", self._extensions_key)
        if changes.keys() <= {"shape", "attributes"}:
            object.__setattr__(new, "_is_as_read", self._is_as_read)
        return new

    @classmethod
    def from_json(
        cls, document: JSON, location: Location | str = "array metadata"
    ) -> ArrayMetadata:
        """Create metadata from a document of version 3; its additional fields are not checked.

        Parameters
        ----------
        document : JSON
            The document from :func:`zarr_core.strictjson.loads`.
        location : Location or str
            Name of the document, for errors.

        Raises
        ------
        MetadataValidationError
            If it is not a valid document; has all problems.
        """
        members = freeze(check_document(document, location, "array"))  # shared by all fields
        read = ExtensionDefinition.from_json
        names = members.get("dimension_names")
        metadata = cls(
            shape=tuple(members["shape"]),
            data_type=read(members["data_type"]),
            chunk_grid=read(members["chunk_grid"]),
            chunk_key_encoding=read(members["chunk_key_encoding"]),
            codecs=tuple(map(read, members["codecs"])),
            fill_value=members["fill_value"],
            storage_transformers=tuple(map(read, members.get("storage_transformers", ()))),
            dimension_names=None if names is None else tuple(names),
            attributes=members.get("attributes", {}),
            additional_fields=additional(members, ARRAY_MEMBERS),
            document=members,
        )
        object.__setattr__(metadata, "_is_as_read", True)
        return metadata

    def to_json(self) -> dict[str, JSON]:
        """Return the version 3 document.

        Unchanged parts are written as they were read: the order of members, the forms of
        definitions, unknown members and empty optional members.
        """
        old = self.document or {}
        members: dict[str, JSON] = {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": self.data_type.to_json(),
            "chunk_grid": self.chunk_grid.to_json(),
            "chunk_key_encoding": self.chunk_key_encoding.to_json(),
            "fill_value": ordinary(self.fill_value),
            "codecs": [definition.to_json() for definition in self.codecs],
        }
        if self.storage_transformers or "storage_transformers" in old:
            members["storage_transformers"] = [
                definition.to_json() for definition in self.storage_transformers
            ]
        if self.dimension_names is not None:
            members["dimension_names"] = list(self.dimension_names)
        if self.attributes or not old or "attributes" in old:
            members["attributes"] = ordinary(self.attributes)
        return in_order_of(old, members | ordinary(self.additional_fields))

    def to_stored(
        self, location: Location | str = "new array metadata"
    ) -> tuple[bytes, ArrayMetadata]:
        """Return the version 3 document as it is stored, and the metadata as read from it.

        Raises
        ------
        MetadataValidationError
            If it is not valid, or has a value that JSON cannot represent.
        """
        old = self.document or {}
        if self._is_as_read and "attributes" in old:  # an append or a new attribute
            attributes: Any = strictjson.plain(
                dict(self.attributes), location, "/attributes", depth=1
            )
            document = {**old, "shape": list(self.shape), "attributes": attributes}
            are_lengths = all(type(length) is int and length >= 0 for length in self.shape)
            if are_lengths and not array_problems(document):
                stored = self.replace(attributes=attributes, document=document, nonstandard=())
                object.__setattr__(stored, "_extensions_key", self._extensions_key)
                object.__setattr__(stored, "_is_as_read", True)
                return strictjson.encode(document), stored
        stored = self.from_json(strictjson.plain(self.to_json(), location), location)
        return strictjson.encode(stored.document), stored


def additional(document: Mapping[str, JSON], known: tuple[str, ...]) -> dict[str, JSON]:
    """Return the members of a document that the specification does not define."""
    if document.keys() <= set(known):
        return {}
    return {name: value for name, value in document.items() if name not in known}


def in_order_of(old: Mapping[str, JSON], members: dict[str, JSON]) -> dict[str, JSON]:
    """Return members in the order of an older document, new ones last."""
    if not old:
        return members
    ordered = {name: members[name] for name in old if name in members}
    return ordered | members
