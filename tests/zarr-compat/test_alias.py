"""Programs that import zarr get this library until it is removed."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import zarr_compat
from zarr_compat.__main__ import main
from zarr_compat.alias import EXTENDED_MODULES, MODULES

ALL = [*MODULES, *EXTENDED_MODULES]
ROOT = Path(__file__).parents[2]


def python(*arguments, cwd):
    run = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": ""},
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run


def test_modules_are_installed_and_removed(no_zarr_python):
    with zarr_compat.install_as_zarr() as zarr:
        import zarr.core.sync
        from zarr.storage import MemoryStore

        assert sys.modules["zarr"] is zarr
        assert zarr.storage.MemoryStore is MemoryStore
        for name in ALL:
            assert import_module(name) is sys.modules[name]
        with pytest.raises(ModuleNotFoundError, match=r"zarr\.nothing"):
            import zarr.nothing
        with pytest.raises(AttributeError, match="of zarr_compat has no attribute"):
            assert zarr.nothing
    assert not [name for name in sys.modules if name.split(".")[0] == "zarr"]


def test_install_twice(no_zarr_python):
    first = zarr_compat.install_as_zarr()
    module = sys.modules["zarr"]
    zarr_compat.install_as_zarr()
    assert sys.modules["zarr"] is module
    first.remove()


def test_install_raises_if_zarr_python_is_imported(no_zarr_python, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", os)
    with pytest.raises(RuntimeError, match="is imported already"):
        zarr_compat.install_as_zarr()


def test_alias_has_all_public_names(no_zarr_python):
    with zarr_compat.install_as_zarr():
        for name, sources in {**MODULES, **EXTENDED_MODULES}.items():
            for source in sources:
                public = import_module(f"zarr_compat.{source}").__all__
                assert set(public) <= vars(import_module(name)).keys()


def test_run_script_with_arguments(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 7")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, numpy, zarr, beside\n"
        "assert __name__ == '__main__'\n"
        "zarr.save_array('a.zarr', numpy.array([beside.VALUE]))\n"
        "print(zarr.Array.__module__, sys.argv[1:], zarr.load('a.zarr').tolist())\n"
    )
    run = python("-m", "zarr_compat", str(script), "-x", "y", cwd=tmp_path)
    assert run.stdout.strip() == "zarr_compat.array ['-x', 'y'] [7]"


def test_run_module(no_zarr_python, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text("import sys, zarr; print(zarr.__version__[0], sys.argv[1:])")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.setattr(sys, "path", [*sys.path])
    with zarr_compat.install_as_zarr():
        main(["-m", "mine", "1"])
    assert capsys.readouterr().out == "3 ['1']\n"


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--nothing"]])
def test_usage(arguments):
    with pytest.raises(SystemExit, match="^usage: python -m zarr_compat"):
        main(arguments)


def test_readme_example(tmp_path):
    text = (ROOT / "packages" / "zarr-compat" / "README.md").read_text()
    (code,) = re.findall(r"```text\n(from .*?)```", text, re.DOTALL)
    python("-c", code, cwd=tmp_path)
    assert (tmp_path / "data.zarr" / "x" / "zarr.json").exists()
