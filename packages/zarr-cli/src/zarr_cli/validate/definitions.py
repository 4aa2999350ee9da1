"""Validation of each extension that metadata names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, Location, ZarrError, create_extension

from zarr_cli.validate.problem import NodeProblem, problems_from_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON

# Fields of codec configurations that contain codecs.
_INNER_CODECS = ("codecs", "index_codecs")


def check_definitions(document: JSON, location: Location) -> list[NodeProblem]:
    """Return the problems of the extensions of an array."""
    problems: dict[NodeProblem, None] = {}
    for extension_point, pointer, item in _definitions(document):
        try:
            definition = ExtensionDefinition.from_json(item)
        except (ZarrError, KeyError, TypeError, ValueError):
            continue  # not a definition; the schema reports it
        for problem in _check(extension_point, definition, location.at(pointer)):
            problems[problem] = None
    return [*problems]


def _check(
    extension_point: str, definition: ExtensionDefinition, location: Location
) -> Iterator[NodeProblem]:
    path, pointer = f"/{location.path}", location.pointer
    try:
        extension = create_extension(extension_point, definition, location)
    except ZarrError as error:
        yield from problems_from_error(error, path, pointer)
        return
    if extension is None:
        yield NodeProblem(
            path,
            pointer,
            f"unknown {extension_point.replace('_', ' ')} {definition.name!r} is ignored (must_understand is "
            "false); the array is read-only and its values may be wrong",
            "extension",
            "warning",
        )


def _definitions(document: JSON) -> Iterator[tuple[str, str, JSON]]:
    """Yield extension point, JSON pointer and definition of each extension."""
    if not isinstance(document, dict):
        return
    for extension_point in ("data_type", "chunk_grid", "chunk_key_encoding"):
        if extension_point in document:
            yield extension_point, f"/{extension_point}", document[extension_point]
    yield from _codecs("/codecs", document.get("codecs"))
    transformers = document.get("storage_transformers")
    for number, item in enumerate(transformers if isinstance(transformers, list) else ()):
        yield "storage_transformer", f"/storage_transformers/{number}", item


def _codecs(pointer: str, codecs: JSON) -> Iterator[tuple[str, str, JSON]]:
    """Yield each codec of a list, followed by its inner codecs."""
    for number, codec in enumerate(codecs if isinstance(codecs, list) else ()):
        below = f"{pointer}/{number}"
        if isinstance(codec, dict) and "name" not in codec:
            continue  # a configuration of numcodecs, which the outer codec validates
        yield "codec", below, codec
        configuration = codec.get("configuration") if isinstance(codec, dict) else None
        if isinstance(configuration, dict):
            for member in _INNER_CODECS:
                inner = f"{below}/configuration/{member}"
                yield from _codecs(inner, configuration.get(member))
