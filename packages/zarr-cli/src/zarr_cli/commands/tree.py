"""The command ``zarr-core tree``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.location import Location, location_arguments, stored_only_option
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_cli.walk import Member


@click.command
@location_arguments("location")
@click.option("-L", "--levels", type=click.IntRange(0), help="Maximum depth; default: all levels.")
@click.option("--attrs", is_flag=True, help="Also show the attributes of each node.")
@stored_only_option
@json_option
def command(
    location: Location, levels: int | None, attrs: bool, as_json: bool, stored_only: bool
) -> None:
    r"""Show arrays and groups as a tree, with shapes, data types, chunks.

    \b
    zarr-core tree survey.zarr -L 2
    zarr-core tree survey.zarr#north --attrs

    Nodes that cannot be opened are shown with the reason. The JSON document of --json is the
    node as in `info --json`; "members" lists the members of a group, recursively.
    """
    from zarr_core import Array

    from zarr_cli.walk import Member, walk

    node = location.open(use_consolidated=False if stored_only else None)
    top = Member("", node, node.metadata)
    below = iter(()) if isinstance(node, Array) else walk(node, levels)
    if as_json:
        print_json(_nested(top, list(below), node.name, attrs))
        return
    print_styled([(node.name, "bold blue"), *_summary(top)])
    _print_attributes(top, "", attrs)
    open_below: list[bool] = []
    for member in below:
        del open_below[member.depth :]
        stem = "".join("│   " if more else "    " for more in open_below)
        branch = "└── " if member.last else "├── "
        style = "bold blue" if member.is_group else "bold"
        print_styled([(stem + branch, "dim"), (member.name, style), *_summary(member)])
        open_below.append(not member.last)
        _print_attributes(member, stem + ("    " if member.last else "│   "), attrs)


def _summary(member: Member) -> Iterator[tuple[str, str]]:
    from zarr_core import Array
    from zarr_core.extension import ArrayMetadata

    from zarr_cli.node_info import chunks_text, member_data_type, shape_text

    if isinstance(member.metadata, ArrayMetadata):
        yield f"  {shape_text(member.metadata.shape, member.metadata.dimension_names)}", ""
        yield f" {member_data_type(member)}", "cyan"
    if isinstance(member.node, Array):
        yield f" {chunks_text(member.node)}", "dim"
    if member.problem:
        yield f"  cannot be opened: {member.problem}", "red"


def _print_attributes(member: Member, stem: str, wanted: bool) -> None:
    if not wanted or member.node is None:
        return
    for name, value in member.node.attrs.items():
        print_styled(
            [
                (stem, "dim"),
                (f"  {name}", "green"),
                (f" = {json.dumps(value, ensure_ascii=False)}", ""),
            ]
        )


def _nested(top: Member, below: list[Member], start: str, attrs: bool) -> dict[str, Any]:
    """Return the JSON of all members, each nested in the JSON of its group."""
    from zarr_cli.node_info import node_json

    documents: dict[str, dict[str, Any]] = {}
    for member in (top, *below):
        document = documents[member.path] = node_json(member, start)
        if attrs and member.node is not None:
            document["attributes"] = member.node.attrs.asdict()
        if member.is_group:
            document["members"] = []
        if member.path:
            documents[member.path.rpartition("/")[0]]["members"].append(document)
    return documents[""]
