"""Attributes of a node, read or changed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.failing import Failure
from zarr_cli.output import print_json
from zarr_cli.place import Place, takes_places

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

    Values are JSON. Numbers stay exact, whatever their size.
    """


@command.command
@takes_places("place")
@click.argument("name", required=False)
def get(place: Place, name: str | None) -> None:
    """Print one attribute, or all of them, as JSON."""
    node = place.open()
    print_json(node.attrs.asdict() if name is None else _value(node, place, name))


@command.command("set")
@takes_places("place")
@click.argument("name")
@click.argument("value")
@click.option("--text", is_flag=True, help="VALUE is a text, not JSON.")
def set_(place: Place, name: str, value: str, text: bool) -> None:
    """Set an attribute to a JSON value.

    Such as 3.5, true, '"m"', '[1, 2]', '{"a": null}'.
    """
    new = value if text else _parsed(value)
    with _changed(place) as node:
        node.attrs[name] = new


@command.command
@takes_places("place")
@click.argument("names", nargs=-1, required=True)
def rm(place: Place, names: tuple[str, ...]) -> None:
    """Remove attributes; if one is not there, none is removed."""
    with _changed(place) as node:
        for name in names:
            _value(node, place, name)
        for name in dict.fromkeys(names):
            del node.attrs[name]


@contextmanager
def _changed(place: Place) -> Iterator[Array | Group]:
    """The node, reached so that consolidated metadata around it are kept in step."""
    from zarr_cli.changing.places import open_in  # noqa: PLC0415 - lazy: not for help

    store, _ = place.locate(read_only=False)
    try:
        yield open_in(store, place, "r+")
    finally:
        store.close()


def _value(node: Array | Group, place: Place, name: str) -> Any:
    if name not in node.attrs:
        known = ", ".join(map(repr, node.attrs)) or "none at all"
        raise Failure(f"{place} has no attribute {name!r}; there are {known}")
    return node.attrs[name]


def _parsed(text: str) -> Any:
    from zarr_core.extension import MetadataDecodeError, strictjson  # noqa: PLC0415 - lazy: not for help

    try:
        return strictjson.loads(text)
    except MetadataDecodeError as error:
        raise click.BadParameter(
            f"{text!r} is not JSON ({error.problems[0].message}). Text is written "
            f"""'"{text}"', or with --text.""",
            param_hint="VALUE",
        ) from None
