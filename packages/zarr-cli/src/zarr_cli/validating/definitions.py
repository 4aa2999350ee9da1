"""Every extension that a document names, looked up by itself."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from zarr_core.extension import ExtensionDefinition, ZarrError, make_extension

from zarr_cli.validating.finding import Finding, findings_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core.extension import ArrayMetadata

# Members of a codec's configuration that hold further codecs.
_WITHIN = ("codecs", "index_codecs")


def check_definitions(metadata: ArrayMetadata, path: str, where: str) -> list[Finding]:
    """What is wrong with the extensions of an array.

    Parameters
    ----------
    metadata : ArrayMetadata
        Its document.
    path, where : str
        The node, for the findings; the node with its store, for the library.
    """
    found: dict[Finding, None] = {}
    for kind, pointer, definition in _definitions(metadata):
        for finding in _check(kind, definition, path, where, pointer):
            found[finding] = None
    return [*found]


def _check(
    kind: str, definition: ExtensionDefinition, path: str, where: str, pointer: str
) -> Iterator[Finding]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it warns of is told here
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


def _definitions(metadata: ArrayMetadata) -> Iterator[tuple[str, str, ExtensionDefinition]]:
    """Kind, pointer, definition of each."""
    yield "data_type", "/data_type", metadata.data_type
    yield "chunk_grid", "/chunk_grid", metadata.chunk_grid
    yield "chunk_key_encoding", "/chunk_key_encoding", metadata.chunk_key_encoding
    for number, codec in enumerate(metadata.codecs):
        yield from _codecs(f"/codecs/{number}", codec)
    for number, transformer in enumerate(metadata.storage_transformers):
        yield "storage_transformer", f"/storage_transformers/{number}", transformer


def _codecs(
    pointer: str, codec: ExtensionDefinition
) -> Iterator[tuple[str, str, ExtensionDefinition]]:
    yield "codec", pointer, codec
    for member in _WITHIN:
        inner: Any = codec.configuration.get(member)
        for number, item in enumerate(inner if isinstance(inner, list) else ()):
            if isinstance(item, str) or (isinstance(item, dict) and "name" in item):
                below = f"{pointer}/configuration/{member}/{number}"
                yield from _codecs(below, ExtensionDefinition.from_json(item))
