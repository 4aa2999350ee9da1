"""Programs that import zarr get this library, while they run and no longer."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import zarr_compat
from zarr_compat.alias import MODULES

ROOT = Path(__file__).parents[2]


def python(*arguments, cwd, check=True):
    run = subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": ""}, timeout=60,
    )  # fmt: skip
    assert not check or run.returncode == 0, run.stderr
    return run


@pytest.fixture
def none(monkeypatch):
    """As if nobody had imported zarr-python, which a plugin of pytest does."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "zarr"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_names_are_there_and_gone_again(none):
    with zarr_compat.install_as_zarr() as zarr:
        import zarr.core.sync
        from zarr.storage import MemoryStore

        assert sys.modules["zarr"] is zarr
        assert zarr.storage.MemoryStore is MemoryStore
        assert MODULES.keys() <= sys.modules.keys()
        with pytest.raises(ModuleNotFoundError, match=r"zarr\.nothing"):
            import zarr.nothing
        with pytest.raises(AttributeError, match="it is zarr_compat's"):
            assert zarr.nothing
    assert not MODULES.keys() & sys.modules.keys()


def test_it_is_installed_once(none):
    first = zarr_compat.install_as_zarr()
    module = sys.modules["zarr"]
    zarr_compat.install_as_zarr()
    assert sys.modules["zarr"] is module
    first.remove()


def test_it_refuses_beside_zarr_python(none, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", os)
    with pytest.raises(RuntimeError, match="imported already"):
        zarr_compat.install_as_zarr()


def test_every_public_name_of_a_module_is_in_the_alias(none):
    from importlib import import_module

    with zarr_compat.install_as_zarr():
        for name, sources in MODULES.items():
            for source in sources:
                public = import_module(f"zarr_compat.{source}").__all__
                assert set(public) <= vars(sys.modules[name]).keys()


def test_a_script_is_run_with_its_arguments(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 7")
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, zarr, beside\n"
        "assert __name__ == '__main__'\n"
        "zarr.save_array('a.zarr', [beside.VALUE])\n"
        "print(zarr.Array.__module__, sys.argv[1:], zarr.load('a.zarr').tolist())\n"
    )
    run = python("-m", "zarr_compat", str(script), "-x", "y", cwd=tmp_path)
    assert run.stdout.strip() == "zarr_compat.array ['-x', 'y'] [7]"


def test_a_module_is_run(tmp_path):
    (tmp_path / "mine.py").write_text("import sys, zarr; print(zarr.__version__[0], sys.argv[1:])")
    assert python("-m", "zarr_compat", "-m", "mine", "1", cwd=tmp_path).stdout == "3 ['1']\n"


@pytest.mark.parametrize("arguments", [[], ["-m"], ["--nothing"]])
def test_it_says_how_it_is_used(arguments, tmp_path):
    run = python("-m", "zarr_compat", *arguments, cwd=tmp_path, check=False)
    assert run.returncode
    assert "usage: python -m zarr_compat" in run.stderr


def test_what_the_readme_shows_runs(tmp_path):
    text = (ROOT / "packages" / "zarr-compat" / "README.md").read_text()
    (code,) = re.findall(r"```text\n(from .*?)```", text, re.DOTALL)
    python("-c", code, cwd=tmp_path)
    assert (tmp_path / "data.zarr" / "x" / "zarr.json").exists()
