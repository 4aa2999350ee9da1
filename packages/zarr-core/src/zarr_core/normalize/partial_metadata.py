"""Partial array metadata: what is expected of an array, or given for a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.errors import MetadataValidationError, UnsupportedFieldError
from zarr_core.formats.lookup import format_named
from zarr_core.metadata.array import ArrayMetadata
from zarr_core.metadata.nonstandard import standard_fill_value
from zarr_core.metadata.schema import Schema, core_schema
from zarr_core.metadata.validation import (
    ARRAY_MEMBERS,
    array_problems,
    is_fill_value,
    unknown_members,
)
from zarr_core.normalize.codecs import configuration_to_json
from zarr_core.normalize.compare_metadata import Comparison, differences, document_of
from zarr_core.printable import shorten
from zarr_core.registry.extension_names import names

if TYPE_CHECKING:
    from zarr_core.definition import JSON
    from zarr_core.location import Location
    from zarr_core.metadata.validation_problem import ValidationProblem


@dataclass(frozen=True, slots=True)
class PartialArrayMetadata:
    """A part of the metadata of an array, in the terms of version 3.  Immutable.

    With it, an existing array is compared (:meth:`problems`), or a new one is created
    (:meth:`complete`).  Members that are not given can have any value, or get their defaults.

    Parameters
    ----------
    document : dict
        Valid members of a ``zarr.json``; :meth:`from_json` validates them.  Do not change it.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> expected = zarr.PartialArrayMetadata.from_json({"shape": [None, 5], "data_type": "int32"})
    >>> array = zarr.create_array(shape=(4, 5), dtype="float32")
    >>> for problem in expected.problems(array.metadata):
    ...     print(problem)
    /data_type: is "float32", not "int32"
    """

    document: dict[str, JSON] = field(default_factory=dict)

    @classmethod
    def from_json(
        cls, document: Mapping[str, Any], location: Location | str = "partial array metadata"
    ) -> PartialArrayMetadata:
        """Create an instance from a part of a ``zarr.json``.

        Parameters
        ----------
        document : mapping
            Members of the document.  Lengths in ``shape`` can be null.  The array -> bytes codec
            can be omitted, and configurations can be partial, also those within
            ``sharding_indexed``.  Codecs can be names, or any form that ``compressors`` of
            :func:`zarr_core.create_array` accepts.  A fill value of null is undefined (version 2).
        location : Location or str
            The document, for errors.

        Raises
        ------
        MetadataValidationError
            If it is not valid; has all problems.
        UnsupportedFieldError
            If it has unknown members that are not objects with ``"must_understand": false``.
        """
        members: Any = strictjson.plain(configuration_to_json(dict(document)), location)
        value, data_type = members.get("fill_value"), members.get("data_type")
        if type(value) is float and not is_fill_value(data_type, value):
            standard = standard_fill_value(data_type, value)  # such as 42.0 for 42
            members["fill_value"] = value if standard is None else standard
        problems = _schema().problems(members)
        if not problems and "shape" in members:
            lengths = [length or 0 for length in members["shape"]]
            problems = array_problems({**members, "shape": lengths})
        if problems:
            raise MetadataValidationError(location, problems)
        if unknown_members(members, ARRAY_MEMBERS) and (
            unknown := unknown_members(members, (*ARRAY_MEMBERS, *names("extension")))
        ):
            raise UnsupportedFieldError(location, unknown)
        for name in ("zarr_format", "node_type"):
            members.pop(name, None)
        return cls(members)

    @classmethod
    def from_metadata(cls, metadata: ArrayMetadata) -> PartialArrayMetadata:
        """Create an instance with every member of the metadata of an array."""
        return cls(document_of(metadata))

    def to_json(self) -> dict[str, JSON]:
        """Return the given members, as in a ``zarr.json``."""
        return dict(self.document)

    def __or__(self, other: PartialArrayMetadata) -> PartialArrayMetadata:
        """Return what both give together.

        Configurations and attributes are merged by their members, codecs by their positions.

        Raises
        ------
        MetadataValidationError
            If they contradict each other; has all contradictions.
        """
        if not isinstance(other, PartialArrayMetadata):
            return NotImplemented
        comparison = Comparison()
        merged = comparison.documents(self.document, other.document)
        if comparison.problems:
            what = "partial metadata that contradict each other"
            raise MetadataValidationError(what, comparison.problems)
        return PartialArrayMetadata(merged)

    def problems(self, metadata: ArrayMetadata) -> list[ValidationProblem]:
        """Return every difference from the metadata of an array, each with its JSON pointer.

        Only given members are compared: of ``codecs``, the codecs of each kind (array -> array,
        array -> bytes, bytes -> bytes) by position, and of their configurations the given members;
        of ``attributes``, the given ones.  Chunk grids, chunk key encodings and data types are
        equal if their normal forms are, fill values if their bytes are.

        Raises
        ------
        ExtensionError
            If the metadata name unknown extensions.
        """
        return differences(metadata, self.document)

    def complete(self, *, zarr_format: int | str = 3, **arguments: Any) -> ArrayMetadata:
        """Return the metadata of a new array.

        Parameters
        ----------
        zarr_format : int or str
            The format of the array, which has its own defaults.
        **arguments
            Arguments of :func:`zarr_core.create_array` that describe an array, such as ``shape``.
            Members that are neither given here nor there have the defaults of new arrays.

        Raises
        ------
        TypeError
            If an argument contradicts the metadata, or there is no shape.
        MetadataValidationError, ExtensionError, CodecChainError
            As for :func:`zarr_core.create_array`.
        """
        from zarr_core.normalize.complete_metadata import complete_metadata  # seldom needed

        return complete_metadata(self.document, format_named(zarr_format), arguments)


def as_partial(metadata: Any) -> PartialArrayMetadata:
    """Return partial metadata of any form.

    Raises
    ------
    TypeError
        If it is not a mapping, ArrayMetadata or PartialArrayMetadata.
    """
    if isinstance(metadata, PartialArrayMetadata):
        return metadata
    if isinstance(metadata, ArrayMetadata):
        return PartialArrayMetadata.from_metadata(metadata)
    if isinstance(metadata, Mapping):
        return PartialArrayMetadata.from_json(metadata, "metadata")
    raise TypeError(
        "metadata must be a part of a zarr.json as a dictionary, ArrayMetadata or "
        f"PartialArrayMetadata, not {shorten(repr(metadata))}"
    )


@cache
def _schema() -> Schema:
    """The schema of array metadata without required members; lengths can be null."""
    document: Any = core_schema("array").document
    properties = dict(document["properties"])
    length = properties["shape"]["items"]
    properties["shape"] = {"type": "array", "items": {"anyOf": [length, {"type": "null"}]}}
    properties["codecs"] = {**properties["codecs"], "minItems": 0}
    return Schema({"type": "object", "properties": properties, "$defs": document["$defs"]})
