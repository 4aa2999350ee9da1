"""The program ``zarr-core``.

This module imports only constants before :func:`main` runs, so that an interrupt during the
imports ends the program without a traceback.
"""

import sys

from zarr_cli.exit_status import INTERRUPTED


def main() -> None:
    """Run ``zarr-core`` with the arguments of the process."""
    try:
        from zarr_cli.command_group import PROGRAM, cli

        cli(prog_name=PROGRAM)
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        sys.exit(INTERRUPTED)
