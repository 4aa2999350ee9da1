"""The members of a group, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zarr_cli.output import json_option, print_json, print_styled, print_table
from zarr_cli.place import Place, stored_only_option, takes_places

if TYPE_CHECKING:
    from zarr_cli.walking import Member


@click.command
@takes_places("place")
@click.option("-l", "--long", is_flag=True, help="Shapes, data types, chunks, codecs as well.")
@click.option("-r", "--recursive", is_flag=True, help="Members of members as well.")
@stored_only_option
@json_option
def command(place: Place, long: bool, recursive: bool, as_json: bool, stored_only: bool) -> None:
    r"""The names of the members of a group.

    \b
    zarr-core ls survey.zarr
    zarr-core ls -lr survey.zarr#north

    Names of groups end in a slash. Of an array, its own. The document of --json is a list of nodes, each as `info --json`
    has it, without attributes.
    """
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.describing import describe  # noqa: PLC0415 - as above
    from zarr_cli.walking import Member, walk  # noqa: PLC0415 - as above

    node = place.open(use_consolidated=False if stored_only else None)
    if isinstance(node, Array):
        found = [Member("", node, node.metadata)]
    else:
        found = list(walk(node, None if recursive else 1))
    if as_json:
        print_json([describe(member, node.name) for member in found])
    elif long:
        print_table(
            ("name", "shape", "type", "chunks", "shards", "codecs"),
            [(_shown(member, node.basename), *_columns(member)) for member in found],
        )
    else:
        for member in found:
            print_styled([(_shown(member, node.basename), "bold blue" if member.is_group else "")])


def _shown(member: Member, own: str) -> str:
    return f"{member.path or own or '/'}{'/' if member.is_group else ''}"


def _columns(member: Member) -> tuple[str, str, str, str, str]:
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help
    from zarr_core.extension import ArrayMetadata  # noqa: PLC0415 - as above

    from zarr_cli.describing import codec_names, data_type_text, lengths_text, shape_text  # noqa: PLC0415 - as above

    node, metadata = member.node, member.metadata
    if not isinstance(metadata, ArrayMetadata):
        return ("group" if member.is_group else "cannot be opened", "", "", "", "")
    chunks = lengths_text(node.chunks) if isinstance(node, Array) else "cannot be opened"
    shards = lengths_text(node.shards or ()) if isinstance(node, Array) and node.shards else ""
    return (
        shape_text(metadata.shape),
        data_type_text(member),
        chunks,
        shards,
        ", ".join(codec_names(metadata)),
    )
