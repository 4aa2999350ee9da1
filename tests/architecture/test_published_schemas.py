"""The published schemas are copies of those of the packages."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_published_schemas_are_in_step():
    run = subprocess.run(
        [sys.executable, "scripts/publish_schemas.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
