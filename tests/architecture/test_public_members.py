"""The number of public members of arrays and groups."""

import pytest
import zarr_core

LIMITS = {"Array": 48, "Group": 42}
"""Limits to lower whenever there are fewer members, not to raise."""


@pytest.mark.parametrize("name", LIMITS)
def test_a_class_has_no_more_members_than_its_limit(name):
    members = [member for member in dir(getattr(zarr_core, name)) if not member.startswith("_")]
    assert len(members) <= LIMITS[name]
