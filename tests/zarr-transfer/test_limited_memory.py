"""The resident memory of reads and writes with a limit."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="takes /proc/self/clear_refs")

TESTS = Path(__file__).parent.parent
PROGRAM = Path(__file__).parent / "measured_memory.py"


def measure(seeds):
    """Return the limit and the measured memory of every seed."""
    lines = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, seeds)],
        check=True,
        capture_output=True,
        text=True,
        cwd=TESTS,
    ).stdout.splitlines()
    found = [line.split(maxsplit=3) for line in lines]
    return {int(seed): (int(limit), int(used), what) for seed, limit, used, what in found}


def check(seeds):
    found = measure(seeds)
    assert found.keys() == {*seeds}
    for seed, (limit, used, what) in found.items():
        assert used <= 1.1 * limit, (seed, limit, used, what)
    return found


def test_limits_are_kept():
    found = check([4, 8, 15, 108, 226])
    # Memory is measured: some calls take most of their limit.
    assert max(used / limit for limit, used, _ in found.values()) > 0.4


@pytest.mark.slow
def test_limits_of_two_hundred_layouts_are_kept():
    check(range(200))
