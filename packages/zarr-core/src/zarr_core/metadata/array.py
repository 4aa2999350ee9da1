"""Metadata of an array.

All formats convert their documents to this class, which does not look up extensions.
"""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.definition import ExtensionDefinition
from zarr_core.metadata.attributes import MetadataAttributes
from zarr_core.metadata.validation import ARRAY_MEMBERS, array_problems, check_array

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

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
        if type(self.attributes) is not MetadataAttributes:
            object.__setattr__(self, "attributes", MetadataAttributes(self.attributes))

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
        cls,
        document: JSON,
        location: Location | str = "array metadata",
        understood: Collection[str] = (),
    ) -> ArrayMetadata:
        """Create metadata from a document of version 3.

        Parameters
        ----------
        document : JSON
            The document from :func:`zarr_core.strictjson.loads`; it is not copied.
        location : Location or str
            Name of the document, for errors.
        understood : collection of str
            Additional fields that an extension understands.

        Raises
        ------
        MetadataValidationError
            If it is not a valid document; has all problems.
        UnsupportedFieldError
            If it has unknown fields that must be understood.
        """
        return _from_v3(check_array(document, location, understood))

    def to_json(self) -> dict[str, JSON]:
        """Return the version 3 document.

        Unchanged parts are written as they were read: the order of members, the forms of
        definitions, unknown members and empty optional members.
        """
        return _to_v3(self)

    def to_bytes(
        self, location: Location | str = "new array metadata", understood: Collection[str] = ()
    ) -> bytes:
        """Return the version 3 document as it is stored.

        Additional fields of the document that was read are valid.  Parameters are those of
        :meth:`from_json`.

        Raises
        ------
        MetadataValidationError
            If it is not valid, or has a value that JSON cannot represent.
        UnsupportedFieldError
            If it has unknown fields that must be understood.
        """
        return self.to_stored(location, understood)[0]

    def to_stored(
        self, location: Location | str = "new array metadata", understood: Collection[str] = ()
    ) -> tuple[bytes, ArrayMetadata]:
        """Return the version 3 document as it is stored, and the metadata as read from it.

        Parameters and errors are those of :meth:`to_bytes`.
        """
        old = self.document or {}
        if self._is_as_read and "attributes" in old:
            attributes: Any = strictjson.plain(
                dict(self.attributes), location, "/attributes", depth=1
            )
            document = {**old, "shape": list(self.shape), "attributes": attributes}
            are_lengths = all(type(length) is int and length >= 0 for length in self.shape)
            if are_lengths and not array_problems(document):
                stored = self.replace(attributes=attributes)
                object.__setattr__(stored, "document", document)
                return strictjson.encode(document), stored
        document = check_array(
            strictjson.plain(self.to_json(), location), location, (*old, *understood)
        )
        return strictjson.encode(document), _from_v3(document)


def _from_v3(document: dict[str, Any]) -> ArrayMetadata:
    """Return metadata from a valid document."""
    read = ExtensionDefinition.from_json
    names = document.get("dimension_names")
    metadata = ArrayMetadata(
        shape=tuple(document["shape"]),
        data_type=read(document["data_type"]),
        chunk_grid=read(document["chunk_grid"]),
        chunk_key_encoding=read(document["chunk_key_encoding"]),
        codecs=tuple(map(read, document["codecs"])),
        fill_value=document["fill_value"],
        storage_transformers=tuple(map(read, document.get("storage_transformers", ()))),
        dimension_names=None if names is None else tuple(names),
        attributes=document.get("attributes", {}),
        additional_fields=additional(document, ARRAY_MEMBERS),
        document=document,
    )
    object.__setattr__(metadata, "_is_as_read", True)
    return metadata


def _to_v3(metadata: ArrayMetadata) -> dict[str, JSON]:
    """Return the document, in the order of the one that was read."""
    old = metadata.document or {}
    members: dict[str, JSON] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(metadata.shape),
        "data_type": metadata.data_type.to_json(),
        "chunk_grid": metadata.chunk_grid.to_json(),
        "chunk_key_encoding": metadata.chunk_key_encoding.to_json(),
        "fill_value": metadata.fill_value,
        "codecs": [definition.to_json() for definition in metadata.codecs],
        "storage_transformers": [item.to_json() for item in metadata.storage_transformers],
    }
    if not metadata.storage_transformers and "storage_transformers" not in old:
        del members["storage_transformers"]
    if metadata.dimension_names is not None:
        members["dimension_names"] = list(metadata.dimension_names)
    if metadata.attributes or not old or "attributes" in old:
        members["attributes"] = dict(metadata.attributes)
    return in_order_of(old, members | metadata.additional_fields)


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
