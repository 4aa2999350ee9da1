import tomllib
from pathlib import Path

import pytest
from zarr_core.registry import discovery
from zarr_core.registry.provider import Provider

PYPROJECT = Path(__file__).parents[2] / "packages" / "zarr-core" / "pyproject.toml"


def test_the_table_equals_the_entry_points():
    with PYPROJECT.open("rb") as file:
        groups = tomllib.load(file)["project"]["entry-points"]
    assert {
        f"zarr_core.{extension_point}": lines
        for extension_point, lines in discovery.ENTRY_POINTS.items()
    } == groups


@pytest.mark.parametrize(
    ("extension_point", "name", "target"),
    [
        (extension_point, name, target)
        for extension_point, lines in discovery.ENTRY_POINTS.items()
        for name, target in lines.items()
    ],
)
def test_every_line_loads(extension_point, name, target):
    Provider(extension_point, name, target, discovery.DISTRIBUTION).load()


def test_a_family_answers_to_its_names_only():
    assert discovery.core_provider("data_type", "r24").target.endswith(":RawBits")
    assert discovery.core_provider("data_type", "rhubarb") is None
    assert discovery.core_provider("codec", "r24") is None
