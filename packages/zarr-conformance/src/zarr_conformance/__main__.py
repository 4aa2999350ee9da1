"""What ``python -m zarr_conformance`` does."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zarr_conformance.template import KINDS, new_distribution


def main(arguments: list[str] | None = None) -> int:
    """Run a command; 0 if it worked."""
    parser = argparse.ArgumentParser(prog="python -m zarr_conformance")
    commands = parser.add_subparsers(required=True, metavar="command")
    new = commands.add_parser("new", help="write a complete distribution of an extension")
    new.add_argument("kind", choices=KINDS)
    new.add_argument("name", help="name in the metadata, beginning with yours: acme.delta")
    new.add_argument("--into", type=Path, default=Path(), help="where the directory is made")
    asked = parser.parse_args(arguments)
    try:
        folder = new_distribution(asked.kind, asked.name, asked.into)
    except (ValueError, FileExistsError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    print(f"wrote {folder}\n\n  cd {folder}\n  pip install -e .\n  pytest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
