"""Environments with the given requirements only."""

import os
import subprocess
import sys
import venv

from servers.requirement import unavailable

OUTSIDE = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
"""The variables of a shell that does not know this checkout."""
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]


def make_environment(home, find_links, *requirements):
    """Install requirements into a new environment; return its interpreter.

    The pip of the current environment installs them, so the new one needs no pip.  Without a
    network, the test is skipped, or fails if everything is required.
    """
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    install = ["install", "--find-links", str(find_links), *requirements]
    done = subprocess.run(
        [sys.executable, *PIP, "--python", str(python), *install],
        check=False,
        env=OUTSIDE,
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode and "connection broken" in done.stderr:
        unavailable(f"pip cannot reach an index to install {' '.join(requirements)}")
    assert not done.returncode, done.stderr
    return python
