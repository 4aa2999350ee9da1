"""The script of ``make old-writers``: interpreters and reports."""

import runpy
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "old_writers.py"


@pytest.fixture
def script(tmp_path, monkeypatch):
    """The script, on a machine without any interpreter but this one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = runpy.run_path(str(SCRIPT))
    found["make"].__globals__["ROOT"] = tmp_path / "environments"
    return found


@pytest.mark.parametrize(
    ("text", "is_found"), [("echo 3.6", True), ("echo 3.7", False), ("exit 127", False)]
)
def test_an_interpreter_on_the_path_is_found_by_its_version(script, tmp_path, text, is_found):
    python = tmp_path / "python3.6"
    python.write_text(f"#!/bin/sh\n{text}\n")
    python.chmod(0o755)
    assert script["find_python"](("3.6",)) == (str(python) if is_found else None)


def test_this_interpreter_is_found(script):
    version = "{}.{}".format(*sys.version_info)
    assert script["find_python"](("3.6", version)) == sys.executable


def test_a_missing_interpreter_is_an_error_for_a_required_environment(script, capsys):
    assert script["main"]([".venv-zarr1"]) == 0
    assert "Python 3.6 is not on PATH" in capsys.readouterr().err
    script["make"].__globals__["find_python"] = lambda versions: None
    assert script["main"]([".venv-zarr2"]) == 1
    assert script["main"](["--optional", ".venv-zarr2"]) == 0
