"""The command ``zarr-core validate``."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from zarr_cli.errors import ProblemsFound
from zarr_cli.humanize import pluralize
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from zarr_cli.validate import Validation


@click.command
@location_arguments("location")
@click.option("--strict", is_flag=True, help="Warnings also give status 1.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing; only set the exit status.")
@json_option
def command(location: Location, strict: bool, quiet: bool, as_json: bool) -> None:
    r"""Validate all metadata of a hierarchy.

    \b
    zarr-core validate survey.zarr
    zarr-core validate old.zarr --zarr-format 2 --strict

    The metadata of a node and of all nodes below it is validated against the JSON Schemas of
    its format, the constraints between fields, and the extensions that it names. Each problem
    has a JSON pointer. Consolidated metadata is compared with the stored metadata. No chunk is
    read; use zarr-core check for that.

    Exit status: 0 if everything is valid, 1 if there are problems, 2 for a usage error.

    The JSON document of --json has store, path, zarr_format, nodes, errors, warnings (numbers),
    problems: a list of {path, pointer, message, kind, severity}, where kind is document,
    extension, consolidated or store.
    """
    from zarr_cli.validate import validate

    result = validate(*location.locate(), location.zarr_format)
    if as_json:
        print_json(result.to_json())
    elif not quiet:
        _print(result)
    if result.errors or (strict and result.warnings):
        raise ProblemsFound


def _print(result: Validation) -> None:
    ordered = sorted(result.problems, key=lambda problem: problem.path)
    for path, problems in groupby(ordered, lambda problem: problem.path):
        print_styled([(path, "bold")])
        for problem in problems:
            print_styled(
                [
                    ("  warning " if problem.severity == "warning" else "  ", "yellow"),
                    (problem.pointer or "metadata", "cyan"),
                    (f": {problem.message}", ""),
                ],
                hanging=4,
            )
    nodes = pluralize(result.nodes, "node")
    if not result.problems:
        print_styled([("valid", "bold green"), (f": {nodes} of format {result.zarr_format}", "")])
        return
    parts = [pluralize(result.errors, "problem")] if result.errors else []
    parts += [pluralize(result.warnings, "warning")] if result.warnings else []
    style = "bold red" if result.errors else "yellow"
    print_styled([(", ".join(parts), style), (f" in {nodes}", "")])
