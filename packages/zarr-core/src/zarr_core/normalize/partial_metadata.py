"""Partial array metadata: what is expected of an array, or given for a new one."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any

from zarr_core import strictjson
from zarr_core.cache import Cache
from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.resolved_metadata import resolve_cached
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
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer
from zarr_core.normalize.codec_stages import KINDS, inner_codecs, stages
from zarr_core.normalize.codecs import configuration_to_json
from zarr_core.normalize.compare_definitions import (
    compare_codecs,
    compare_definitions,
    compare_lists,
    compare_members,
    difference,
    normal,
    same_json,
    shown,
)
from zarr_core.printable import shorten
from zarr_core.registry.extension_names import names
from zarr_core.registry.scope import cache_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence
    from types import EllipsisType

    from zarr_core.definition import JSON
    from zarr_core.engine.resolved_metadata import ResolvedMetadata
    from zarr_core.location import Location

WHERE = "partial array metadata"
"""The location in errors."""


@dataclass(frozen=True, slots=True)
class PartialArrayMetadata:
    """A part of the metadata of an array, in the terms of version 3.  Immutable.

    With it, an existing array is compared (:meth:`problems`), or a new one is created
    (:meth:`complete`).  Members that are not given can have any value, or get their defaults.

    Parameters
    ----------
    shape : tuple of (int or None), optional
        Length of each dimension; None for any length.
    data_type, chunk_grid, chunk_key_encoding : ExtensionDefinition, optional
        As in the document, also a name or an object of JSON.  The configuration can be partial.
    fill_value : JSON, optional
        In its JSON form; ``...`` if it is not given, None if it is undefined (version 2).
    codecs : tuple of ExtensionDefinition, optional
        In the order of encoding.  The array -> bytes codec can be omitted, and configurations can
        be partial, also those within ``sharding_indexed``.
    storage_transformers : tuple of ExtensionDefinition, optional
        All storage transformers.
    dimension_names : tuple of (str or None), optional
        All names; None for a dimension without a name.
    attributes : dict
        Some of the attributes.
    additional_fields : dict
        Fields that the specification does not define.

    Examples
    --------
    >>> import zarr_core as zarr
    >>> expected = zarr.PartialArrayMetadata.from_json({"shape": [None, 5], "data_type": "int32"})
    >>> array = zarr.create_array(shape=(4, 5), dtype="float32")
    >>> for problem in expected.problems(array.metadata):
    ...     print(problem)
    /data_type: is "float32", not "int32"
    """

    shape: tuple[int | None, ...] | None = None
    data_type: ExtensionDefinition | None = None
    chunk_grid: ExtensionDefinition | None = None
    chunk_key_encoding: ExtensionDefinition | None = None
    fill_value: JSON | EllipsisType = ...
    codecs: tuple[ExtensionDefinition, ...] | None = None
    storage_transformers: tuple[ExtensionDefinition, ...] | None = None
    dimension_names: tuple[str | None, ...] | None = None
    attributes: dict[str, JSON] = field(default_factory=dict)
    additional_fields: dict[str, JSON] = field(default_factory=dict)
    _extensions_key: bytes | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("data_type", "chunk_grid", "chunk_key_encoding"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, _definition(value))
        for name in ("codecs", "storage_transformers"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, tuple(map(_definition, value)))

    @property
    def extensions_key(self) -> bytes:
        """A key for caches that depends on the extensions and the fill value; empty for none."""
        key = self._extensions_key
        if key is None:
            is_given = self.fill_value is not ...
            definitions = (
                self.data_type, self.chunk_grid, self.chunk_key_encoding, self.codecs,
                self.storage_transformers,
            )  # fmt: skip
            try:
                key = pickle.dumps((definitions, is_given, is_given and self.fill_value), 4)
            except Exception:  # a configuration that is not JSON
                key = b""
            object.__setattr__(self, "_extensions_key", key)
        return key

    @classmethod
    def from_json(
        cls, document: Mapping[str, Any], location: Location | str = WHERE
    ) -> PartialArrayMetadata:
        """Create an instance from a part of a ``zarr.json``.

        Parameters
        ----------
        document : mapping
            Members of the document.  Lengths in ``shape`` can be null.  Codecs can be names, or
            any form that ``compressors`` of :func:`zarr_core.create_array` accepts.
        location : Location or str
            The document, for errors.

        Raises
        ------
        MetadataValidationError
            If it is not valid; has all problems.
        UnsupportedFieldError
            If it has unknown members that are not objects with ``"must_understand": false``.
        """
        try:
            key = pickle.dumps(document, 4)
        except Exception:  # contains objects that cannot be pickled
            return _parse(document, location)
        found = _parsed.get(key)
        return _parsed.keep(key, _parse(document, location), len(key)) if found is None else found

    @classmethod
    def from_metadata(cls, metadata: ArrayMetadata) -> PartialArrayMetadata:
        """Create an instance with every member of the metadata of an array.

        To constrain fewer members, set others to None with ``dataclasses.replace``.
        """
        unnamed = (None,) * metadata.ndim
        return cls(
            metadata.shape,
            metadata.data_type,
            metadata.chunk_grid,
            metadata.chunk_key_encoding,
            None if metadata.fill_value_undefined else metadata.fill_value,
            metadata.codecs,
            metadata.storage_transformers,
            unnamed if metadata.dimension_names is None else metadata.dimension_names,
            metadata.attributes,
            metadata.additional_fields,
        )

    def to_json(self) -> dict[str, JSON]:
        """Return the given members, as in a ``zarr.json``."""
        members: dict[str, JSON] = {}
        for item in _FIELDS:
            value: Any = getattr(self, item.name)
            if value is None and item.name != "fill_value":
                continue
            if isinstance(value, ExtensionDefinition):
                members[item.name] = value.to_json()
            elif isinstance(value, tuple):
                members[item.name] = [
                    it.to_json() if isinstance(it, ExtensionDefinition) else it for it in value
                ]
            elif item.name == "fill_value" and value is not ...:
                members[item.name] = value
        if self.attributes:
            members["attributes"] = self.attributes
        return {**members, **self.additional_fields}

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
        problems: list[ValidationProblem] = []
        merged = _merge(self, other, problems)
        if problems:
            raise MetadataValidationError("partial metadata that contradict each other", problems)
        return merged

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
        return differences(metadata, self)

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
        from zarr_core.normalize.constraints import complete_metadata

        return complete_metadata(self, format_named(zarr_format), arguments)


_FIELDS = [item for item in fields(PartialArrayMetadata) if item.init]


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


# --- reading ---

# By the content of their documents; limited by the bytes of the keys.
_parsed: Cache[bytes, PartialArrayMetadata] = Cache(1 << 18, largest=1 << 14)


@cache
def _schema() -> Schema:
    """The schema of array metadata without required members; lengths can be null."""
    document: Any = core_schema("array").document
    properties = dict(document["properties"])
    length = properties["shape"]["items"]
    properties["shape"] = {"type": "array", "items": {"anyOf": [length, {"type": "null"}]}}
    properties["codecs"] = {**properties["codecs"], "minItems": 0}
    return Schema({"type": "object", "properties": properties, "$defs": document["$defs"]})


def _definition(value: Any) -> ExtensionDefinition:
    return value if isinstance(value, ExtensionDefinition) else ExtensionDefinition.from_json(value)


def _parse(document: Mapping[str, Any], location: Location | str) -> PartialArrayMetadata:
    members: Any = strictjson.plain(configuration_to_json(dict(document)), location)
    value, data_type = members.get("fill_value"), members.get("data_type")
    if type(value) is float and not is_fill_value(data_type, value):
        found = standard_fill_value(data_type, value)  # such as 42.0 for 42
        members["fill_value"] = value if found is None else found
    problems = _schema().problems(members) or array_problems(
        {**members, "shape": [length or 0 for length in members.get("shape", ())]}
        if "shape" in members
        else {}
    )
    if problems:
        raise MetadataValidationError(location, problems)

    if unknown_members(members, ARRAY_MEMBERS) and (
        unknown := unknown_members(members, (*ARRAY_MEMBERS, *names("extension")))
    ):
        raise UnsupportedFieldError(location, unknown)
    read = ExtensionDefinition.from_json

    def one(name: str) -> ExtensionDefinition | None:
        return read(members[name]) if name in members else None

    def several(name: str) -> tuple[ExtensionDefinition, ...] | None:
        return tuple(map(read, members[name])) if name in members else None

    return PartialArrayMetadata(
        tuple(members["shape"]) if "shape" in members else None,
        one("data_type"),
        one("chunk_grid"),
        one("chunk_key_encoding"),
        members.get("fill_value", ...),
        several("codecs"),
        several("storage_transformers"),
        tuple(members["dimension_names"]) if "dimension_names" in members else None,
        members.get("attributes", {}),
        {name: value for name, value in members.items() if name not in ARRAY_MEMBERS},
    )


# --- merging ---


def _merge(
    one: PartialArrayMetadata, other: PartialArrayMetadata, problems: list[ValidationProblem]
) -> PartialArrayMetadata:
    merged: dict[str, Any] = {}
    for item in _FIELDS:
        left: Any = getattr(one, item.name)
        right: Any = getattr(other, item.name)
        pointer = json_pointer(item.name)
        missing = ... if item.name == "fill_value" else None
        if left is missing or right is missing:
            merged[item.name] = right if left is missing else left
        elif item.name == "shape":
            merged["shape"] = _merge_shapes(left, right, problems)
        elif item.name == "codecs":
            merged["codecs"] = tuple(_merge_codecs(left, right, pointer, problems))
        elif isinstance(left, ExtensionDefinition):
            merged[item.name] = _merge_definitions(left, right, pointer, problems)
        elif isinstance(left, dict):
            inner = "" if item.name == "additional_fields" else pointer
            merged[item.name] = _merge_members(left, right, inner, problems)
        else:
            if not same_json(left, right):
                problems.append(_contradiction(pointer, left, right))
            merged[item.name] = left
    return PartialArrayMetadata(**merged)


def _merge_shapes(
    left: tuple[int | None, ...],
    right: tuple[int | None, ...],
    problems: list[ValidationProblem],
) -> tuple[int | None, ...]:
    differ = len(left) != len(right) or any(
        a != b for a, b in zip(left, right, strict=True) if a is not None and b is not None
    )
    if differ:
        problems.append(_contradiction("/shape", left, right))
        return left
    return tuple(b if a is None else a for a, b in zip(left, right, strict=True))


def _merge_codecs(
    left: Sequence[ExtensionDefinition],
    right: Sequence[ExtensionDefinition],
    pointer: str,
    problems: list[ValidationProblem],
) -> Iterator[ExtensionDefinition]:
    for kind, ones, others in zip(KINDS, stages(left), stages(right), strict=True):
        if kind == "array -> bytes" and not (ones and others):
            yield from (definition for _, definition in ones or others)
        elif len(ones) != len(others):
            one, other = ([item.name for _, item in items] for items in (ones, others))
            problems.append(_contradiction(pointer, one, other, f"the {kind} codecs"))
            yield from (definition for _, definition in ones)
        else:
            for (number, a), (_, b) in zip(ones, others, strict=True):
                yield _merge_definitions(a, b, f"{pointer}/{number}", problems)


def _merge_definitions(
    left: ExtensionDefinition,
    right: ExtensionDefinition,
    pointer: str,
    problems: list[ValidationProblem],
) -> ExtensionDefinition:
    if left.name != right.name:
        problems.append(_contradiction(pointer, left.name, right.name))
        return left
    configuration = dict(left.configuration)
    for member, value in right.configuration.items():
        at = f"{pointer}/configuration{json_pointer(member)}"
        ones, others = inner_codecs(left, member), inner_codecs(right, member)
        if ones is not None and others is not None:
            merged = _merge_codecs(ones, others, at, problems)
            configuration[member] = [definition.to_json() for definition in merged]
        elif not same_json(configuration.setdefault(member, value), value):
            problems.append(_contradiction(at, configuration[member], value))
    return ExtensionDefinition(
        left.name, configuration, left.must_understand and right.must_understand
    )


def _merge_members(
    left: dict[str, JSON], right: dict[str, JSON], pointer: str, problems: list[ValidationProblem]
) -> dict[str, JSON]:
    problems += [
        _contradiction(pointer + json_pointer(name), left[name], right[name])
        for name in left.keys() & right.keys()
        if not same_json(left[name], right[name])
    ]
    return {**right, **left}


def _contradiction(pointer: str, left: Any, right: Any, what: str = "") -> ValidationProblem:
    verb = f"has {what}" if what else "is"
    return ValidationProblem(pointer, f"{verb} {shown(left)} and {shown(right)}")


# --- comparing ---


def differences(metadata: ArrayMetadata, expected: PartialArrayMetadata) -> list[ValidationProblem]:
    """Return every difference of metadata from what is expected; see ``problems`` of the class."""
    problems: list[ValidationProblem] = []
    shape = expected.shape
    if shape is not None and metadata.shape != shape and not _is_shape(metadata.shape, shape):
        problems.append(difference("/shape", metadata.shape, shape))
    key = (metadata.extensions_key, expected.extensions_key, metadata.ndim, cache_key())
    if not (key[0] and key[1] and _equal.get(key)):
        found = [*_compare_extensions(metadata, expected)]
        problems += found
        if not found:
            _equal.keep(key, True, len(key[0]) + len(key[1]))
    if expected.dimension_names is not None:
        unnamed = (None,) * metadata.ndim
        stored = metadata.dimension_names
        if (unnamed if stored is None else stored) != expected.dimension_names:
            problems.append(difference("/dimension_names", stored, expected.dimension_names))
    if expected.attributes:
        problems += compare_members(metadata.attributes, expected.attributes, "/attributes")
    if expected.additional_fields:
        problems += compare_members(metadata.additional_fields, expected.additional_fields, "")
    return problems


# Extensions of metadata that are as expected, by their content; limited by the bytes of the keys.
_equal: Cache[Hashable, bool] = Cache(1 << 20, largest=1 << 16)


def _compare_extensions(
    metadata: ArrayMetadata, expected: PartialArrayMetadata
) -> Iterator[ValidationProblem]:
    """Compare what does not depend on the lengths of the dimensions."""
    for point in ("data_type", "chunk_grid", "chunk_key_encoding"):
        wanted = getattr(expected, point)
        if wanted is not None:
            found = getattr(metadata, point)
            yield from compare_definitions(
                normal(point, found), normal(point, wanted), json_pointer(point)
            )
    resolved = resolve_cached(metadata, "array metadata", "")
    if expected.fill_value is not ... and not _is_fill_value(metadata, expected, resolved):
        stored = None if metadata.fill_value_undefined else metadata.fill_value
        yield difference("/fill_value", stored, expected.fill_value)
    if expected.codecs is not None:
        codecs, pointer = _codecs_of_format(metadata.codecs, expected.codecs)
        yield from compare_codecs(codecs, expected.codecs, pointer, resolved.codecs.decoded)
    if expected.storage_transformers is not None:
        yield from compare_lists(
            metadata.storage_transformers,
            expected.storage_transformers,
            "/storage_transformers",
            "storage transformer",
            compare_definitions,
        )


def _is_shape(found: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    return len(found) == len(wanted) and all(
        length in (None, size) for size, length in zip(found, wanted, strict=True)
    )


def _is_fill_value(
    metadata: ArrayMetadata, expected: PartialArrayMetadata, resolved: ResolvedMetadata
) -> bool:
    """Whether the fill values have the same bytes, also if they differ in their JSON form."""
    wanted: Any = expected.fill_value
    if wanted is None and metadata.fill_value_undefined:
        return True
    if expected.data_type is not None and normal("data_type", expected.data_type) != normal(
        "data_type", metadata.data_type
    ):
        return same_json(metadata.fill_value, wanted)
    try:
        value = resolved.data_type.fill_value_as_stored(wanted, resolved.chain.byte_order)
    except (ValueError, TypeError, OverflowError):
        return False
    found = resolved.fill_value
    if found.dtype.hasobject:
        return bool(found[()] == value[()])
    return found.tobytes() == value.tobytes()


def _codecs_of_format(
    found: Sequence[ExtensionDefinition], wanted: Sequence[ExtensionDefinition]
) -> tuple[Sequence[ExtensionDefinition], str]:
    """The codecs and their pointer; those within a codec of the format, such as N5's blocks.

    Users do not name such a codec, which only contains the others.
    """
    if len(found) == 1 and found[0].configuration.keys() == {"codecs"}:
        inner = inner_codecs(found[0], "codecs")
        if inner is not None and all(item.name != found[0].name for item in wanted):
            return inner, "/codecs/0/configuration/codecs"
    return found, "/codecs"
