"""The contents of the wheels, and the core alone in an empty environment."""

import re
import shutil
import subprocess
import sys
from zipfile import ZipFile

import build_wheels
import pytest
from build_wheels import PACKAGES, ROOT
from empty_environment import OUTSIDE
from servers.requirement import unavailable

CORE_ALONE = """
import sys
import numpy as np
import zarr_core as zarr

from zarr_core.registry.discovery import providers
from zarr_core.registry.extension_points import EXTENSION_POINTS
mine = {provider.distribution for point in EXTENSION_POINTS for provider in providers(point)}
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
array = zarr.create_array(shape=4)
assert array._repr_html_() is None
foreign = {
    "numcodecs", "zarr_display", "zarr_codecs", "zarr_formats", "zarr_sharding", "zarr_stores", "zarr",
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
def wheels(dist):
    return {file.name.split("-")[0]: file for file in dist.glob("*.whl")}


def test_one_wheel_for_each_package(wheels):
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
    if (package / "setup.py").exists():  # its C sources are compiled, perhaps also in this folder
        expected = {it for it in expected if not re.search(r"/c/|\.egg-info/|\.so$", it)}
        packed = {it for it in packed if not re.search(r"/$|\.libs/|\.so$", it)}
    if name == "zarr_conformance":  # the built cases, instead of their files and modules
        corpus = "zarr_conformance/corpus/"
        packed.remove(corpus + "corpus.tar.gz")
        kept = {corpus + it for it in ("__init__.py", "archive.py", "build.py", "case.py")}
        expected = {
            it for it in expected if it in kept or not re.fullmatch(corpus + r"\w+\.(py|toml)", it)
        }
    assert packed - information == expected
    assert any(entry.endswith("LICENSE") for entry in information)


def test_one_source_distribution_for_each_package(dist):
    assert {file.name.split("-")[0] for file in dist.glob("*.tar.gz")} == {
        package.name.replace("-", "_") for package in PACKAGES
    }


def test_an_index_would_take_them(dist):
    pytest.importorskip("twine")
    if sys.platform == "linux":
        pytest.importorskip("auditwheel")
    if not shutil.which("cc"):
        unavailable("there is no C compiler")
    build_wheels.check(dist)


def test_an_index_would_not_take_broken_ones(dist, tmp_path, capsys):
    pytest.importorskip("twine")
    (tmp_path / "zarr_core-0.1.0-py3-none-any.whl").write_bytes(b"not a zip file")
    with pytest.raises(SystemExit, match="twine check failed"):
        build_wheels.check(tmp_path)


def test_older_builds_are_removed(dist, tmp_path, monkeypatch):
    older = tmp_path / "zarr_core-0.0.1-py3-none-any.whl"
    another = tmp_path / "zarr_core_tools-0.0.1-py3-none-any.whl"
    for file in (older, another):
        file.touch()
    monkeypatch.setattr(build_wheels, "PACKAGES", [ROOT / "packages" / "zarr-core"])
    build_wheels.build(tmp_path)
    assert not older.exists()
    assert another.exists()
    assert len(list(tmp_path.glob("zarr_core-*"))) == 2


@pytest.mark.slow
def test_core_alone_is_a_library(wheels, environment, tmp_path):
    python = environment(str(wheels["zarr_core"]))
    for number, program in enumerate((CORE_ALONE, NO_THREADS + CORE_ALONE)):
        run = subprocess.run(
            [python, "-c", program, str(tmp_path / f"core-{number}.zarr")],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=OUTSIDE,
        )
        assert (run.returncode, run.stdout.strip()) == (0, "fine"), run.stderr
