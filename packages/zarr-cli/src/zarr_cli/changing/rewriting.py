"""The options of commands that write arrays anew, in another layout or format."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from zarr_cli.changing.choosing import choosing_options
from zarr_cli.changing.layout import layout_options, memory_option
from zarr_cli.output import json_option
from zarr_cli.progress import progress_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr_cli.changing.choosing import Choice

_OPTIONS = (
    layout_options,
    choosing_options,
    memory_option,
    click.option("--verify", is_flag=True, help="Read back what was encoded, and compare it."),
    click.option("--consolidate", is_flag=True, help="Consolidate the metadata of the result."),
    click.option("--overwrite", is_flag=True, help="Remove what is at DEST first."),
    click.option("-n", "--dry-run", is_flag=True, help="Say what would be written, write nothing."),
    progress_options,
    json_option,
)


def rewriting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the arguments of :func:`zarr_cli.changing.converting.run`.

    Those that say what an array becomes come as ``layout``.
    """

    @wraps(function)
    def with_only(choice: Choice, **given: Any) -> Any:
        return function(only=None if choice.is_all else choice, **given)

    decorated: Callable[..., Any] = with_only
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
