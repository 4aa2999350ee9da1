"""zarr-compat issues the warnings of zarr-python; ``test_warnings.py`` tests them."""

import sys
import warnings
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

import pytest
import zarr_compat
from zarr_core.registry import discovery

# pytest's importlib mode does not extend sys.path.
sys.path.insert(0, str(Path(__file__).parent))

if find_spec("zarr") is None:
    collect_ignore_glob = ["test_[!df]*.py"]  # all but those of units and of foreign names

CLASSES = ("ZarrDeprecationWarning", "ZarrRuntimeWarning", "ZarrUserWarning")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "zarr-compat" and item.path.name != "test_warnings.py":
            for name in CLASSES:
                mark = pytest.mark.filterwarnings(f"ignore::zarr_compat.errors.{name}")
                item.add_marker(mark, append=False)


def loaded(packages):
    """Return the names of the imported modules of some packages."""
    return [name for name in sys.modules if name.partition(".")[0] in packages]


@pytest.fixture
def no_zarr_python(monkeypatch):
    """Remove zarr-python, which a plugin of pytest or another test imported, from sys.modules.

    zarr-compat and zarr-bridge are imported again: their classes inherit from those of ``zarr``.
    Its plugins that the test imports are removed afterwards: their classes are derived from those of
    another import of zarr-python than the one that other tests use.
    """
    plugins = {
        point.module.partition(".")[0]
        for distribution in distributions()
        for point in distribution.entry_points
        if point.group.startswith("zarr.") and not point.module.startswith("zarr.")
    }
    before = {name: sys.modules[name] for name in loaded(plugins)}
    for name in loaded({"zarr"}):
        monkeypatch.delitem(sys.modules, name)
    outside = exchange(inside)
    yield
    inside.update(exchange(outside))
    for name in loaded(plugins):
        del sys.modules[name]
    sys.modules.update(before)
    discovery.refresh()


@pytest.fixture
def program(alias, tmp_path, monkeypatch, capsys):
    """Return a function that runs a program with zarr-core as ``zarr`` and returns what it prints."""

    def run(code):
        monkeypatch.chdir(tmp_path)
        with warnings.catch_warnings(action="ignore"):
            exec(code, {"__name__": "program"})
        return capsys.readouterr().out.strip()

    return run


@pytest.fixture
def alias(no_zarr_python):
    """``zarr`` of this library."""
    with zarr_compat.install_as_zarr() as zarr:
        yield zarr


inside = {}
"""The modules of zarr-compat and zarr-bridge that were imported with the former as ``zarr``."""


def exchange(modules):
    """Replace the imported modules of zarr-compat and zarr-bridge; return the former ones."""
    kept = {"zarr_bridge", "zarr_compat", "zarr_compat.alias", "zarr_compat.errors"}
    former = {
        name: sys.modules.pop(name)
        for name in loaded({"zarr_bridge", "zarr_compat"})
        if name not in kept
    }
    sys.modules.update(modules)
    for name in {*former, *modules}:
        package, _, attribute = name.rpartition(".")
        if name in modules:
            setattr(sys.modules[package], attribute, modules[name])
        else:
            delattr(sys.modules[package], attribute)
    discovery.refresh()
    return former
