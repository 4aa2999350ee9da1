"""The command ``zarr-core info``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_pairs, print_styled

if TYPE_CHECKING:
    from zarr_core import Array, Group


@click.command
@location_arguments("location")
@click.option("--stored", is_flag=True, help="Also show the stored size; lists the store.")
@json_option
def command(location: Location, stored: bool, as_json: bool) -> None:
    r"""Show the properties of an array or a group.

    \b
    zarr-core info field.zarr
    zarr-core info s3://bucket/field.zarr#t --stored --anonymous

    The JSON document of --json has path, type, zarr_format, store, attributes. An array also
    has shape, dimension_names, data_type, chunks, shards, codecs, fill_value (in the form of
    version 3), nbytes, unknown_extensions; a group has consolidated. With --stored, an array
    has chunks_total, chunks_stored, nbytes_stored; a group has arrays, groups.
    """
    node = location.open()
    if as_json:
        from zarr_cli.node_info import full_node_json

        print_json(full_node_json(node) | (_stored(node) if stored else {}))
        return
    table = node.info_complete() if stored else node.info
    # The command opens everything read-only, so this row says nothing about the data.
    print_pairs((name, value) for name, value in table.items() if name != "Read-only")
    if node.attrs:
        click.echo()
        print_styled([("Attributes", "bold")])
        print_pairs(
            (f"  {name}", json.dumps(value, ensure_ascii=False))
            for name, value in node.attrs.items()
        )


def _stored(node: Array | Group) -> dict[str, Any]:
    from zarr_core import Array

    if isinstance(node, Array):
        return {
            "chunks_total": node.nchunks,
            "chunks_stored": node.nchunks_initialized,
            "nbytes_stored": node.nbytes_stored(),
        }
    return {"arrays": len(list(node.array_keys())), "groups": len(list(node.group_keys()))}
