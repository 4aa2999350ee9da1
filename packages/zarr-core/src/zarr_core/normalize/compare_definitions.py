"""Compare definitions of extensions with what is expected of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from zarr_core.errors import ExtensionError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer
from zarr_core.normalize.codec_stages import KINDS, inner_codecs, stages
from zarr_core.printable import shorten
from zarr_core.registry.resolve import create_extension, require_extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.interfaces.codec import ArrayRepresentation


def normal(extension_point: str, definition: ExtensionDefinition) -> ExtensionDefinition:
    """The definition with every default, or the same if its configuration is partial."""
    try:
        extension = require_extension(extension_point, definition)
        normal: ExtensionDefinition = extension.to_definition()
    except (ExtensionError, ValueError):
        return definition
    return normal


def compare_codecs(
    found: Sequence[ExtensionDefinition],
    wanted: Sequence[ExtensionDefinition],
    pointer: str,
    decoded: ArrayRepresentation,
) -> Iterator[ValidationProblem]:
    """Compare chains by kinds and positions; the array -> bytes codec can be missing."""

    def compare(
        one: ExtensionDefinition, other: ExtensionDefinition, at: str
    ) -> Iterator[ValidationProblem]:
        return _compare_codec(one, other, at, decoded)

    for kind, items, expected in zip(KINDS, stages(found), stages(wanted), strict=True):
        if kind == KINDS[1] and not expected:
            continue
        yield from compare_lists(
            [definition for _, definition in items],
            [definition for _, definition in expected],
            pointer,
            f"{kind} codec",
            compare,
            [number for number, _ in items],
        )


def compare_lists(
    found: Sequence[ExtensionDefinition],
    wanted: Sequence[ExtensionDefinition],
    pointer: str,
    what: str,
    compare: Callable[[ExtensionDefinition, ExtensionDefinition, str], Iterator[ValidationProblem]],
    numbers: Sequence[int] | None = None,
) -> Iterator[ValidationProblem]:
    """Compare definitions by position; ``numbers`` are the indices of those found."""
    if len(found) != len(wanted):
        names = [", ".join(shown(item.name) for item in items) for items in (found, wanted)]
        has = f"the {what}{'' if len(found) == 1 else 's'} {names[0]}" if found else f"no {what}"
        yield ValidationProblem(pointer, f"has {has}, not {names[1] or 'none'}")
    for position, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if len(found) != len(wanted) and one.name != other.name:
            break  # which of them is missing is not known
        number = position if numbers is None else numbers[position]
        yield from compare(one, other, f"{pointer}/{number}")


def _compare_codec(
    found: ExtensionDefinition,
    wanted: ExtensionDefinition,
    pointer: str,
    decoded: ArrayRepresentation,
) -> Iterator[ValidationProblem]:
    if found.name != wanted.name:
        yield difference(pointer, found.name, wanted.name)
        return
    configuration: Mapping[str, JSON] = found.configuration
    if wanted.configuration.keys() - configuration.keys():
        configuration = {**_configuration(found, None), **configuration}
    for member, value in wanted.configuration.items():
        at = f"{pointer}/configuration{json_pointer(member)}"
        ones, others = inner_codecs(found, member), inner_codecs(wanted, member)
        if ones is not None and others is not None:
            yield from compare_codecs(ones, others, at, decoded)
            continue
        stored = configuration.get(member, _MISSING)
        if same_json(stored, value):
            continue
        # Other forms, such as "F" for the order of transpose.
        if not same_json(stored, _configuration(wanted, decoded).get(member, value)):
            yield difference(at, stored, value)


def _configuration(
    definition: ExtensionDefinition, decoded: ArrayRepresentation | None
) -> Mapping[str, JSON]:
    """The configuration of a codec with its defaults; empty if it cannot be created."""
    try:
        codec = create_extension("codec", definition, complete=False)
        if codec is None:
            return {}
        if decoded is not None:
            codec = codec.resolve(decoded)
        configuration: Mapping[str, JSON] = codec.to_configuration()
    except (ZarrError, ValueError, TypeError):
        return {}
    return configuration


def compare_definitions(
    found: ExtensionDefinition, wanted: ExtensionDefinition, pointer: str
) -> Iterator[ValidationProblem]:
    """Compare the names and the members that are expected in the configuration."""
    if found.name != wanted.name:
        yield difference(pointer, found.name, wanted.name)
    else:
        yield from compare_members(
            found.configuration, wanted.configuration, f"{pointer}/configuration"
        )


def compare_members(
    found: Mapping[str, JSON], wanted: Mapping[str, JSON], pointer: str
) -> Iterator[ValidationProblem]:
    """Compare the expected members of an object, each as a whole."""
    for name, value in wanted.items():
        stored = found.get(name, _MISSING)
        if not same_json(stored, value):
            yield difference(pointer + json_pointer(name), stored, value)


_MISSING: Any = object()


def difference(pointer: str, found: Any, wanted: Any) -> ValidationProblem:
    """Return the problem of a value that is not as expected."""
    stored = "missing" if found is _MISSING else shown(found)
    return ValidationProblem(pointer, f"is {stored}, not {shown(wanted)}")


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
