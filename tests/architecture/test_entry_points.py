"""The installed entry points are those of the pyproject.toml of each package."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECTS = {
    file.parent.name: tomllib.loads(file.read_text())["project"]
    for file in sorted((ROOT / "packages").glob("*/pyproject.toml"))
}


@pytest.mark.parametrize("name", PROJECTS)
def test_entry_points_are_installed(name):
    if name == "zarr-native":
        # Optional: `make` installs it last, and the tests of the core alone run without it.
        pytest.importorskip("zarr_native")
    groups = {
        **PROJECTS[name].get("entry-points", {}),
        "console_scripts": PROJECTS[name].get("scripts", {}),
    }
    declared = {
        (group, key, target) for group, lines in groups.items() for key, target in lines.items()
    }
    found = {(point.group, point.name, point.value) for point in distribution(name).entry_points}
    assert found == declared, "run: pip install --editable packages/" + name


@pytest.mark.parametrize("name", PROJECTS)
def test_nothing_stands_in_the_way_of_zarr_python(name):
    project = PROJECTS[name]
    assert name == project["name"]
    assert not [group for group in project.get("entry-points", {}) if group.split(".")[0] == "zarr"]
    assert "zarr" not in project.get("scripts", {})
    assert not (ROOT / "packages" / name / "src" / "zarr").exists()


@pytest.mark.parametrize("name", PROJECTS)
def test_package_metadata(name):
    project = PROJECTS[name]
    assert project["requires-python"] == ">=3.11"
    assert project["license"] == "MIT"
    folder = ROOT / "packages" / name
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert (folder / project["readme"]).read_text().startswith(f"# {name}\n")
    assert len((folder / project["readme"]).read_text().splitlines()) > 5, "says too little"


def test_all_packages_have_one_version():
    import zarr_core

    assert {project["version"] for project in PROJECTS.values()} == {zarr_core.__version__}
    for name, project in PROJECTS.items():
        if name != "zarr-core":
            taken = project["dependencies"]
            if name == "zarr-conformance":  # tests other implementations without it
                taken = project["optional-dependencies"]["kit"]
            assert f"zarr-core~={zarr_core.__version__}" in taken
