"""The command ``zarr-core portable``."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click
from zarr_core.messages import pluralize

from zarr_cli.errors import Failure, ProblemsFound
from zarr_cli.location import Location, location_arguments
from zarr_cli.output import json_option, print_json, print_styled

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 5  # nodes that are listed per reason


@click.command
@location_arguments("location")
@click.option(
    "--for", "libraries", metavar="NAME", multiple=True,
    help="A library that must read it, such as zarr-python-2 or tensorstore. Can be repeated.",
)  # fmt: skip
@json_option
def command(location: Location, libraries: tuple[str, ...], as_json: bool) -> None:
    r"""Show which libraries read a hierarchy, and what stops the others.

    \b
    zarr-core portable survey.zarr
    zarr-core portable survey.zarr --for zarr-python-2 --for tensorstore
    zarr-core portable s3://bucket/survey.zarr --json

    The answer is from a table in zarr-conformance, measured with the versions that are printed.
    The libraries are not run, and need not be installed. For each reason, the report has the
    nodes, the JSON pointer and what to do.

    If the hierarchy has a feature that was never measured, the answer is unknown.

    Exit status: 0; 1 if a library of --for does not read the hierarchy, or if that is unknown; 2
    for a usage error.

    The JSON document of --json has store, path, nodes (a number), measured (a date), libraries: a
    list of {name, version, source, reads, note, reasons, unknown}, where source is measured or
    documented; reads is true, false, or null if it is unknown; reasons is a list of {path,
    document, pointer, features, outcome, message, remedy}, where outcome is refuses, wrong or
    crash; unknown is a list of features.
    """
    try:
        from zarr_conformance.portability.report import library_name, library_names, report, table
    except ImportError:
        raise Failure(
            "zarr-conformance is not installed; run: pip install zarr-conformance"
        ) from None
    try:
        chosen = [*map(library_name, libraries)] or library_names()
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    store, path = location.locate()
    nodes = list(_nodes(location))
    rows = report(nodes, list(dict.fromkeys(chosen)))
    document = {
        "store": str(store), "path": f"/{path}", "nodes": len(nodes),
        "measured": table().date, "libraries": rows,
    }  # fmt: skip
    if as_json:
        print_json(document)
    else:
        _print(document)
    if libraries and not all(row["reads"] for row in rows):
        raise ProblemsFound


def _nodes(location: Location) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the paths of all nodes, valid or not, and their parsed metadata documents."""
    from zarr_core import Group
    from zarr_core.errors import ExtensionError, MetadataError

    from zarr_cli.metadata_documents import format_of, stored_documents
    from zarr_cli.walk import walk

    store, root = location.locate()
    format_ = format_of(store, root, location.zarr_format)
    paths = [root]
    try:
        node = location.open(use_consolidated=None if not store.supports_listing else False)
    except (ExtensionError, MetadataError):
        node = None
    if isinstance(node, Group):
        prefix = f"{root}/" if root else ""
        paths += [f"{prefix}{member.path}" for member in walk(node)]
    for path in paths:
        nodes = {}
        for key, value in stored_documents(store, path, format_).items():
            try:
                nodes[key.rpartition("/")[2]] = json.loads(value)
            except ValueError:
                raise Failure(
                    f"{key} in {store} is not valid JSON; zarr-core check shows the problem"
                ) from None
        yield path, nodes


def _print(document: dict[str, Any]) -> None:
    for library in document["libraries"]:
        verdict = ("reads it", "bold green")
        if library["reads"] is None:
            verdict = ("unknown", "bold yellow")
        elif not library["reads"]:
            verdict = ("does not read it", "bold red")
        print_styled([(library["name"], "bold"), (f" {library['version']}  ", "dim"), verdict])
        if library["note"]:
            print_styled([(f"  {library['note']}", "dim")])
        reasons = sorted(library["reasons"], key=_reason)
        for (message, fix, _), alike in groupby(reasons, _reason):
            print_styled([(f"  {message}", "")])
            _print_places(list(alike))
            print_styled([(f"    -> {fix}", "cyan")])
        for feature in library["unknown"]:
            print_styled([(f"  not measured: {feature}", "yellow")])
    total = pluralize(document["nodes"], "node")
    read = sum(row["reads"] is True for row in document["libraries"])
    print_styled([(f"{read} of {len(document['libraries'])} libraries read the {total}; measured {document['measured']}", "dim")])  # fmt: skip


def _reason(reason: dict[str, Any]) -> tuple[str, str, str]:
    return reason["message"], reason["remedy"], reason["pointer"]


def _print_places(reasons: list[dict[str, Any]]) -> None:
    for reason in reasons[:_SHOWN]:
        where = f"{reason['document']} {reason['pointer']}".strip()
        print_styled([(f"    {reason['path']}", "cyan"), (f"  {where}", "dim")])
    if len(reasons) > _SHOWN:
        print_styled([(f"    ... and {len(reasons) - _SHOWN:,} more", "dim")])
