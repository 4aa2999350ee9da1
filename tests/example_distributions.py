"""Distributions for tests: those of examples/, installed as by users, and written ones."""

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


def write_distribution(folder, name, version, entry_points):
    """Write what pip stores about a distribution; tests write its modules themselves."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entry_points)
