"""The table of portability is right: libraries read what it says, and nothing else."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.portability.support import Support

SCRIPTS = Path(__file__).parents[2] / "scripts"
# Codecs that need packages which the environments of the table do not have.
MORE_PACKAGES = ("pcodec", "zfpy")


@pytest.fixture(scope="module")
def scripts():
    sys.path.insert(0, str(SCRIPTS))
    try:
        import measure_portability
        import portability_probes
    finally:
        sys.path.remove(str(SCRIPTS))
    return measure_portability, portability_probes


@pytest.mark.parametrize(
    ("package", "adapter"), [("zarr", "zarr-python"), ("tensorstore", "tensorstore")]
)
def test_installed_libraries_read_what_the_table_says(scripts, package, adapter):
    measuring, probes = scripts
    support = Support.load()
    rows = [name for name in support.libraries if name.startswith(adapter)]
    rows = [it for it in rows if support.libraries[it]["version"] == version(package)]
    if not rows:
        pytest.skip(f"{package} {version(package)} is not in the table")
    command = BUNDLED_ADAPTERS[adapter].command()
    library = measuring.Library(rows[0], command, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    given = [
        it
        for it in probes.hierarchies(40, 2)
        if not any(word in feature for ids in measuring.features_of(it).values() for feature in ids for word in MORE_PACKAGES)
    ]  # fmt: skip
    assert len(given) >= 30
    counts = measuring.compare(measuring.measure([library], given), given, support)
    assert counts[rows[0], False] == 0
    assert counts[rows[0], True] == len(given)


def test_installed_libraries_read_what_was_converted_for_them(scripts):
    measuring, probes = scripts
    names = {"zarr-python-3.1": ("zarr", "zarr-python"), "tensorstore": ("tensorstore",) * 2}
    rows = Support.load().libraries
    if any(rows[name]["version"] != version(package) for name, (package, _) in names.items()):
        pytest.skip("the installed versions are not in the table")
    environment = {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    libraries = [
        measuring.Library(name, BUNDLED_ADAPTERS[adapter].command(), environment)
        for name, (_, adapter) in names.items()
    ]
    results = list(measuring.converted(probes.hierarchies(24, 6), list(names)))
    assert len(results) >= 12
    for found in measuring.measure(libraries, results).values():
        assert {how for nodes in found["results"] for how, _ in nodes.values()} == {"reads"}


@pytest.mark.slow
def test_all_libraries_read_what_the_table_says(scripts):
    measuring, probes = scripts
    if not measuring.FOLDER.exists():
        pytest.skip("the environments are not installed; run make conformance")
    given = list(probes.hierarchies(500, 1))
    found = measuring.measure(measuring.libraries(measuring.FOLDER, []), given)
    counts = measuring.compare(found, given, Support.load())
    assert sum(count for (_, right), count in counts.items() if right) >= 0.99 * counts.total()
