"""The command ``zarr-conformance``, also ``python -m zarr_conformance``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zarr_conformance.errors import UsageError
from zarr_conformance.report.commands import COMMANDS
from zarr_conformance.runner.exchange import add_exchange_arguments, exchange_command
from zarr_conformance.runner.run_command import add_arguments, add_corpus, add_files, run_command
from zarr_conformance.template import EXTENSION_POINTS, new_distribution, template_name


def main(arguments: list[str] | None = None) -> int:
    """Run a command.

    Returns
    -------
    int
        0 for success, 1 if an implementation fails, 2 for other errors.
    """
    parser = _parser()
    args = parser.parse_args(arguments)
    commands = {
        "run": run_command,
        "exchange": exchange_command,
        "new": _new,
        **COMMANDS,
    }
    try:
        return commands[args.command_name](args)
    except UsageError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="zarr-conformance",
        description="Test Zarr implementations, clause by clause.",
    )
    commands = parser.add_subparsers(required=True, metavar="command", dest="command_name")

    def add(name: str, help_: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=help_, description=f"{help_[0].upper()}{help_[1:]}.")

    add_arguments(add("run", "test implementations"))
    add_exchange_arguments(
        add("exchange", "read with each implementation what each other one writes")
    )
    add("implementations", "list the implementations that have adapters")
    built = add("build", "write the corpus to a directory or an archive")
    built.add_argument(
        "target",
        type=Path,
        help="a directory, or a name that ends in .tar.gz and may contain {version}",
    )
    show = add("show", "show a case")
    show.add_argument("case", help="its id or a part of it")
    show.add_argument("--store", type=Path, metavar="DIR", help="write its store to this directory")
    listed = add("clauses", "list clauses with the number of their cases")
    listed.add_argument("specification", nargs="?", help="its name; default: all")
    report = add("report", "create a report from the results of several runs")
    report.add_argument("results", type=Path, nargs="+", help="files written by run --json")
    add_corpus(report)
    add_files(report)
    new = add("new", "create a distribution for an extension")
    new.add_argument(
        "extension_point",
        type=template_name,
        choices=EXTENSION_POINTS,
        metavar="EXTENSION_POINT",
        help=f"one of {', '.join(EXTENSION_POINTS)}",
    )
    new.add_argument("name", help="name in the metadata, with your prefix: acme.delta")
    new.add_argument("--into", type=Path, default=Path(), help="parent of the new directory")
    return parser


def _new(args: argparse.Namespace) -> int:
    try:
        folder = new_distribution(args.extension_point, args.name, args.into)
    except (ValueError, FileExistsError) as error:
        raise UsageError(str(error)) from error
    print(f'wrote {folder}\n\n  cd {folder}\n  pip install -e ".[test]"\n  pytest')
    return 0


if __name__ == "__main__":
    sys.exit(main())
