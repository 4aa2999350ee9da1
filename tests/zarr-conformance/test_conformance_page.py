"""The page of findings is what the kept results say, of cases that are still there."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "document_conformance.py"


def test_the_page_is_in_step():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ours_breaks_nothing_and_is_asked_everything():
    file = ROOT / "docs" / "conformance.json"
    assert file.stat().st_size < 300_000
    ours = json.loads(file.read_text("utf-8"))["runs"][0]
    assert (ours["name"], ours["wrong"]) == ("zarr-core", {})
    assert {grade for it in ours["cases"].values() for grade in it} == {"pass"}
