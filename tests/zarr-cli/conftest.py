"""Fixtures: hierarchies of every format, and functions that run commands."""

import json
import shutil

import pytest
import zarr_core as zarr
from click.testing import CliRunner
from formats_for_commands import FORMATS, make
from zarr_cli.command_group import cli


@pytest.fixture(scope="session")
def example_folder(tmp_path_factory):
    location = tmp_path_factory.mktemp("example_folder")
    for name in FORMATS:
        make(location / f"{name}.zarr", name)
    zarr.copy(zarr.open_group(location / "3.zarr", mode="r"), f"{location / 'three'}.zip")
    return location


@pytest.fixture
def here(example_folder, tmp_path, monkeypatch):
    """Return a writable folder with ``1.zarr``, ``2.zarr`` ... and ``three.zip``."""
    shutil.copytree(example_folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command():
    """Return a function that runs a command line and returns standard output or error."""

    def run(*words, status=0, text=None):
        done = CliRunner().invoke(cli, [*map(str, words)], input=text)
        assert done.exit_code == status, (done.output, done.exception)
        return done.stderr if status == 2 or not done.stdout else done.stdout

    return run


@pytest.fixture
def query(command):
    """Return a function that runs a command line with --json and returns the document."""

    def run(*words, status=0):
        return json.loads(command(*words, "--json", status=status))

    return run
