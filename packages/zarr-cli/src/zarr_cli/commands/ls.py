"""The members of a group, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from zarr_cli.output import json_option, print_json, print_styled, print_table
from zarr_cli.place import Place, stored_only_option, takes_places
from zarr_cli.sizes import bytes_for_people

if TYPE_CHECKING:
    from zarr_cli.walking import Member


@click.command
@takes_places("place")
@click.option("-l", "--long", is_flag=True, help="Shapes, data types, chunks, codecs as well.")
@click.option(
    "-s",
    "--stored",
    is_flag=True,
    help="As -l, with the bytes that arrays take in the store, which is listed.",
)
@click.option("-r", "--recursive", is_flag=True, help="Members of members as well.")
@stored_only_option
@json_option
def command(
    place: Place, long: bool, stored: bool, recursive: bool, stored_only: bool, as_json: bool
) -> None:
    r"""The names of the members of a group.

    \b
    zarr-core ls survey.zarr
    zarr-core ls -lr survey.zarr#north

    Names of groups end in a slash. Of an array, its own.

    The document of --json is a list of nodes, each as `info --json` has it, without attributes;
    with --stored an array has nbytes, nbytes_stored.
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
        sizes = _sizes if stored else lambda _: {}
        print_json([describe(member, node.name) | sizes(member) for member in found])
    elif long or stored:
        rows = [[_shown(member, node.basename), *_columns(member)] for member in found]
        if stored:
            for row, member in zip(rows, found, strict=True):
                row.insert(-1, _stored(member))
        print_table(
            [*_HEADINGS[:-1], *(["stored"] if stored else []), _HEADINGS[-1]],
            rows,
            right=["stored"],
        )
    else:
        for member in found:
            print_styled([(_shown(member, node.basename), "bold blue" if member.is_group else "")])


_HEADINGS = ("name", "shape", "type", "chunks", "shards", "codecs")


def _sizes(member: Member) -> dict[str, int]:
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help

    if not isinstance(member.node, Array):
        return {}
    return {"nbytes": member.node.nbytes, "nbytes_stored": member.node.nbytes_stored()}


def _stored(member: Member) -> str:
    sizes = _sizes(member)
    return bytes_for_people(sizes["nbytes_stored"]) if sizes else ""


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
