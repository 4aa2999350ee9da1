"""SIGKILL at random moments: every chunk is completely old or completely new, every document is valid."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kill_writers import WRITERS

PROGRAM = Path(__file__).with_name("kill_writers.py")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="writers are forked")


def kill(root: Path, kind: str, kills: int, seed: int) -> None:
    result = subprocess.run(
        [sys.executable, PROGRAM, root, kind, str(kills), str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("kind", WRITERS)
def test_killed_writers_leave_old_or_new(tmp_path, kind):
    kill(tmp_path / "store.zarr", kind, 60, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITERS)
def test_killed_writers_leave_old_or_new_very_often(tmp_path, kind):
    kill(tmp_path / "store.zarr", kind, 500, 1)
