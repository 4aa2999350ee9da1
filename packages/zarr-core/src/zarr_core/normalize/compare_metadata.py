"""Compare the metadata of an array with a part of a ``zarr.json``, member by member."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.errors import CodecChainError, ExtensionError, ZarrError
from zarr_core.metadata.validation import ARRAY_MEMBERS
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer
from zarr_core.normalize.codecs import codec_kind
from zarr_core.printable import shorten
from zarr_core.registry.resolve import create_extension, require_extension

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zarr_core.definition import JSON
    from zarr_core.metadata.array import ArrayMetadata

_MISSING: Any = object()
_KINDS = ("array -> array", "array -> bytes", "bytes -> bytes")


def document_of(metadata: ArrayMetadata) -> dict[str, JSON]:
    """All members of the metadata, in the terms of version 3; an undefined fill value is None."""
    document = metadata.to_json()
    del document["zarr_format"], document["node_type"]
    if metadata.fill_value_undefined:
        document["fill_value"] = None
    unnamed: list[JSON] = [None] * metadata.ndim
    defaults: dict[str, JSON] = {
        "storage_transformers": [],
        "dimension_names": unnamed,
        "attributes": {},
    }
    return {**defaults, **document}


def differences(metadata: ArrayMetadata, expected: Mapping[str, Any]) -> list[ValidationProblem]:
    """Every difference of the metadata from the members of a part of a ``zarr.json``."""
    comparison = Comparison(metadata)
    comparison.documents(document_of(metadata), expected)
    return comparison.problems


class Comparison:
    """Merges parts of a ``zarr.json``, and collects their contradictions in ``problems``.

    With the metadata of an array, the first part is its whole document.  Members that it does not
    have are then contradictions, and different forms of a value are equal.
    """

    def __init__(self, metadata: ArrayMetadata | None = None) -> None:
        self.problems: list[ValidationProblem] = []
        self._metadata = metadata

    def _differ(self, pointer: str, one: Any, other: Any) -> None:
        stored = "missing" if one is _MISSING else shown(one)
        self.problems.append(ValidationProblem(pointer, f"is {stored}, not {shown(other)}"))

    def documents(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        """Merge two documents."""
        merged = {**other, **one}
        for member in sorted(other, key=[*ARRAY_MEMBERS, *other].index):
            left, right, pointer = one.get(member, _MISSING), other[member], json_pointer(member)
            if left is _MISSING:
                if self._metadata is not None:
                    self._differ(pointer, left, right)
            elif member == "shape":
                lengths = [b if a is None else a for a, b in zip(left, right, strict=False)]
                pairs = zip(lengths, right, strict=False)
                if len(left) == len(right) and all(length in (None, a) for a, length in pairs):
                    merged[member] = lengths
                else:
                    self._differ(pointer, left, right)
            elif member in ("data_type", "chunk_grid", "chunk_key_encoding"):
                items = definition_of(left), definition_of(right)
                if self._metadata is not None:
                    items = _normal(member, items[0]), _normal(member, items[1])
                merged[member] = self.definitions(*items, pointer).to_json()
            elif member == "fill_value" and self._metadata is not None:
                if not _is_fill_value(self._metadata, right, other.get("data_type")):
                    self._differ(pointer, left, right)
            elif member == "codecs":
                ones, others = definitions_of(left), definitions_of(right)
                if self._metadata is not None:
                    ones, within = without_format_codec(ones, others)
                    pointer += within
                merged[member] = [item.to_json() for item in self._codecs(ones, others, pointer)]
            elif member == "storage_transformers":
                ones, others = definitions_of(left), definitions_of(right)
                self._lists(ones, others, pointer, "storage transformer")
            elif member == "attributes":
                merged[member] = self._members(left, right, pointer)
            elif not same_json(left, right):
                self._differ(pointer, left, right)
        return merged

    def _members(
        self, one: Mapping[str, Any], other: Mapping[str, Any], pointer: str
    ) -> dict[str, Any]:
        """Merge objects by their members, each as a whole."""
        for name, value in other.items():
            if name in one or self._metadata is not None:
                stored = one.get(name, _MISSING)
                if not same_json(stored, value):
                    self._differ(pointer + json_pointer(name), stored, value)
        return {**other, **one}

    def _codecs(
        self, one: list[ExtensionDefinition], other: list[ExtensionDefinition], pointer: str
    ) -> list[ExtensionDefinition]:
        """Merge chains by kinds and positions; the array -> bytes codec can be missing."""
        merged: list[ExtensionDefinition] = []
        for kind, ones, others in zip(_KINDS, split_codecs(one), split_codecs(other), strict=True):
            if kind == _KINDS[1] and not (ones and others):
                merged += ones or others
            else:
                merged += self._lists(ones, others, pointer, f"{kind} codec", len(merged))
        return merged

    def _lists(
        self,
        ones: list[ExtensionDefinition],
        others: list[ExtensionDefinition],
        pointer: str,
        what: str,
        first: int = 0,
    ) -> list[ExtensionDefinition]:
        """Merge definitions by position; ``first`` is the position of the first one."""
        merged = [*ones]
        if len(ones) != len(others):
            names = [", ".join(shown(item.name) for item in items) for items in (ones, others)]
            has = f"the {what}{'' if len(ones) == 1 else 's'} {names[0]}" if ones else f"no {what}"
            problem = ValidationProblem(pointer, f"has {has}, not {names[1] or 'none'}")
            self.problems.append(problem)
        for number, (one, other) in enumerate(zip(ones, others, strict=False)):
            if len(ones) != len(others) and one.name != other.name:
                break  # which of them is missing is not known
            merged[number] = self.definitions(one, other, f"{pointer}/{first + number}")
        return merged

    def definitions(
        self, one: ExtensionDefinition, other: ExtensionDefinition, pointer: str = ""
    ) -> ExtensionDefinition:
        """Merge the configurations by their members, which can be lists of codecs."""
        if one.name != other.name:
            self._differ(pointer, one.name, other.name)
            return one
        stored: Mapping[str, JSON] = one.configuration
        metadata = self._metadata
        if metadata is not None and other.configuration.keys() - stored.keys():
            stored = {**_configuration(one), **stored}
        merged = {**other.configuration, **one.configuration}
        for member, value in other.configuration.items():
            at = f"{pointer}/configuration{json_pointer(member)}"
            ones, others = inner_codecs(one, member), inner_codecs(other, member)
            if ones is not None and others is not None:
                merged[member] = [item.to_json() for item in self._codecs(ones, others, at)]
            elif member in stored or metadata is not None:
                left = stored.get(member, _MISSING)
                # Other forms, such as "F" for the order of transpose.
                if not same_json(left, value) and (
                    metadata is None
                    or not same_json(left, _configuration(other, metadata).get(member, value))
                ):
                    self._differ(at, left, value)
        if merged == one.configuration:
            return one
        return ExtensionDefinition(one.name, merged, one.must_understand and other.must_understand)


def _is_fill_value(metadata: ArrayMetadata, wanted: Any, data_type: JSON) -> bool:
    """Whether the fill values have the same bytes, also if they differ in their JSON form."""
    if wanted is None and metadata.fill_value_undefined:
        return True
    stored_type = _normal("data_type", metadata.data_type)
    if data_type is not None and _normal("data_type", definition_of(data_type)) != stored_type:
        return same_json(metadata.fill_value, wanted)
    resolved = resolve_cached(metadata, "array metadata", "")
    try:
        value = resolved.data_type.fill_value_as_stored(wanted, resolved.chain.byte_order)
    except (ValueError, TypeError, OverflowError):
        return False
    found = resolved.fill_value
    if found.dtype.hasobject:
        return bool(found[()] == value[()])
    return found.tobytes() == value.tobytes()


# --- definitions ---


def definition_of(value: Any) -> ExtensionDefinition:
    """A definition of JSON, a name or an object."""
    return value if isinstance(value, ExtensionDefinition) else ExtensionDefinition.from_json(value)


def definitions_of(values: Any) -> list[ExtensionDefinition]:
    """A list of definitions of JSON."""
    return [definition_of(value) for value in values]


def _normal(extension_point: str, definition: ExtensionDefinition) -> ExtensionDefinition:
    """The definition with every default, or the same if its configuration is partial."""
    try:
        extension = require_extension(extension_point, definition)
        normal: ExtensionDefinition = extension.to_definition()
    except (ExtensionError, ValueError):
        return definition
    return normal


# --- codecs ---


def split_codecs(codecs: Sequence[ExtensionDefinition]) -> list[list[ExtensionDefinition]]:
    """The array -> array codecs, the array -> bytes codec if there is one, and bytes -> bytes codecs.

    An unknown codec is array -> array before codecs of arrays, else bytes -> bytes.

    Raises
    ------
    CodecChainError
        If they are not in this order, or there are several array -> bytes codecs.
    """
    kinds = [codec_kind(definition) for definition in codecs]
    known = [kind for kind in kinds if kind is not None]
    if known != sorted(known) or known.count(1) > 1:
        raise CodecChainError(
            "codecs must be any array -> array codecs, then at most one array -> bytes codec, then "
            f"any bytes -> bytes codecs; here: {', '.join(item.name for item in codecs)}"
        )
    of_arrays = max((number for number, kind in enumerate(kinds) if kind in (0, 1)), default=-1)
    split: list[list[ExtensionDefinition]] = [[], [], []]
    for number, (definition, kind) in enumerate(zip(codecs, kinds, strict=True)):
        if kind is None:
            kind = 0 if number < of_arrays else 2
        split[kind].append(definition)
    return split


def inner_codecs(definition: ExtensionDefinition, member: str) -> list[ExtensionDefinition] | None:
    """Return a list of codecs in the configuration of a codec, else None."""
    value = definition.configuration.get(member) if member in ("codecs", "index_codecs") else None
    if not isinstance(value, list) or not all(
        isinstance(item, str) or (isinstance(item, dict) and "name" in item) for item in value
    ):
        return None
    return definitions_of(value)


def without_format_codec(
    codecs: Sequence[ExtensionDefinition], wanted: Sequence[ExtensionDefinition] = ()
) -> tuple[list[ExtensionDefinition], str]:
    """The codecs within a codec of the format, such as N5's blocks, and the pointer to them.

    Users do not name such a codec, which only contains the others.
    """
    if len(codecs) == 1 and codecs[0].configuration.keys() == {"codecs"}:
        inner = inner_codecs(codecs[0], "codecs")
        if inner is not None and all(item.name != codecs[0].name for item in wanted):
            return inner, "/0/configuration/codecs"
    return [*codecs], ""


def _configuration(
    definition: ExtensionDefinition, metadata: ArrayMetadata | None = None
) -> Mapping[str, JSON]:
    """The configuration of a codec with its defaults; empty if it cannot be created."""
    try:
        codec = create_extension("codec", definition, complete=False)
        if codec is None:
            return {}
        if metadata is not None:
            codec = codec.resolve(resolve_cached(metadata, "array metadata", "").codecs.decoded)
        configuration: Mapping[str, JSON] = codec.to_configuration()
    except (ZarrError, ValueError, TypeError):
        return {}
    return configuration


# --- JSON ---


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; numbers by value, ``1`` and ``true`` differ."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same_json(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_json, one, other))
    return bool(one == other or (one != one and other != other))


def shown(value: Any) -> str:
    """Return a JSON value as text, shortened."""
    return shorten(json.dumps(value, ensure_ascii=False, default=repr), 200)
