"""The command ``zarr-core ls``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from zarr_core.messages import format_bytes

from zarr_cli.location import Location, location_arguments, stored_only_option
from zarr_cli.output import json_option, print_json, print_styled, print_table

if TYPE_CHECKING:
    from zarr_cli.walk import Member


@click.command
@location_arguments("location")
@click.option("-l", "--long", is_flag=True, help="Also show shapes, data types, chunks, codecs.")
@click.option(
    "-s",
    "--stored",
    is_flag=True,
    help="As -l, with stored sizes; lists the store.",
)
@click.option("-r", "--recursive", is_flag=True, help="Also list the members of subgroups.")
@stored_only_option
@json_option
def command(
    location: Location, long: bool, stored: bool, recursive: bool, stored_only: bool, as_json: bool
) -> None:
    r"""List the members of a group.

    \b
    zarr-core ls survey.zarr
    zarr-core ls -lr survey.zarr#north

    Names of groups end with a slash. For an array, its own name is printed.

    The JSON document of --json is a list of nodes as in `info --json`, without attributes.
    With --stored, an array has nbytes, nbytes_stored.
    """
    from zarr_core import Array

    from zarr_cli.node_info import node_json
    from zarr_cli.walk import Member, walk

    node = location.open(use_consolidated=False if stored_only else None)
    if isinstance(node, Array):
        members = [Member("", node, node.metadata)]
    else:
        members = list(walk(node, None if recursive else 1))
    if as_json:
        sizes = _sizes if stored else lambda _: {}
        print_json([node_json(member, node.name) | sizes(member) for member in members])
    elif long or stored:
        rows = [[_shown(member, node.basename), *_columns(member)] for member in members]
        if stored:
            for row, member in zip(rows, members, strict=True):
                row.insert(-1, _stored(member))
        print_table(
            [*_HEADINGS[:-1], *(["stored"] if stored else []), _HEADINGS[-1]],
            rows,
            right=["stored"],
        )
    else:
        for member in members:
            print_styled(
                [
                    (
                        _shown(member, node.basename),
                        "bold blue" if member.is_group else "",
                    )
                ]
            )


_HEADINGS = ("name", "shape", "type", "chunks", "shards", "codecs")


def _sizes(member: Member) -> dict[str, int]:
    from zarr_core import Array

    if not isinstance(member.node, Array):
        return {}
    return {"nbytes": member.node.nbytes, "nbytes_stored": member.node.nbytes_stored()}


def _stored(member: Member) -> str:
    sizes = _sizes(member)
    return format_bytes(sizes["nbytes_stored"]) if sizes else ""


def _shown(member: Member, own: str) -> str:
    return f"{member.path or own or '/'}{'/' if member.is_group else ''}"


def _columns(member: Member) -> tuple[str, str, str, str, str]:
    from zarr_core import Array
    from zarr_core.extension import ArrayMetadata

    from zarr_cli.node_info import codec_names, lengths_text, member_data_type, shape_text

    node, metadata = member.node, member.metadata
    if not isinstance(metadata, ArrayMetadata):
        return ("group" if member.is_group else "cannot be opened", "", "", "", "")
    chunks = lengths_text(node.chunks) if isinstance(node, Array) else "cannot be opened"
    shards = lengths_text(node.shards or ()) if isinstance(node, Array) and node.shards else ""
    return (
        shape_text(metadata.shape),
        member_data_type(member),
        chunks,
        shards,
        ", ".join(codec_names(metadata)),
    )
