"""What ``zarr-conformance`` does, or ``python -m zarr_conformance``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zarr_conformance.reporting.command import COMMANDS
from zarr_conformance.running.command import add_arguments, add_files, run_command
from zarr_conformance.running.usage import UsageError
from zarr_conformance.template import KINDS, new_distribution


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        0 if it worked; 1 if an implementation fails; 2 if something could not be done.
    """
    parser = _parser()
    asked = parser.parse_args(arguments)
    commands = {"run": run_command, "new": _new, **COMMANDS}
    try:
        return commands[asked.command_name](asked)
    except UsageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zarr-conformance",
        description="Say what a Zarr implementation does, clause by clause.",
    )
    commands = parser.add_subparsers(required=True, metavar="command", dest="command_name")

    def add(name: str, what: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")

    add_arguments(add("run", "judge implementations"))
    add("implementations", "list those that there are adapters for")
    add("build", "write the corpus as a folder").add_argument("folder", type=Path)
    show = add("show", "show a case in full")
    show.add_argument("case", help="its id, or a part of it")
    show.add_argument("--store", type=Path, metavar="DIR", help="lay its store down there")
    listed = add("clauses", "list clauses with the number of their cases")
    listed.add_argument("specification", nargs="?", help="its name; all of them if left out")
    listed.add_argument(
        "--missing", action="store_true", help="only those without a case, a line each"
    )
    report = add("report", "make a report of results from several runs")
    report.add_argument("results", type=Path, nargs="+", help="files that run --json has written")
    add_files(report)
    new = add("new", "write a complete distribution of an extension")
    new.add_argument(
        "kind",
        type=lambda word: word.replace("_", "-"),
        choices=KINDS,
        metavar="kind",
        help=f"what it is: {', '.join(KINDS)}",
    )
    new.add_argument("name", help="name in the metadata, beginning with yours: acme.delta")
    new.add_argument("--into", type=Path, default=Path(), help="where the directory is made")
    return parser


def _new(asked: argparse.Namespace) -> int:
    try:
        folder = new_distribution(asked.kind, asked.name, asked.into)
    except (ValueError, FileExistsError) as error:
        raise UsageError(str(error)) from error
    print(f'wrote {folder}\n\n  cd {folder}\n  pip install -e ".[test]"\n  pytest')
    return 0


if __name__ == "__main__":
    sys.exit(main())
