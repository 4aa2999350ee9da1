"""The command ``zarr-core create``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.location import (
    Location,
    format_option,
    key_value_option,
    location_arguments,
    parse_location,
)
from zarr_cli.modify.layout_options import layout_options
from zarr_cli.output import json_option, print_json, print_pairs

if TYPE_CHECKING:
    from zarr_core import Array, Group, Store


def _shape(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a shape; use a form such as 100,200") from None


@click.command
@location_arguments("location", zarr_format=False)
@click.option("--shape", callback=_shape, metavar="LENGTHS", help="Shape of an array: 100,200.")
@layout_options
@click.option("--order", type=click.Choice(["C", "F"]), help="Which dimension is contiguous.")
@click.option(
    "--dimension-names", metavar="NAMES", help="Names of the dimensions, separated by commas: y,x."
)
@key_value_option(
    "-a",
    "--attribute",
    "attributes",
    about="An attribute; the value is JSON or text. Can be repeated.",
)
@click.option("--like", metavar="LOCATION", help="Create an empty array like the one at LOCATION.")
@key_value_option("--like-option", about="As -o, for the location of --like.")
@format_option(about="Format: 3, 2, 1, draft, n5; default 3.")
@click.option(
    "--overwrite", is_flag=True, help="First remove an existing node, with all nodes below it."
)
@json_option
def command(
    location: Location,
    layout: dict[str, Any],
    attributes: dict[str, Any],
    dimension_names: str | None,
    order: str | None,
    as_json: bool,
    **options_given: Any,
) -> None:
    r"""Create an array; without array options, a group.

    \b
    zarr-core create survey.zarr -a year=2024
    zarr-core create survey.zarr#height --shape 4096,4096 -d float32 -c 256,256 \
        -s 2048,2048 -z zstd:5 --fill-value NaN --dimension-names y,x
    zarr-core create next.zarr --like height.zarr -z gzip:6

    The JSON document of --json has the properties that the command prints, by name.
    """
    options: dict[str, Any] = {"attributes": attributes}
    if dimension_names is not None:
        layout["dimension_names"] = [name.strip() or None for name in dimension_names.split(",")]
    if order is not None:
        layout["order"] = order
    from zarr_cli.modify.open_stores import root_or_store

    store, path = location.locate(read_only=False)
    with store:
        node = _create(root_or_store(store, location), path, layout, options, **options_given)
        if as_json:
            print_json(dict(node.info))
        else:
            print_pairs(node.info.items())


def _create(
    store: Store | Group,
    path: str,
    layout: dict[str, Any],
    options: dict[str, Any],
    *,
    shape: tuple[int, ...] | None,
    like: str | None,
    like_option: dict[str, Any],
    zarr_format: int | str | None,
    overwrite: bool,
) -> Array | Group:
    import zarr_core
    import zarr_transfer

    options["overwrite"] = overwrite
    if zarr_format:
        options["zarr_format"] = zarr_format
    if like is not None:
        other = replace(parse_location(like), storage_options=like_option).open_array()
        attributes = {**other.metadata.attributes, **options.pop("attributes")}
        more = {} if shape is None else {"shape": shape}
        return zarr_transfer.empty_like(
            other, store=store, path=path, attributes=attributes, **more, **layout, **options
        )
    if like_option:
        raise click.UsageError("--like-option requires --like")
    if shape is not None:
        return zarr_core.create_array(store, path=path, shape=shape, **layout, **options)
    if layout:
        raise click.UsageError(f"{', '.join(sorted(layout))}: an array also needs --shape")
    return zarr_core.create_group(store, path=path, **options)
