"""The options of commands that rewrite arrays with another layout or format."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from zarr_cli.modify.layout_options import layout_options, memory_option
from zarr_cli.modify.node_filter import filter_options
from zarr_cli.output import json_option
from zarr_cli.progress import progress_options

if TYPE_CHECKING:
    from collections.abc import Callable

_OPTIONS = (
    layout_options,
    filter_options,
    memory_option,
    click.option("--verify", is_flag=True, help="Read back the encoded chunks and compare them."),
    click.option("--consolidate", is_flag=True, help="Consolidate the metadata of the result."),
    click.option("--overwrite", is_flag=True, help="First remove an existing node at DEST."),
    click.option(
        "-n", "--dry-run", is_flag=True, help="Print what would be written; write nothing."
    ),
    progress_options,
    json_option,
)


def rewrite_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of :func:`zarr_cli.modify.conversion.run_conversion`.

    The layout options are passed as the argument ``layout``.
    """
    for option in reversed(_OPTIONS):
        function = option(function)
    return function
