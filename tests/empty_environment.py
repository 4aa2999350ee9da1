"""Environments with the given requirements only."""

import os
import subprocess
import sys
import venv

OUTSIDE = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
"""The variables of a shell that does not know this checkout."""
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]


def make_environment(home, find_links, *requirements):
    """Install requirements into a new environment; return its interpreter.

    The pip of the current environment installs them, so the new one needs no pip.
    """
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = ["install", "--find-links", str(find_links), *requirements]
    subprocess.run(
        [sys.executable, *PIP, "--python", str(python), *install],
        check=True,
        env=OUTSIDE,
        cwd=home,
    )
    return python
