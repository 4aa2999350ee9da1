"""Whether documents are valid."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import click

from zarr_cli.failing import Findings
from zarr_cli.output import json_option, print_json, print_styled
from zarr_cli.place import Place, takes_places

if TYPE_CHECKING:
    from zarr_cli.validating import Validation


@click.command
@takes_places("place")
@click.option("--strict", is_flag=True, help="Warnings count as errors do.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing; the exit status tells.")
@json_option
def command(place: Place, strict: bool, quiet: bool, as_json: bool) -> None:
    r"""Whether all metadata of a hierarchy are valid.

    \b
    zarr-core validate survey.zarr
    zarr-core validate old.zarr --zarr-format 2 --strict

    Every document of a node, and of all below it, is held against the JSON Schemas of its format, the rules between its
    members, the extensions that it names. Each problem is located by a JSON pointer. Copies
    in consolidated metadata are compared with what is stored. No chunk is read: see check.

    Exit status: 0 if all is valid, 1 if there are problems, 2 if the command is wrong.

    The document of --json has store, path, zarr_format, nodes, errors, warnings (numbers),
    findings: a list of {path, pointer, message, kind, severity}, where kind is document,
    extension, consolidated or store.
    """
    from zarr_cli.validating import validate  # noqa: PLC0415 - lazy: not for help

    result = validate(*place.locate(), place.zarr_format)
    if as_json:
        print_json(result.to_json())
    elif not quiet:
        _print(result)
    if result.errors or (strict and result.warnings):
        raise Findings


def _print(result: Validation) -> None:
    ordered = sorted(result.findings, key=lambda finding: finding.path)
    for path, findings in groupby(ordered, lambda finding: finding.path):
        print_styled([(path, "bold")])
        for finding in findings:
            print_styled(
                [
                    ("  warning " if finding.severity == "warning" else "  ", "yellow"),
                    (finding.pointer or "the document", "cyan"),
                    (f": {finding.message}", ""),
                ],
                hanging=4,
            )
    nodes = _counted(result.nodes, "node")
    if not result.findings:
        print_styled([("valid", "bold green"), (f": {nodes} of format {result.zarr_format}", "")])
        return
    parts = [_counted(result.errors, "problem")] if result.errors else []
    parts += [_counted(result.warnings, "warning")] if result.warnings else []
    style = "bold red" if result.errors else "yellow"
    print_styled([(", ".join(parts), style), (f" in {nodes}", "")])


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
