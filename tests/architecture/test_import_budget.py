"""The modules that are imported when the library is used.

The number of modules does not depend on the load of the machine, unlike times.
"""

import os
import subprocess
import sys

import pytest
import zarr_core

HEAVY = {
    "asyncio", "concurrent.futures", "deflate", "google_crc32c", "http",
    "importlib.metadata", "importlib_metadata", "jsonschema", "logging", "multiprocessing", "numcodecs", "pluggy",
    "pytest", "socket", "ssl", "tempfile", "zarr", "zstandard",
}  # fmt: skip

PLUGINS = (
    "zarr_bridge",
    "zarr_codecs",
    "zarr_conformance",
    "zarr_display",
    "zarr_dtypes",
    "zarr_formats",
    "zarr_grids",
    "zarr_sharding",
    "zarr_stores",
)

PROGRAM = """
import sys
import numpy
before = set(sys.modules)
{program}
print(*sorted(set(sys.modules) - before))
"""

FIRST_ARRAY = """
import zarr_core
array = zarr_core.create_array(
    {store}, shape=(8, 8), chunks=(8, 8), dtype="int32", compressors=None,
    attributes={{"units": "m"}}, dimension_names=("y", "x"),
)
array[...] = numpy.arange(64).reshape(8, 8)
assert zarr_core.open_array(array.store, mode="r")[3, 5] == 29
assert array.attrs["units"] == "m"
"""


def loaded(program, **environment):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(program=program)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(run.stdout.split())


def test_importing_loads_almost_nothing():
    modules = loaded("import zarr_core")
    assert not modules & HEAVY
    assert len(modules) <= 40
    ours = {name for name in modules if name.startswith("zarr_")}
    assert ours == {"zarr_core", "zarr_core.config"}


def test_importing_needs_no_numpy():
    program = "import sys, zarr_core; raise SystemExit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("store", ["zarr_core.MemoryStore()", "place"])
def test_an_array_without_plugins_imports_none(store, tmp_path):
    program = f"place = {str(tmp_path / 'a')!r}" + FIRST_ARRAY.format(store=store)
    modules = loaded(program)
    # Opening the first node searches for hooks once, without importing plugins.
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith(PLUGINS)}


def test_opening_an_array_loads_nothing_for_new_arrays(tmp_path):
    zarr_core.create_array(tmp_path / "a", shape=4, dtype="int32", compressors=None)[...] = 7
    place = str(tmp_path / "a")
    modules = loaded(f"import zarr_core; assert zarr_core.open({place!r})[2] == 7")
    normalize = {name for name in modules if name.startswith("zarr_core.normalize")}
    assert not normalize
    hierarchy = {name for name in modules if name.startswith("zarr_core.hierarchy.")}
    for name in ("create", "create_node", "resize", "rollback"):
        assert f"zarr_core.hierarchy.{name}" not in hierarchy
    assert len([name for name in modules if name.startswith("zarr_core.")]) <= 110
    compared = loaded(f"import zarr_core; zarr_core.open({place!r}, shape=4, dtype='int32')")
    assert compared - modules >= {"zarr_core.normalize.array_metadata"}
    assert not {name for name in compared if name.startswith("zarr_transfer")}


def test_without_plugins_nothing_is_scanned(tmp_path):
    program = f"place = {str(tmp_path / 'a')!r}" + FIRST_ARRAY.format(store="place")
    assert not loaded(program, ZARR_CORE_DISABLE_PLUGINS="*") & HEAVY


def test_one_plugin_is_imported_when_it_is_used():
    program = FIRST_ARRAY.format(store="None").replace("compressors=None", "compressors='crc32c'")
    modules = loaded(program)
    ours = {name for name in modules if name.startswith(PLUGINS)}
    assert ours == {"zarr_codecs", "zarr_codecs._checksum", "zarr_codecs.crc32c"}


def test_the_interface_for_authors_loads_interfaces_and_errors_only():
    modules = loaded("import zarr_core.extension")
    assert not modules & HEAVY
    packages = {name.split(".")[1] for name in modules if name.startswith("zarr_core.")}
    assert not packages & {
        "chunk_grids", "codecs", "data_types", "engine", "formats", "hierarchy",
        "normalize", "selection", "stores",
    }  # fmt: skip
    assert {name for name in modules if name.startswith("zarr_core.registry.")} <= {
        "zarr_core.registry.extension_points",
        "zarr_core.registry.provider",
    }


def test_importing_touches_nothing_outside():
    program = """
import sys
import numpy

def watch(event, arguments):
    if event == "open" and isinstance(arguments[0], str):
        assert arguments[0].endswith((".py", ".pyc", ".so")), arguments
    assert not event.startswith(("socket.", "subprocess.", "os.putenv", "os.mkdir")), event

sys.addaudithook(watch)
import zarr_core, zarr_core.extension
"""
    subprocess.run([sys.executable, "-B", "-c", program], check=True)
