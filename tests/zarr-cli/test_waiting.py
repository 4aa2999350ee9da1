"""What a command says, or does not wait for, if a server or file does not answer."""

import os
import socket

import pytest
import zarr_core as zarr
from click.testing import CliRunner
from zarr_cli.command_group import cli
from zarr_transfer import progress


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(progress, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(progress, "_LONG_SECONDS", 0.3)

    def run(*words):
        return CliRunner().invoke(cli, [*map(str, words)])

    return run


@pytest.mark.parametrize("kind", ["http", "redis"])
def test_a_command_names_the_server_that_it_waits_for(run, kind):
    options = ["-o", "timeout=1.5", "-o", "connect_timeout=1.5", "-o", "retry_timeout=0"]
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"{kind}://127.0.0.1:{silent.getsockname()[1]}/0"
        done = run("info", place, *options)
    assert done.exit_code
    [notice] = [line for line in done.stderr.splitlines() if line.startswith("waiting for ")]
    assert place in notice
    assert notice.endswith(" ...")


def test_a_command_that_does_not_wait_says_nothing(run, tmp_path):
    zarr.create_array(tmp_path / "a", data=[1, 2])
    assert "waiting" not in run("info", tmp_path / "a").stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("suffix", ["", ".zip", ".sqlite", ".lmdb", ".dbm", ".json", ".tar"])
@pytest.mark.parametrize("words", [["info"], ["tree"], ["check"]], ids=str)
def test_a_command_does_not_wait_for_a_pipe(run, tmp_path, words, suffix):
    os.mkfifo(tmp_path / f"p{suffix}")
    done = run(*words, tmp_path / f"p{suffix}")
    assert done.exit_code
    assert isinstance(done.exception, SystemExit)  # an error of ours
