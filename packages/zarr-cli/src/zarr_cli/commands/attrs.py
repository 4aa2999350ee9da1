"""The commands ``zarr-core attrs get``, ``set`` and ``rm``."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.errors import Failure
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_core import Array, Group


@click.group
def command() -> None:
    r"""Read or change the attributes of an array or a group.

    \b
    zarr-core attrs get survey.zarr
    zarr-core attrs set survey.zarr#north/elevation units '"m"'
    zarr-core attrs set survey.zarr#north/elevation range '[-400, 8848.9]'
    zarr-core attrs rm survey.zarr year

    Values are JSON. Numbers of any size are stored exactly.
    """


@command.command
@location_arguments("location")
@click.argument("name", required=False)
@click.option("--json", is_flag=True, expose_value=False, help="Print JSON, as by default.")
def get(location: Location, name: str | None) -> None:
    """Print one attribute, or all of them, as JSON.

    The JSON document of --json is the value of the attribute, or an object of all attributes.
    """
    node = location.open()
    print_json(node.attrs.asdict() if name is None else _value(node, location, name))


@command.command("set")
@location_arguments("location")
@click.argument("name")
@click.argument("value")
@click.option("--text", is_flag=True, help="Take VALUE as text, not as JSON.")
def set_(location: Location, name: str, value: str, text: bool) -> None:
    """Set an attribute to a JSON value.

    Examples: 3.5, true, '"m"', '[1, 2]', '{"a": null}'.
    """
    new = value if text else _parse(value)
    with _open_for_update(location) as node:
        node.attrs[name] = new


@command.command
@location_arguments("location")
@click.argument("names", nargs=-1, required=True)
def rm(location: Location, names: tuple[str, ...]) -> None:
    """Remove attributes. If one of them does not exist, none is removed."""
    with _open_for_update(location) as node:
        for name in names:
            _value(node, location, name)
        for name in dict.fromkeys(names):
            del node.attrs[name]


@contextmanager
def _open_for_update(location: Location) -> Iterator[Array | Group]:
    """Open a node so that writing attributes also updates consolidated metadata."""
    from zarr_cli.modify.open_stores import open_node_in

    store, _ = location.locate(read_only=False)
    with store:
        yield open_node_in(store, location, "r+")


def _value(node: Array | Group, location: Location, name: str) -> Any:
    if name not in node.attrs:
        known = ", ".join(map(repr, node.attrs)) or "no attributes"
        raise Failure(f"{location} has no attribute {name!r}; it has {known}")
    return node.attrs[name]


def _parse(text: str) -> Any:
    from zarr_core.errors import MetadataDecodeError
    from zarr_core.extension import strictjson

    try:
        return strictjson.loads(text)
    except MetadataDecodeError as error:
        raise click.BadParameter(
            f"{text!r} is not JSON ({error.problems[0].message}). Write text as "
            f"""'"{text}"', or use --text.""",
            param_hint="VALUE",
        ) from None
