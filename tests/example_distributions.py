"""The distributions of examples/, installed as by users."""

import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
PIP += ["--no-deps", "--no-index", "--no-build-isolation", "--target"]


def copied_example(name, folder):
    """Copy the source of an example below a folder, to be built there.

    Setuptools writes into the directory of the source, where the workers of a test run would meet.
    """
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    return shutil.copytree(EXAMPLES / name, folder / "sources" / name, ignore=ignored)


def install_examples(folder, *names):
    """Install examples below a folder; return the directory that holds their modules."""
    copies = [copied_example(name, folder) for name in names]
    target = folder / "site"
    subprocess.run([*PIP, str(target), *map(str, copies)], check=True)
    return target
