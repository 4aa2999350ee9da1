"""The program ``zarr-core``.

This module imports nothing else before :func:`main` runs, so that an interrupt during the
imports ends the program without a traceback.
"""

import sys

INTERRUPTED = 130
"""The exit status of an interrupted program, as in shells."""


def main() -> None:
    """Run ``zarr-core`` with the arguments of the process."""
    try:
        from zarr_cli.command_group import PROGRAM, cli

        cli(prog_name=PROGRAM)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
