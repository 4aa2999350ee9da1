"""Run a program with zarr-core instead of zarr-python.

``python -m zarr_compat script.py argument ...``, ``python -m zarr_compat -m module argument ...``.
"""

from __future__ import annotations

import os
import runpy
import sys

from zarr_compat import install_as_zarr

_USAGE = "usage: python -m zarr_compat SCRIPT [ARGUMENT ...] | -m MODULE [ARGUMENT ...]"


def main(arguments: list[str]) -> None:
    """Run a script or module, as ``python`` does."""
    if not arguments or arguments == ["-m"] or (arguments[0][:1] == "-" and arguments[0] != "-m"):
        raise SystemExit(_USAGE)
    install_as_zarr()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
