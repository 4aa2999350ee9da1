"""The table of portability is right: libraries read what it says, and nothing else."""

from __future__ import annotations

import os
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS
from zarr_conformance.portability.support import Support

SCRIPTS = Path(__file__).parents[2] / "scripts"
CONSTRAINTS = SCRIPTS.parent / "constraints.txt"
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


LIBRARIES = pytest.mark.parametrize(
    ("package", "adapter"), [("zarr", "zarr-python"), ("tensorstore", "tensorstore")]
)


def rows(package, adapter, installed):
    """The libraries of the table that are a version of a package."""
    libraries = Support.load().libraries
    return [
        name
        for name, row in libraries.items()
        if name.startswith(adapter) and row["version"] == installed
    ]


@LIBRARIES
def test_the_table_has_the_versions_that_make_installs(package, adapter):
    """Otherwise the next tests are skipped everywhere: run ``scripts/measure_portability.py``."""
    pins = re.findall(rf"^{package}==(\S+)", CONSTRAINTS.read_text(), re.M)
    assert pins
    assert all(rows(package, adapter, pin) for pin in pins), pins


@LIBRARIES
def test_installed_libraries_read_what_the_table_says(scripts, package, adapter):
    measuring, probes = scripts
    support = Support.load()
    if not (names := rows(package, adapter, version(package))):
        pytest.skip(f"{package} {version(package)} is not in the table")
    (name, *_) = names
    command = BUNDLED_ADAPTERS[adapter].command()
    library = measuring.Library(name, command, {"PYTHONPATH": os.environ.get("PYTHONPATH", "")})
    given = [
        it
        for it in probes.hierarchies(40, 2)
        if not any(word in feature for ids in measuring.features_of(it).values() for feature in ids for word in MORE_PACKAGES)
    ]  # fmt: skip
    assert len(given) >= 30
    counts = measuring.compare(measuring.measure([library], given), given, support)
    assert counts[name, False] == 0
    assert counts[name, True] == len(given)


@pytest.mark.slow
def test_all_libraries_read_what_the_table_says(scripts):
    measuring, probes = scripts
    if not measuring.FOLDER.exists():
        pytest.skip("the environments are not installed; run make conformance")
    given = list(probes.hierarchies(500, 1))
    found = measuring.measure(measuring.libraries(measuring.FOLDER, []), given)
    counts = measuring.compare(found, given, Support.load())
    assert sum(count for (_, right), count in counts.items() if right) >= 0.99 * counts.total()
