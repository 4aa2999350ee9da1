"""What a node is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.output import json_option, print_json, print_pairs
from zarr_cli.place import Place, takes_places

if TYPE_CHECKING:
    from zarr_core import Array, Group


@click.command
@takes_places("place")
@click.option("--stored", is_flag=True, help="Also what it takes in the store, which is listed.")
@json_option
def command(place: Place, stored: bool, as_json: bool) -> None:
    r"""What an array or a group is, as a table.

    \b
    zarr-core info field.zarr
    zarr-core info s3://bucket/field.zarr#t --stored --anonymous

    The document of --json has path, type, zarr_format, store, attributes; of an array
    also shape, dimension_names, data_type, chunks, shards, codecs, fill_value (these in the words
    of version 3), nbytes, unknown_extensions; of a group consolidated. With --stored an array
    has chunks_total, chunks_stored, nbytes_stored; a group arrays, groups.
    """
    node = place.open()
    if as_json:
        from zarr_cli.describing import describe_whole  # noqa: PLC0415 - brings the library

        print_json(describe_whole(node) | (_stored(node) if stored else {}))
        return
    table = node.info_complete() if stored else node.info
    # Everything is opened for reading only, to ask what it is.
    print_pairs((name, value) for name, value in table.items() if name != "Read-only")
    if node.attrs:
        click.echo()
        click.secho("Attributes", bold=True)
        print_pairs(
            (f"  {name}", json.dumps(value, ensure_ascii=False))
            for name, value in node.attrs.items()
        )


def _stored(node: Array | Group) -> dict[str, Any]:
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help

    if isinstance(node, Array):
        return {
            "chunks_total": node.nchunks,
            "chunks_stored": node.nchunks_initialized,
            "nbytes_stored": node.nbytes_stored(),
        }
    return {"arrays": len(list(node.array_keys())), "groups": len(list(node.group_keys()))}
