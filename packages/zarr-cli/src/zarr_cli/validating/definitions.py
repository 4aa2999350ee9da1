"""Every extension that a document names, looked up by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zarr_core.extension import ExtensionDefinition, ZarrError, make_extension

from zarr_cli.validating.finding import Finding, findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import JSON

# Members of a codec's configuration that hold further codecs.
_WITHIN = ("codecs", "index_codecs")


def check_definitions(document: JSON, path: str, where: str) -> list[Finding]:
    """What is wrong with the extensions of an array.

    Parameters
    ----------
    document : JSON
        Its document in the words of version 3; it need not be valid otherwise.
    path, where : str
        The node, for the findings; the node with its store, for the library.
    """
    found: dict[Finding, None] = {}
    for kind, pointer, item in _definitions(document):
        try:
            definition = ExtensionDefinition.from_json(item)
        except (ZarrError, KeyError, TypeError, ValueError):
            continue  # no definition at all, which the schema tells
        for finding in _check(kind, definition, path, where, pointer):
            found[finding] = None
    return [*found]


def _check(
    kind: str, definition: ExtensionDefinition, path: str, where: str, pointer: str
) -> Iterator[Finding]:
    try:
        made = make_extension(kind, definition, where, pointer)
    except ZarrError as error:
        yield from findings_of(error, path, pointer)
        return
    if made is None:
        yield Finding(
            path,
            pointer,
            f"nobody here knows the {kind.replace('_', ' ')} {definition.name!r}, which need not "
            "be understood: the array can only be read, and may read as something else",
            "extension",
            "warning",
        )


def _definitions(document: JSON) -> Iterator[tuple[str, str, JSON]]:
    """Kind, pointer, definition of each."""
    if not isinstance(document, dict):
        return
    for kind in ("data_type", "chunk_grid", "chunk_key_encoding"):
        if kind in document:
            yield kind, f"/{kind}", document[kind]
    yield from _codecs("/codecs", document.get("codecs"))
    transformers = document.get("storage_transformers")
    for number, item in enumerate(transformers if isinstance(transformers, list) else ()):
        yield "storage_transformer", f"/storage_transformers/{number}", item


def _codecs(pointer: str, codecs: JSON) -> Iterator[tuple[str, str, JSON]]:
    """Each codec of a list, followed by those within it."""
    for number, codec in enumerate(codecs if isinstance(codecs, list) else ()):
        below = f"{pointer}/{number}"
        if isinstance(codec, dict) and "name" not in codec:
            continue  # numcodecs' own configurations, which another codec knows
        yield "codec", below, codec
        configuration = codec.get("configuration") if isinstance(codec, dict) else None
        if isinstance(configuration, dict):
            for member in _WITHIN:
                inner = f"{below}/configuration/{member}"
                yield from _codecs(inner, configuration.get(member))
