"""The wheels: built once, looked into, and the core alone used in an empty environment."""

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml"))
PIP = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]

CORE_ALONE = """
import sys
import numpy as np
import zarr_core as zarr

mine = {line.distribution for line in zarr.installed_extensions()}
assert mine == {"zarr-core"}, mine

def use(store, **options):
    root = zarr.create_group(store, attributes={"title": "core alone"}, **options)
    values = np.arange(20 * 30, dtype="float32").reshape(20, 30)
    array = root.create_array("measured/field", data=values, chunks=(7, 8), dimension_names=["y", "x"])
    array[3:5, ::4] = -1
    values[3:5, ::4] = -1
    again = zarr.open_group(root.store, mode="r")
    assert again.attrs["title"] == "core alone"
    assert [path for path, _ in again.members(max_depth=None)] == ["measured", "measured/field"]
    assert np.array_equal(again["measured/field"][...], values)
    assert again["measured/field"].compressors == ()

use(zarr.MemoryStore())
use(sys.argv[1])
try:
    zarr.create_array(shape=4, compressors="gzip")
except LookupError as error:
    assert "zarr-codecs" in str(error), error
else:
    raise SystemExit("gzip came from nowhere")
foreign = {
    "numcodecs", "zarr_codecs", "zarr_formats", "zarr_sharding", "zarr_stores", "zarr",
} & {name for name, module in sys.modules.items() if module}
assert not foreign, foreign
print("fine")
"""

NO_THREADS = """
import _thread, sys, threading

def refuse(*_, **__):
    raise RuntimeError("can't start new thread")

for module in (_thread, threading):
    for name in dir(module):
        if name.lstrip("_") in ("start_new_thread", "start_joinable_thread"):
            setattr(module, name, refuse)
try:
    threading.Thread(target=print).start()
except RuntimeError:
    pass
else:
    raise SystemExit("there are threads")
sys.modules.update(dict.fromkeys(("fcntl", "mmap", "_multiprocessing", "concurrent.futures")))
"""
"""What WebAssembly, for one, does not have."""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    target = tmp_path_factory.mktemp("wheels")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(target)]
    subprocess.run([sys.executable, *PIP, *build, *map(str, PACKAGES)], check=True)
    return {file.name.split("-")[0]: file for file in target.glob("*.whl")}


def test_there_is_one_wheel_a_package(wheels):
    assert set(wheels) == {package.name.replace("-", "_") for package in PACKAGES}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_a_wheel_has_what_the_sources_have(wheels, package):
    source = package / "src"
    expected = {
        str(file.relative_to(source))
        for file in source.rglob("*")
        if file.is_file() and file.suffix != ".pyc" and "/." not in str(file.relative_to(source))
    }
    name = package.name.replace("-", "_")
    assert f"{name}/py.typed" in expected
    with ZipFile(wheels[name]) as wheel:
        packed = set(wheel.namelist())
    information = {entry for entry in packed if ".dist-info/" in entry}
    assert packed - information == expected
    assert any(entry.endswith("LICENSE") for entry in information)


@pytest.mark.slow
def test_core_alone_is_a_library(wheels, tmp_path):
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, *PIP, "install", str(wheels["zarr_core"])], check=True)
    for number, program in enumerate((CORE_ALONE, NO_THREADS + CORE_ALONE)):
        run = subprocess.run(
            [python, "-c", program, str(tmp_path / f"core-{number}.zarr")],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert (run.returncode, run.stdout.strip()) == (0, "fine"), run.stderr
