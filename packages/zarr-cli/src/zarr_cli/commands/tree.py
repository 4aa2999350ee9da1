"""A hierarchy as a tree."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.place import Place, stored_only_option, takes_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_cli.walking import Member


@click.command
@takes_places("place")
@click.option(
    "-L", "--levels", type=click.IntRange(0), help="How deep to go; all the way if not given."
)
@click.option("--attrs", is_flag=True, help="Also the attributes of each node.")
@stored_only_option
@json_option
def command(
    place: Place, levels: int | None, attrs: bool, as_json: bool, stored_only: bool
) -> None:
    r"""Arrays and groups as a tree, with shapes, data types, chunks.

    \b
    zarr-core tree survey.zarr -L 2
    zarr-core tree survey.zarr#north --attrs

    What cannot be opened is shown with the reason. The document of --json is the node
    as `info --json` has it, in which "members" lists those of a group, and so on.
    """
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help

    from zarr_cli.walking import Member, walk  # noqa: PLC0415 - as above

    node = place.open(use_consolidated=False if stored_only else None)
    top = Member("", node, node.metadata)
    below = iter(()) if isinstance(node, Array) else walk(node, levels)
    if as_json:
        print_json(_nested(top, list(below), node.name, attrs))
        return
    print_styled([(node.name, "bold blue"), *_described(top)])
    _print_attributes(top, "", attrs)
    open_below: list[bool] = []
    for member in below:
        del open_below[member.depth :]
        stem = "".join("│   " if more else "    " for more in open_below)
        branch = "└── " if member.last else "├── "
        style = "bold blue" if member.is_group else "bold"
        print_styled([(stem + branch, "dim"), (member.name, style), *_described(member)])
        open_below.append(not member.last)
        _print_attributes(member, stem + ("    " if member.last else "│   "), attrs)


def _described(member: Member) -> Iterator[tuple[str, str]]:
    from zarr_core import Array  # noqa: PLC0415 - lazy: not for help
    from zarr_core.extension import ArrayMetadata  # noqa: PLC0415 - as above

    from zarr_cli.describing import chunks_text, data_type_text, shape_text  # noqa: PLC0415 - as above

    if isinstance(member.metadata, ArrayMetadata):
        yield f"  {shape_text(member.metadata.shape, member.metadata.dimension_names)}", ""
        yield f" {data_type_text(member)}", "cyan"
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
    """The documents of all members, each within that of its group."""
    from zarr_cli.describing import describe  # noqa: PLC0415 - lazy: not for help

    documents: dict[str, dict[str, Any]] = {}
    for member in (top, *below):
        document = documents[member.path] = describe(member, start)
        if attrs and member.node is not None:
            document["attributes"] = member.node.attrs.asdict()
        if member.is_group:
            document["members"] = []
        if member.path:
            documents[member.path.rpartition("/")[0]]["members"].append(document)
    return documents[""]
