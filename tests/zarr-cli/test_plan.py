"""``zarr-core plan``."""

import json

import pytest


def test_the_plan_is_a_table(here, command):
    printed = command("plan", "3.zarr#height", "0:2,0:3")
    lines = printed.splitlines()
    assert lines[0].startswith("read of file://")
    assert lines[0].endswith("'/height'")
    assert lines[1].split() == ["selection", "2", "x", "3"]
    assert lines[-1].split()[:2] == ["bytes", "selected"]


def test_everything_is_the_default(here, command):
    found = json.loads(command("plan", "3.zarr#height", "--json"))
    assert found["all_chunks"] == found["chunks"] >= 1


@pytest.mark.parametrize("selection", ["0:2,0:3,5", "x", "99999"])
def test_a_wrong_selection_is_a_usage_error(here, command, selection):
    assert "SELECTION" in command("plan", "3.zarr#height", selection, status=2)
