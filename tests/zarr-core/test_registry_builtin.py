import tomllib
from pathlib import Path

import pytest
from zarr_core.registry import builtin
from zarr_core.registry.provider import Provider

PYPROJECT = Path(__file__).parents[2] / "packages" / "zarr-core" / "pyproject.toml"


def test_the_table_equals_the_entry_points():
    with PYPROJECT.open("rb") as file:
        groups = tomllib.load(file)["project"]["entry-points"]
    assert {f"zarr_core.{kind}": lines for kind, lines in builtin.ENTRY_POINTS.items()} == groups


@pytest.mark.parametrize(
    ("kind", "name", "target"),
    [
        (kind, name, target)
        for table in (builtin.ENTRY_POINTS, builtin.FAMILIES)
        for kind, lines in table.items()
        for name, target in lines.items()
    ],
)
def test_every_line_loads(kind, name, target):
    Provider(kind, name, target, builtin.DISTRIBUTION).load()


def test_a_family_answers_to_its_names_only():
    assert builtin.provider("data_type", "r24").target.endswith(":RawBits")
    assert builtin.provider("data_type", "rhubarb") is None
    assert builtin.provider("codec", "r24") is None
