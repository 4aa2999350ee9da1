"""Tables of the extensions of a hierarchy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import zarr_core as zarr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import ExtensionDefinition

Uses = dict[tuple[str, str], list[str]]


def extension_table(arrays: dict[str, zarr.Array]) -> str:
    """Return a table of the extensions in use, with their distributions and arrays.

    Parameters
    ----------
    arrays : dict of str to Array
        The arrays, by path.
    """
    uses: Uses = {}
    for path, array in arrays.items():
        document = array.metadata
        _note(uses, "data_type", [document.data_type], path)
        _note(uses, "chunk_grid", [document.chunk_grid], path)
        _note(uses, "chunk_key_encoding", [document.chunk_key_encoding], path)
        _note(uses, "codec", _with_inner(document.codecs), path)
    rows = [
        (
            line.extension_point.replace("_", " "),
            line.name,
            line.distribution,
            _places(uses, line.extension_point, line.name),
        )
        for line in zarr.installed_extensions(load=False)
        if line.wins and (line.extension_point, line.name) in uses
    ]
    return table([("extension_point", "name", "distribution", "used by"), *rows])


def table(rows: list[tuple[str, ...]]) -> str:
    """Return the rows as text with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _note(
    uses: Uses, extension_point: str, definitions: Iterable[ExtensionDefinition], path: str
) -> None:
    for definition in definitions:
        places = uses.setdefault((extension_point, definition.name), [])
        if path not in places:
            places.append(path)


def _with_inner(codecs: Iterable[ExtensionDefinition]) -> Iterator[ExtensionDefinition]:
    """Iterate over the codecs, including those within shards."""
    for codec in codecs:
        yield codec
        for member in ("codecs", "index_codecs"):
            inner = codec.configuration.get(member)
            if isinstance(inner, list):
                yield from _with_inner(type(codec).from_json(item) for item in inner)


def _places(uses: Uses, extension_point: str, name: str) -> str:
    places = uses[extension_point, name]
    return ", ".join(places) if len(places) < 4 else f"{len(places)} arrays"
