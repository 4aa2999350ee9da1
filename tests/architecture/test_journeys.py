"""The number of files that four typical operations enter."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "count_journeys.py"

LIMITS = {
    "read array[0:10, ::2] from a directory": 8,
    "write a part of a shard": 24,
    "open new metadata with an ignored codec": 27,
    "copy a group": 41,
}
"""Limits to lower whenever fewer files are reached, not to raise."""


@pytest.fixture(scope="module")
def counted():
    program = [sys.executable, str(SCRIPT)]  # a new process: caches are empty
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    lines = [line.split(maxsplit=4) for line in done.stdout.splitlines()]
    return {name: int(files) for files, _, _, _, name in lines}


def test_every_operation_has_a_limit(counted):
    assert counted.keys() == LIMITS.keys()


@pytest.mark.parametrize("name", LIMITS)
def test_an_operation_enters_no_more_files_than_its_limit(counted, name):
    assert 0 < counted[name] <= LIMITS[name]
