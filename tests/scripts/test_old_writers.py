"""The script of ``make old-writers``: interpreters and reports."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "old_writers.py"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without any interpreter; ``pyenv`` installs one in a root of pyenv."""
    for name in ("home", "bin"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("PYENV_ROOT", raising=False)
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "usr"))

    def program(path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return program


def find(versions=("3.6",)):
    return runpy.run_path(str(SCRIPT))["find_python"](versions)


def test_of_the_home_directory(machine, tmp_path):
    python = machine(tmp_path / "home/.pyenv/versions/3.6.15/bin/python", "echo 3.6")
    assert find() == python


def test_of_the_variable(machine, tmp_path, monkeypatch):
    python = machine(tmp_path / "else/versions/3.6.15/bin/python", "echo 3.6")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "else"))
    assert find() == python


def test_of_another_user_whose_pyenv_is_on_the_path(machine, tmp_path, monkeypatch):
    """The shim of python3.6 fails if no version is selected."""
    machine(tmp_path / "other/.pyenv/bin/pyenv", "exit 0")
    machine(tmp_path / "other/.pyenv/shims/python3.6", "exit 127")
    python = machine(tmp_path / "other/.pyenv/versions/3.6.15/bin/python", "echo 3.6")
    folders = [tmp_path / "other/.pyenv" / name for name in ("shims", "bin")]
    monkeypatch.setenv("PATH", ":".join(map(str, folders)))
    assert find() == python


def test_beside_the_interpreter_that_runs(machine, tmp_path, monkeypatch):
    python = machine(tmp_path / "x/versions/3.6.15/bin/python", "echo 3.6")
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "x/versions/3.11.7"))
    assert find() == python


def test_an_interpreter_of_another_version_is_not_taken(machine, tmp_path):
    machine(tmp_path / "home/.pyenv/versions/3.6.15/bin/python", "echo 3.7")
    assert find() is None


def test_missing_interpreter_lists_searched_locations(machine, tmp_path, capsys):
    script = runpy.run_path(str(SCRIPT))
    script["make"].__globals__["ROOT"] = tmp_path
    assert script["main"]([".venv-zarr1"]) == 0
    told = capsys.readouterr().err
    assert "Python 3.6 is neither on PATH nor in " in told
    assert str(tmp_path / "home/.pyenv/versions") in told
    script["make"].__globals__["find_python"] = lambda versions: None
    assert script["main"]([".venv-zarr2"]) == 1
    assert script["main"](["--optional", ".venv-zarr2"]) == 0
