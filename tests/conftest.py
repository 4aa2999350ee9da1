"""Configuration of all tests: shared modules, no time limits for examples, slow tests on request."""

import importlib
import os
import signal
import sys
import zlib
from pathlib import Path

import hypothesis
import pytest

# Tests set the variables of the terminal that they need.
for name in ("TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
    os.environ.pop(name, None)

# Programs that tests start inherit whether an interrupt is ignored, as it is in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)

# pytest's importlib mode does not extend sys.path.
sys.path.insert(0, str(Path(__file__).parent))

# The time of an example depends on the load of the machine.
too_slow = [hypothesis.HealthCheck.too_slow]
# Continuous integration tests the same examples each time: a rare example must not fail a change
# that has not caused it.  Other runs choose new ones.
hypothesis.settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=too_slow,
    derandomize=bool(os.environ.get("ZARR_CORE_SAME_EXAMPLES")),
)
hypothesis.settings.load_profile("untimed")

SLOW_TESTS = "ZARR_CORE_SLOW_TESTS"
SHARE = "ZARR_CORE_SHARE"
SERVERS = ("_server", "s3_durable")  # suffixes of the names of their fixtures
# Tests with other libraries, whose releases depend on the version of Python.
MEETING_OTHERS = {"interop", "zarr-bridge", "zarr-compat", "zarr-dask", "zarr-xarray"}


def takes_server(item):
    return any(name.endswith(SERVERS) for name in getattr(item, "fixturenames", ()))


def is_slow(item):
    return item.get_closest_marker("slow") is not None


def pytest_collection_modifyitems(config, items):
    """Skip slow tests unless an environment variable enables them.

    A share of n is for a second run with another version of Python: it selects the tests that use
    a server, and one in n of the others.  Tests with other libraries are selected with the first of
    their parameters and one in three of the others.
    """
    if not os.environ.get(SLOW_TESTS):
        reason = f"slow; runs if {SLOW_TESTS}=1"
        for item in filter(is_slow, items):
            item.add_marker(pytest.mark.skip(reason=reason))
    share = int(os.environ.get(SHARE) or 1)
    if share > 1:
        functions = set()
        chosen = [item for item in items if is_chosen(item, share, functions)]
        config.hook.pytest_deselected(items=[*set(items) - set(chosen)])
        items[:] = chosen


def is_chosen(item, share, functions):
    """Whether a run with a share contains a test; adds its function to those that were seen."""
    function, _, parameters = item.nodeid.partition("[")
    is_first = function not in functions
    functions.add(function)
    if takes_server(item):
        return True
    number = zlib.crc32(parameters.encode())
    if item.path.relative_to(Path(__file__).parent).parts[0] in MEETING_OTHERS:
        return is_first or number % 3 == 0
    return zlib.crc32(item.nodeid.encode()) % share == 0


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution for one test, as an installer does.

    ``install(name, {extension point: {name: target}}, {file: text}, version="1.0")`` writes
    the files and the metadata, and returns the folder.
    """
    from example_distributions import write_distribution
    from zarr_core import messages
    from zarr_core.config import config
    from zarr_core.registry import discovery

    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def write(name, entry_points, files=None, version="1.0"):
        lines = []
        for point, names in entry_points.items():
            lines += [f"[zarr_core.{point}]", *(f"{key} = {names[key]}" for key in names)]
        write_distribution(site, name, version, "\n".join(lines))
        for path, text in (files or {}).items():
            file = site / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        importlib.invalidate_caches()
        discovery.refresh()
        return site

    messages._issued.clear()
    with config.set():
        yield write
    for module in set(sys.modules) - before:
        if (getattr(sys.modules[module], "__file__", None) or "").startswith(str(site)):
            del sys.modules[module]
    messages._issued.clear()
    monkeypatch.undo()
    discovery.refresh()
