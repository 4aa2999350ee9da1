"""``zarr-core plan``."""

import json

import pytest


def test_the_plan_is_a_table(here, command):
    printed = command("plan", "3.zarr#height", "0:2,0:3")
    lines = printed.splitlines()
    assert lines[0].startswith("read of file://")
    assert lines[0].endswith("'/height'")
    assert lines[1].split() == ["selection", "2", "x", "3"]
    assert lines[-1].split()[:2] == ["smallest", "max_memory"]


def test_writes_and_exact_plans(here, command):
    read = json.loads(command("plan", "3.zarr#height", "0:2,0:3", "--exact", "--json"))
    write = json.loads(command("plan", "3.zarr#height", "0:2,0:3", "--write", "--json"))
    assert (read["access"], read["is_exact"], read["write_requests"]) == ("read", True, 0)
    assert (write["access"], write["is_exact"], write["write_requests"]) == ("write", False, 1)
    assert read["shape"] == [2, 3]


def test_everything_is_the_default(here, command):
    found = json.loads(command("plan", "3.zarr#height", "--json"))
    assert found["chunks"] == found["requests"] >= 1


@pytest.mark.parametrize("selection", ["0:2,0:3,5", "x", "99999"])
def test_a_wrong_selection_is_a_usage_error(here, command, selection):
    assert "SELECTION" in command("plan", "3.zarr#height", selection, status=2)
