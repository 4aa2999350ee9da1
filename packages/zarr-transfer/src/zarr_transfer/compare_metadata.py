"""Compare the metadata of an array with a part of a ``zarr.json``, member by member."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from zarr_core.engine.chain import CODEC_KINDS
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.errors import (
    CodecChainError,
    ValidationProblem,
    ZarrError,
    json_pointer,
)
from zarr_core.extension import ArrayToBytesCodec, Codec, ExtensionDefinition, create_extension
from zarr_core.messages import shorten
from zarr_core.metadata.validation import ARRAY_MEMBERS, is_fill_value
from zarr_core.normalize.codecs import codec_kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zarr_core.extension import JSON, ArrayMetadata

_MISSING: Any = object()


def document_of(metadata: ArrayMetadata) -> dict[str, Any]:
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


def metadata_differences(
    metadata: ArrayMetadata, expected: Mapping[str, Any]
) -> list[ValidationProblem]:
    """Every difference of the metadata of an array from the members of a part of a ``zarr.json``.

    Of ``codecs``, the codecs of each kind are compared by position, and of configurations and
    ``attributes`` the members that are given.  Extensions are equal if their normal forms are,
    fill values if their bytes are.
    """
    document = document_of(metadata)
    return [
        problem
        for member in sorted(expected, key=[*ARRAY_MEMBERS, *expected].index)
        for problem in _member(metadata, member, document.get(member, _MISSING), expected[member])
    ]


def _member(
    metadata: ArrayMetadata, member: str, stored: Any, value: Any
) -> Iterator[ValidationProblem]:
    """The differences in one member of the document."""
    pointer = json_pointer(member)
    if stored is _MISSING:
        is_equal = False
    elif member == "shape":
        is_equal = len(stored) == len(value) and all(
            wanted in (None, length) for length, wanted in zip(stored, value, strict=True)
        )
    elif member in ("data_type", "chunk_grid", "chunk_key_encoding"):
        one, other = (_normal(metadata, member, item) for item in definitions_of((stored, value)))
        yield from _definition(metadata, one, other, pointer)
        return
    elif member == "fill_value":
        is_equal = _is_fill_value(metadata, value)
    elif member == "codecs":
        others = definitions_of(value)
        codecs, within = without_format_codec(metadata.codecs, others)
        yield from _codecs(metadata, codecs, others, pointer + within)
        return
    elif member == "storage_transformers":
        ones, others = definitions_of(stored), definitions_of(value)
        yield from _lists(metadata, ones, others, pointer, "storage transformer")
        return
    elif member == "attributes":
        for name, item in value.items():
            if not same_json(stored.get(name, _MISSING), item):
                yield _difference(pointer + json_pointer(name), stored.get(name, _MISSING), item)
        return
    else:
        is_equal = same_json(stored, value)
    if not is_equal:
        yield _difference(pointer, stored, value)


def _codecs(
    metadata: ArrayMetadata,
    codecs: Sequence[ExtensionDefinition],
    expected: Sequence[ExtensionDefinition],
    pointer: str,
) -> Iterator[ValidationProblem]:
    """The differences of a chain by kinds and positions; the array -> bytes codec can be missing."""
    first = 0
    for kind, ones, others in zip(
        CODEC_KINDS.values(), split_codecs(codecs), split_codecs(expected), strict=True
    ):
        if others or kind != CODEC_KINDS[ArrayToBytesCodec]:
            yield from _lists(metadata, ones, others, pointer, f"{kind} codec", first)
        first += len(ones)


def _lists(
    metadata: ArrayMetadata,
    ones: Sequence[ExtensionDefinition],
    others: Sequence[ExtensionDefinition],
    pointer: str,
    what: str,
    first: int = 0,
) -> Iterator[ValidationProblem]:
    """The differences of definitions by position; ``first`` is the position of the first one."""
    if len(ones) != len(others):
        names = [", ".join(shown(item.name) for item in items) for items in (ones, others)]
        has = f"the {what}{'' if len(ones) == 1 else 's'} {names[0]}" if ones else f"no {what}"
        yield ValidationProblem(pointer, f"has {has}, not {names[1] or 'none'}")
    for number, (one, other) in enumerate(zip(ones, others, strict=False), first):
        if len(ones) != len(others) and one.name != other.name:
            return  # which of them is missing is not known
        yield from _definition(metadata, one, other, f"{pointer}/{number}")


def _definition(
    metadata: ArrayMetadata,
    stored: ExtensionDefinition,
    expected: ExtensionDefinition,
    pointer: str,
) -> Iterator[ValidationProblem]:
    """The differences of the name and of the given members of the configuration."""
    if stored.name != expected.name:
        yield _difference(pointer, stored.name, expected.name)
        return
    configuration: Mapping[str, JSON] = stored.configuration
    if expected.configuration.keys() - configuration.keys():
        configuration = {**_normal(metadata, "codec", stored).configuration, **configuration}
    for member, value in expected.configuration.items():
        at = f"{pointer}/configuration{json_pointer(member)}"
        ones, others = inner_codecs(stored, member), inner_codecs(expected, member)
        current = configuration.get(member, _MISSING)
        if ones is not None and others is not None:
            yield from _codecs(metadata, ones, others, at)
        # There are other forms, such as "F" for the order of transpose.
        elif not same_json(current, value) and not same_json(
            current, _normal(metadata, "codec", expected).configuration.get(member, value)
        ):
            yield _difference(at, current, value)


def _difference(pointer: str, stored: Any, expected: Any) -> ValidationProblem:
    text = "missing" if stored is _MISSING else shown(stored)
    return ValidationProblem(pointer, f"is {text}, not {shown(expected)}")


def _is_fill_value(metadata: ArrayMetadata, expected: Any) -> bool:
    """Whether the fill values have the same bytes, also if they differ in their JSON form."""
    if expected is None and metadata.fill_value_undefined:
        return True
    data_type = metadata.data_type.name
    if not is_fill_value(data_type, expected):  # such as 42.0, which is read as 42
        expected = _whole_number(data_type, expected)
    resolved = resolve_cached(metadata, "array metadata", "")
    try:
        value = resolved.data_type.fill_value_as_stored(expected, resolved.chain.byte_order)
    except (ValueError, TypeError, OverflowError):
        return False
    fill_value = resolved.fill_value
    if fill_value.dtype.hasobject:
        return bool(fill_value[()] == value[()])
    return fill_value.tobytes() == value.tobytes()


def _whole_number(data_type: str, value: Any) -> Any:
    """The fill value of integers or booleans for a number such as ``42.0``; None for others."""
    if type(value) not in (int, float) or not float(value).is_integer():
        return None
    return bool(value) if data_type == "bool" and value in (0, 1) else int(value)


def _normal(
    metadata: ArrayMetadata, extension_point: str, definition: ExtensionDefinition
) -> ExtensionDefinition:
    """Return the definition with every default, or unchanged if its configuration is partial."""
    try:
        extension = create_extension(
            extension_point, definition, complete=extension_point != "codec"
        )
        if isinstance(extension, Codec):
            with suppress(ZarrError, ValueError, TypeError):  # the codec rejects the chunks
                decoded = resolve_cached(metadata, "array metadata", "").codecs.decoded
                extension = extension.complete(decoded)
            return replace(definition, configuration=extension.to_configuration())
        return definition if extension is None else extension.to_definition()
    except (ZarrError, ValueError, TypeError):
        return definition


# --- definitions of codecs ---


def definitions_of(values: Any) -> list[ExtensionDefinition]:
    """Return the definitions of a list in a document."""
    return [*map(ExtensionDefinition.from_json, values)]


def split_codecs(codecs: Sequence[ExtensionDefinition]) -> list[list[ExtensionDefinition]]:
    """The array -> array codecs, the array -> bytes codec if there is one, and bytes -> bytes codecs.

    An unknown codec is array -> array before codecs of arrays, else bytes -> bytes.  Raises a
    CodecChainError if they are in another order, or there are several array -> bytes codecs.
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
) -> tuple[Sequence[ExtensionDefinition], str]:
    """The codecs within a codec of the format, such as N5's blocks, and the pointer to them.

    Users do not name such a codec, which only contains the others.
    """
    if len(codecs) == 1 and codecs[0].configuration.keys() == {"codecs"}:
        inner = inner_codecs(codecs[0], "codecs")
        if inner is not None and all(item.name != codecs[0].name for item in wanted):
            return inner, "/0/configuration/codecs"
    return codecs, ""


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
