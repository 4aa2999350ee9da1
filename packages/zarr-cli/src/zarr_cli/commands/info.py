"""What a node is."""

from __future__ import annotations

import click

from zarr_cli.output import json_option, print_json, print_pairs
from zarr_cli.place import Place, takes_places


@click.command
@takes_places("place")
@click.option("--stored", is_flag=True, help="Also what it takes in the store, which is listed.")
@json_option
def command(place: Place, stored: bool, as_json: bool) -> None:
    """What an array or a group is, as a table."""
    node = place.open()
    table = node.info_complete() if stored else node.info
    if as_json:
        print_json(table.to_dict())
    else:
        print_pairs(table.items())
