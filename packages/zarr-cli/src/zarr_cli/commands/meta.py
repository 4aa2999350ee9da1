"""The command ``zarr-core meta``."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import echo, is_terminal, json_option, print_json

if TYPE_CHECKING:
    from zarr_core.extension import JSON


@click.command
@location_arguments("location")
@click.option(
    "--v3", is_flag=True, help="Print the metadata in the form of version 3, for any format."
)
@click.option("--raw", is_flag=True, help="Print the stored bytes, one document after the other.")
@json_option
def command(location: Location, v3: bool, raw: bool, as_json: bool) -> None:
    r"""Print the stored metadata of a node as JSON.

    \b
    zarr-core meta survey.zarr#north/elevation
    zarr-core meta old.zarr --v3

    A node of version 3 has one metadata document. Nodes of other formats may have several:
    then the output is an object of documents by name, such as {".zarray": ..., ".zattrs": ...}.
    Invalid documents are printed too.

    The JSON document of --json is the same as without the option.
    """
    if raw and as_json:
        raise click.UsageError("--raw and --json cannot be combined")
    from zarr_cli.metadata_documents import format_of, stored_documents

    if v3:
        print_json(location.open().metadata.to_json())
        return
    store, path = location.locate()
    format_ = format_of(store, path, location.zarr_format)
    documents = stored_documents(store, path, format_)
    if raw:
        for document in documents.values():
            if is_terminal():  # control characters could act on the terminal
                echo(document.decode("utf-8", "replace"))
            else:
                click.echo(document, nl=False)
        return
    parsed = {key.rpartition("/")[2]: _parse(document) for key, document in documents.items()}
    several = len(format_.documents(path)) > 1
    print_json(parsed if several else next(iter(parsed.values()), {}))


def _parse(document: bytes) -> JSON:
    """Return the parsed document, or its text if it is not JSON."""
    text = document.decode("utf-8", "replace")
    try:
        value: JSON = json.loads(text, parse_constant=str, parse_float=_number)
    except ValueError:
        return text
    return value


def _number(text: str) -> float | str:
    value = float(text)
    return value if isfinite(value) else text
