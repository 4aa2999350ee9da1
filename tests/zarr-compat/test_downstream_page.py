"""The page about tests of other packages has a reason for each that fails with zarr-compat only."""

import json
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "downstream.md"
FAILURES = Path(__file__).with_name("downstream_failures.json")


def test_each_failure_has_a_reason():
    reasons = PAGE.read_text().partition("## Tests that pass with zarr-python only")[2]
    failures = json.loads(FAILURES.read_text())
    missing = [name for names in failures.values() for name in names if f"{name}`" not in reasons
               and f"{name}[" not in reasons]  # fmt: skip
    assert not missing
