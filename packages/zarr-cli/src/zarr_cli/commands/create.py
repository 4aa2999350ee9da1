"""Making arrays or groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zarr_cli.changing.layout import layout_options
from zarr_cli.changing.words import parse_value
from zarr_cli.output import json_option, print_json, print_pairs
from zarr_cli.place import Place, parse_place, takes_places

if TYPE_CHECKING:
    from zarr_core import Array, Group, Store


def _shape(_ctx: click.Context, _param: click.Parameter, text: str | None) -> Any:
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())
    except ValueError:
        raise click.BadParameter(f"{text!r} is no shape, such as 100,200") from None


@click.command
@takes_places("place", zarr_format=False)
@click.option("--shape", callback=_shape, metavar="LENGTHS", help="Shape of an array: 100,200.")
@layout_options
@click.option("--order", type=click.Choice(["C", "F"]), help="Which dimension is contiguous.")
@click.option(
    "--dimension-names", metavar="NAMES", help="Names of the dimensions, with commas: y,x."
)
@click.option(
    "-a", "--attribute", "attributes", multiple=True, metavar="NAME=VALUE",
    help="An attribute; the value is JSON or else text. Again for more.",
)  # fmt: skip
@click.option(
    "--from", "source", metavar="FILE.npy", type=click.Path(exists=True, dir_okay=False),
    help="Fill the array with what is in a file of NumPy.",
)  # fmt: skip
@click.option("--like", metavar="PLACE", help="An empty array like another one.")
@click.option("--zarr-format", metavar="FORMAT", help="3, 2, 1, draft, n5; by default 3.")
@click.option("--overwrite", is_flag=True, help="Remove what is there first, with all below it.")
@json_option
def command(
    place: Place,
    layout: dict[str, Any],
    attributes: tuple[str, ...],
    dimension_names: str | None,
    order: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    r"""Make an array, or a group if nothing is said of an array.

    \b
    zarr-core create survey.zarr -a year=2024
    zarr-core create survey.zarr#height --shape 4096,4096 -d float32 -c 256,256 \
        -s 2048,2048 -z zstd:5 --fill-value NaN --dimension-names y,x
    zarr-core create height.zarr --from height.npy
    zarr-core create next.zarr --like height.zarr -z gzip:6
    """
    options: dict[str, Any] = {"attributes": dict(map(_attribute, attributes))}
    if dimension_names is not None:
        layout["dimension_names"] = [name.strip() or None for name in dimension_names.split(",")]
    if order is not None:
        layout["order"] = order
    from zarr_cli.changing.places import around  # noqa: PLC0415 - lazy: not for help

    store, path = place.locate(read_only=False)
    try:
        node = _made(around(store, place), path, layout, options, **given)
        if as_json:
            print_json(node.info.to_dict())
        else:
            print_pairs(node.info.items())
    finally:
        store.close()


def _made(
    store: Store | Group,
    path: str,
    layout: dict[str, Any],
    options: dict[str, Any],
    *,
    shape: tuple[int, ...] | None,
    source: str | None,
    like: str | None,
    zarr_format: str | None,
    overwrite: bool,
) -> Array | Group:
    import zarr_core  # noqa: PLC0415 - lazy: not for help

    options["overwrite"] = overwrite
    if zarr_format:
        options["zarr_format"] = int(zarr_format) if zarr_format.isdigit() else zarr_format
    if like is not None:
        if source is not None:
            raise click.UsageError("--like makes an empty array: it does not go with --from")
        other = parse_place(like).open_array()
        attributes = {**other.attrs.asdict(), **options.pop("attributes")}
        more = {} if shape is None else {"shape": shape}
        return zarr_core.empty_like(
            other, store=store, name=path, attributes=attributes, **more, **layout, **options
        )
    if source is not None:
        import numpy as np  # noqa: PLC0415 - as above

        data = np.load(source, mmap_mode="r", allow_pickle=False)
        if not isinstance(data, np.ndarray):
            raise click.UsageError(f"{source} holds several arrays: zarr-core import takes it")
        if shape is not None and shape != data.shape:
            raise click.UsageError(f"{source} has the shape {data.shape}, not {shape}")
        return zarr_core.create_array(store, name=path, data=data, **layout, **options)
    if shape is not None:
        return zarr_core.create_array(store, name=path, shape=shape, **layout, **options)
    if layout:
        raise click.UsageError(f"{', '.join(sorted(layout))}: an array needs --shape as well")
    return zarr_core.create_group(store, path=path, **options)


def _attribute(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--attribute {text!r} is not NAME=VALUE")
    return name, parse_value(value)
