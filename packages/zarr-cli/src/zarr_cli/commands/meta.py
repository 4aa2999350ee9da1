"""The documents of a node."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

import click

from zarr_cli.output import print_json
from zarr_cli.place import Place, takes_places

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@click.command
@takes_places("place")
@click.option("--v3", is_flag=True, help="In the words of version 3, whatever the format.")
@click.option("--raw", is_flag=True, help="Byte for byte, one document after the other.")
def command(place: Place, v3: bool, raw: bool) -> None:
    r"""The metadata of a node as it is stored: JSON.

    \b
    zarr-core meta survey.zarr#north/elevation
    zarr-core meta old.zarr --v3

    A node of version 3 has one document. Of other formats it may have several: then this is
    an object of them by their names, as in {".zarray": ..., ".zattrs": ...}. Documents that
    break the rules of their format are printed all the same.
    """
    from zarr_cli.documents import format_of, stored_documents  # noqa: PLC0415 - lazy: not for help

    if v3:
        print_json(place.open().metadata.to_json())
        return
    store, path = place.locate()
    format_ = format_of(store, path, place.zarr_format)
    documents = stored_documents(store, path, format_)
    if raw:
        for document in documents.values():
            click.echo(document, nl=False)
        return
    parsed = {key.rpartition("/")[2]: _parsed(document) for key, document in documents.items()}
    several = len(format_.documents(path)) > 1
    print_json(parsed if several else next(iter(parsed.values()), {}))


def _parsed(document: bytes) -> JSON:
    """The document, or its text if it is no JSON."""
    text = document.decode("utf-8", "replace")
    try:
        value: JSON = json.loads(text, parse_constant=str, parse_float=_number)
    except ValueError:
        return text
    return value


def _number(text: str) -> float | str:
    value = float(text)
    return value if isfinite(value) else text
