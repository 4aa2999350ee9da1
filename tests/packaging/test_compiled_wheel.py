"""The wheel with compiled code: its module, its tag, and what happens if it cannot be compiled."""

import shutil
import sys
from zipfile import ZipFile

import build_wheels
import pytest
from build_wheels import ROOT
from servers.requirement import unavailable

if not shutil.which("cc"):
    unavailable("there is no C compiler", allow_module_level=True)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.setenv("ZARR_NATIVE_CFLAGS", "-O0")  # takes less time
    ignored = shutil.ignore_patterns("*.so", "*.egg-info", "build", "fuzz")
    return shutil.copytree(ROOT / "packages" / "zarr-native", tmp_path / "sources", ignore=ignored)


def build(sources, folder):
    folder.mkdir()
    build_wheels.build_compiled(sources, folder)
    [wheel] = folder.glob("*.whl")
    return wheel


def test_the_module_is_in_the_wheel(dist):
    [wheel] = dist.glob("zarr_native-*.whl")
    assert build_wheels.compiled_modules(wheel) == ["zarr_native/_native.abi3.so"]
    with ZipFile(wheel) as archive:
        assert archive.read("zarr_native/_native.abi3.so")[:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")


@pytest.mark.skipif(sys.platform != "linux", reason="tags of Linux")
def test_the_tag_is_one_that_an_index_takes(dist):
    pytest.importorskip("auditwheel")
    [wheel] = dist.glob("zarr_native-*.whl")
    assert wheel.stem.split("-")[2:4] == ["cp311", "abi3"]
    assert "manylinux" in wheel.stem or "musllinux" in wheel.stem


@pytest.mark.skipif(sys.platform != "linux", reason="tags of Linux")
def test_another_tag_fails_the_check(sources, tmp_path, monkeypatch):
    pytest.importorskip("twine")
    monkeypatch.setattr(build_wheels, "find_spec", lambda name: None)
    build(sources, tmp_path / "wheels")
    with pytest.raises(SystemExit, match="an index refuses this tag; install auditwheel"):
        build_wheels.check(tmp_path / "wheels")


@pytest.mark.parametrize("name", ["copy.c", "codec_blosc.c", "native.h"])
def test_an_error_in_the_sources_fails_the_build(sources, tmp_path, name):
    with (sources / "src/zarr_native/c" / name).open("a") as file:
        file.write("\nint broken(void) { return 1 +; }\n")
    with pytest.raises(SystemExit, match=r"(?s)failed:.*expected expression"):
        build(sources, tmp_path / "wheels")


def test_without_a_compiler_the_wheel_has_no_module(sources, tmp_path, monkeypatch):
    pytest.importorskip("twine")
    monkeypatch.setenv("CC", "no-such-compiler -pthread")
    wheel = build(sources, tmp_path / "wheels")
    assert wheel.stem.endswith("-py3-none-any")
    assert build_wheels.compiled_modules(wheel) == []
    with pytest.raises(SystemExit, match="no compiled module; install a C compiler"):
        build_wheels.check(tmp_path / "wheels")


def test_without_the_headers_of_python_the_wheel_has_no_module(sources, tmp_path):
    # The sources decide: another location of the headers cannot be set from outside.
    setup = sources / "setup.py"
    setup.write_text(setup.read_text().replace('"Python.h"', '"NoPython.h"'))
    assert build_wheels.compiled_modules(build(sources, tmp_path / "wheels")) == []
