"""Fixtures: hierarchies of every format, and functions that run commands."""

import json
import os
import pty
import shutil
import sys
from threading import Thread

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
def run(tmp_path, monkeypatch):
    """Return a function that runs a command line in an empty folder and returns its output."""
    monkeypatch.chdir(tmp_path)

    def call(*words, status=0, **more):
        done = CliRunner().invoke(cli, [*map(str, words)], **more)
        assert done.exit_code == status, done.output + repr(done.exception)
        assert "Traceback" not in done.output
        return done.stdout if status == 0 else done.output

    return call


@pytest.fixture
def on_terminal(monkeypatch):
    """Return a function that runs a command line on a terminal and returns what it shows."""

    def call(*words, width=300, colour=False):
        reader, writer = pty.openpty()
        shown = bytearray()

        def read():
            try:
                while part := os.read(reader, 1 << 16):
                    shown.extend(part)
            except OSError:  # the end of a terminal on Linux
                pass

        screen_reader = Thread(target=read)
        screen_reader.start()
        with open(writer, "w", encoding="utf-8") as screen, monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(width))
            patch.setenv("TERM", "xterm")
            patch.setenv("NO_COLOR", "" if colour else "1")
            patch.setattr(sys, "stdout", screen)
            patch.setattr(sys, "stderr", screen)
            with pytest.raises(SystemExit):
                cli([*words])
        screen_reader.join()
        os.close(reader)
        return shown.decode("utf-8", "surrogateescape")

    return call


@pytest.fixture
def query(command):
    """Return a function that runs a command line with --json and returns the document."""

    def run(*words, status=0):
        return json.loads(command(*words, "--json", status=status))

    return run
