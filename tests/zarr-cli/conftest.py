"""Hierarchies of every format, with a way to run commands on them."""

import json
import shutil

import pytest
import zarr_core as zarr
from click.testing import CliRunner
from formats_for_commands import FORMATS, make
from zarr_cli.main import cli


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    place = tmp_path_factory.mktemp("made")
    for name in FORMATS:
        make(place / f"{name}.zarr", name)
    zarr.copy(zarr.open_group(place / "3.zarr", mode="r"), f"{place / 'three'}.zip")
    return place


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    """A folder with ``1.zarr``, ``2.zarr`` ... and ``three.zip``, which may be changed."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command():
    """Runs a command line; gives what went to standard output, or to standard error if it failed."""

    def run(*words, status=0, text=None):
        done = CliRunner().invoke(cli, [*map(str, words)], input=text)
        assert done.exit_code == status, (done.output, done.exception)
        return done.stderr if status == 2 or not done.stdout else done.stdout

    return run


@pytest.fixture
def query(command):
    """Runs a command line with --json; gives the document."""

    def run(*words, status=0):
        return json.loads(command(*words, "--json", status=status))

    return run
