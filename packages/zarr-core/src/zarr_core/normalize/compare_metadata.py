"""Compare the metadata of an array with partial metadata."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from zarr_core.cache import Cache
from zarr_core.engine.resolved_metadata import resolve_cached
from zarr_core.errors import ExtensionError, ZarrError
from zarr_core.metadata.validation_problem import ValidationProblem, json_pointer
from zarr_core.normalize.partial_metadata import KINDS, inner_codecs, same_json, shown, stages
from zarr_core.registry.resolve import cache_key, create_extension, require_extension

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zarr_core.definition import JSON, ExtensionDefinition
    from zarr_core.engine.resolved_metadata import ResolvedMetadata
    from zarr_core.interfaces.codec import ArrayRepresentation
    from zarr_core.metadata.array import ArrayMetadata
    from zarr_core.normalize.partial_metadata import PartialArrayMetadata


def differences(metadata: ArrayMetadata, expected: PartialArrayMetadata) -> list[ValidationProblem]:
    """Return every difference of metadata from what is expected; see ``problems`` of the class."""
    problems: list[ValidationProblem] = []
    if expected.shape is not None and not _is_shape(metadata.shape, expected.shape):
        problems.append(_difference("/shape", metadata.shape, expected.shape))
    key = (metadata.extensions_key, expected.extensions_key, metadata.ndim, cache_key())
    if not (key[0] and key[1] and _equal.get(key)):
        found = [*_compare_extensions(metadata, expected)]
        problems += found
        if not found:
            _equal.keep(key, True, len(key[0]) + len(key[1]))
    if expected.dimension_names is not None:
        unnamed = (None,) * metadata.ndim
        names = metadata.dimension_names
        if (unnamed if names is None else names) != expected.dimension_names:
            problems.append(_difference("/dimension_names", names, expected.dimension_names))
    problems += _compare_members(metadata.attributes, expected.attributes, "/attributes")
    problems += _compare_members(metadata.additional_fields, expected.additional_fields, "")
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
            yield from _compare_definitions(
                _normal(point, found), _normal(point, wanted), json_pointer(point)
            )
    resolved = resolve_cached(metadata, "array metadata", "")
    if expected.fill_value is not ... and not _is_fill_value(metadata, expected, resolved):
        stored = None if metadata.fill_value_undefined else metadata.fill_value
        yield _difference("/fill_value", stored, expected.fill_value)
    if expected.codecs is not None:
        codecs, pointer = _codecs_of_format(metadata.codecs, expected.codecs)
        yield from _compare_codecs(codecs, expected.codecs, pointer, resolved.codecs.decoded)
    if expected.storage_transformers is not None:
        yield from _compare_lists(
            metadata.storage_transformers,
            expected.storage_transformers,
            "/storage_transformers",
            "storage transformer",
            _compare_definitions,
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
    if expected.data_type is not None and _normal("data_type", expected.data_type) != _normal(
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


def _normal(extension_point: str, definition: ExtensionDefinition) -> ExtensionDefinition:
    """The definition with every default, or the same if its configuration is partial."""
    try:
        extension = require_extension(extension_point, definition)
        normal: ExtensionDefinition = extension.to_definition()
    except (ExtensionError, ValueError):
        return definition
    return normal


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


def _compare_codecs(
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
        yield from _compare_lists(
            [definition for _, definition in items],
            [definition for _, definition in expected],
            pointer,
            f"{kind} codec",
            compare,
            [number for number, _ in items],
        )


def _compare_lists(
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
        yield _difference(pointer, found.name, wanted.name)
        return
    configuration: Mapping[str, JSON] = found.configuration
    if wanted.configuration.keys() - configuration.keys():
        configuration = {**_configuration(found, None), **configuration}
    for member, value in wanted.configuration.items():
        at = f"{pointer}/configuration{json_pointer(member)}"
        ones, others = inner_codecs(found, member), inner_codecs(wanted, member)
        if ones is not None and others is not None:
            yield from _compare_codecs(ones, others, at, decoded)
            continue
        stored = configuration.get(member, _MISSING)
        if same_json(stored, value):
            continue
        # Other forms, such as "F" for the order of transpose.
        if not same_json(stored, _configuration(wanted, decoded).get(member, value)):
            yield _difference(at, stored, value)


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


def _compare_definitions(
    found: ExtensionDefinition, wanted: ExtensionDefinition, pointer: str
) -> Iterator[ValidationProblem]:
    """Compare the names and the members that are expected in the configuration."""
    if found.name != wanted.name:
        yield _difference(pointer, found.name, wanted.name)
    else:
        yield from _compare_members(
            found.configuration, wanted.configuration, f"{pointer}/configuration"
        )


def _compare_members(
    found: Mapping[str, JSON], wanted: Mapping[str, JSON], pointer: str
) -> Iterator[ValidationProblem]:
    for name, value in wanted.items():
        stored = found.get(name, _MISSING)
        if not same_json(stored, value):
            yield _difference(pointer + json_pointer(name), stored, value)


_MISSING: Any = object()


def _difference(pointer: str, found: Any, wanted: Any) -> ValidationProblem:
    stored = "missing" if found is _MISSING else shown(found)
    return ValidationProblem(pointer, f"is {stored}, not {shown(wanted)}")
