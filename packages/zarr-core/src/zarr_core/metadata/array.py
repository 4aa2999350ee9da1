"""What a metadata document says about an array, as data.

Every format reads its documents into this model.  It looks up no extension:
which code implements a definition is another step.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.definition import ExtensionDefinition
from zarr_core.metadata.rules import ARRAY_MEMBERS
from zarr_core.metadata.validation import check_array

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from zarr_core.definition import JSON


@dataclass(frozen=True, slots=True)
class ArrayMetadata:
    """Metadata of an array.  Immutable; do not change the dictionaries within.

    Parameters
    ----------
    shape : tuple of int
        Length of each dimension, in elements.
    data_type, chunk_grid, chunk_key_encoding : ExtensionDefinition
        As the document names them.
    codecs : tuple of ExtensionDefinition
        In the order of encoding.
    fill_value : JSON
        As in the document; the data type decodes it.
    storage_transformers : tuple of ExtensionDefinition
        The one nearest to the array first.
    dimension_names : tuple of str or None, optional
        One a dimension; None if the array has no such names at all.
    attributes : dict
        Metadata of the user.
    additional_fields : dict
        Members that the specification does not define, kept as they are.
    document : dict, optional
        What this was read from, in the words of the node's own format.  It says in
        which order members are written, and which optional ones were there.
    fill_value_undefined : bool
        Whether the document gives no fill value, as version 2 permits.  ``fill_value``
        then is what readers show; every chunk is stored, as others may show anything.
    data_type_fallbacks : tuple of ExtensionDefinition
        Data types that the document allows instead of its own (draft of December 2022).
    chunk_memory_layout : ExtensionDefinition, optional
        An arrangement of elements that is an extension (draft of December 2022).
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

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __hash__(self) -> int:
        # Not of every field: those that are dictionaries have no hash.
        return hash((self.shape, self.data_type.name, self.dimension_names, len(self.codecs)))

    def replace(self, **changes: Any) -> ArrayMetadata:
        """The same metadata with other values for some fields.

        All that is not named stays as it was read, to its spelling.

        Parameters
        ----------
        **changes
            Fields of this class.
        """
        return dataclasses.replace(self, **changes)

    @classmethod
    def from_json(
        cls, document: JSON, where: str = "array metadata", understood: Collection[str] = ()
    ) -> ArrayMetadata:
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
            If it is no valid array document; carries every problem.
        UnsupportedFieldError
            If it has unknown members that must be understood.
        """
        return _from_v3(check_array(document, where, understood))

    def to_json(self) -> dict[str, JSON]:
        """The version 3 document.

        What was read and not changed comes back as it was: order of the members,
        spelling of definitions, unknown members, optional members that are empty.
        """
        return _to_v3(self)

    def to_bytes(
        self, where: str = "new array metadata", understood: Collection[str] = ()
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
            If it would not be valid, or has a value without JSON form, so that
            such a document never reaches a store.
        UnsupportedFieldError
            If it has further members that must be understood, and are not.
        """
        document = strictjson.plain(self.to_json(), where)
        return strictjson.encode(
            check_array(document, where, (*(self.document or ()), *understood))
        )


def _from_v3(document: dict[str, Any]) -> ArrayMetadata:
    """The model of a document that was checked."""
    read = ExtensionDefinition.from_json
    names = document.get("dimension_names")
    return ArrayMetadata(
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


def _to_v3(metadata: ArrayMetadata) -> dict[str, JSON]:
    """The document of a model, in the order of the one that it was read from."""
    names = metadata.dimension_names
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
        "dimension_names": None if names is None else list(names),
        "attributes": metadata.attributes,
        **metadata.additional_fields,
    }
    old = metadata.document or {}
    if names is None:
        del members["dimension_names"]
    if not metadata.storage_transformers and "storage_transformers" not in old:
        del members["storage_transformers"]
    if not metadata.attributes and old and "attributes" not in old:
        del members["attributes"]
    return in_order_of(old, members)


def additional(document: Mapping[str, JSON], known: tuple[str, ...]) -> dict[str, JSON]:
    """The members of a document that the specification does not define."""
    if document.keys() <= set(known):
        return {}
    return {name: value for name, value in document.items() if name not in known}


def in_order_of(old: Mapping[str, JSON], members: dict[str, JSON]) -> dict[str, JSON]:
    """Members in the order of an older document, new ones last."""
    if not old:
        return members
    ordered = {name: members[name] for name in old if name in members}
    return ordered | members
