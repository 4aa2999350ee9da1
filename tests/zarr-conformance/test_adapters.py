"""Each adapter runs a few cases, if its implementation is installed."""

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest
from servers.requirement import unavailable
from waits import PATIENCE
from zarr_conformance.adapters.implementations import BUNDLED_ADAPTERS, FOLDER, BundledAdapter
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.runner.adapter_process import Limits
from zarr_conformance.runner.run import Implementation, run

CASES = (
    "v3-core/array/plain",
    "v3-core/array/partly-stored",
    "v3-core/array/without-codecs",
    "v3-core/array/no-document",
    "v3-core/names/space-listed",
    "v3-core/extensions/kept/attributes",
    "v3-core/extensions/chunk-grid/unknown-object",
    "v3-data-types/float64/little-read",
    "v3-data-types/int32/little-create",
    "v3-data-types/int16/fill-largest",
    "v2/array/plain",
    "v2/array/without-dtype",
    "v2/array/separator-slash-created",
    "v2/attributes/array",
    "v2/attributes/array-set",
    "v2/chunks/border-c",
    "v2/codecs/gzip",
    "v2/dtype/little-f8",
    "v2/fill/little-f4-nan",
    "v2/groups/listed",
)
"""Ten cases of each format, with all operations and both outcomes."""

EXCEPTIONS = {
    # make arrays of format 3 only
    ("zarrista", "v2/array/separator-slash-created"): "unsupported",
    ("zarrita.js", "v2/array/separator-slash-created"): "unsupported",
    # has no attributes in format 2
    ("tensorstore", "v2/attributes/array"): "unsupported",
}
"""Other results of the tested versions."""


ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _old_environment(monkeypatch):
    """What other tests use too: zarr-python 2 (``make old-writers``), Node (``make servers``)."""
    there = os.environ.get("ZARR_CORE_ZARR2_PYTHON") or ROOT / ".venv-zarr2" / "bin" / "python"
    variable = BUNDLED_ADAPTERS["zarr-python-2"].variable
    if variable not in os.environ and Path(there).exists():
        monkeypatch.setenv(variable, str(there))
    modules = Path(os.environ.get("ZARR_CORE_SERVERS") or ROOT / ".servers") / "node/node_modules"
    if "NODE_PATH" not in os.environ and modules.exists():
        monkeypatch.setenv("NODE_PATH", str(modules))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """The folder of the corpus with its cases."""
    cases = [case for case in all_cases() if case.id in CASES]
    assert len(cases) == len(CASES) == 20
    folder = tmp_path_factory.mktemp("corpus") / "corpus"
    build(folder, cases)
    return folder, cases


@pytest.mark.parametrize("name", BUNDLED_ADAPTERS)
def test_ten_cases_of_each_format(name, corpus):
    known = BUNDLED_ADAPTERS[name]
    if reason := known.missing():
        if name == "zarrita.js":
            unavailable(f"{reason}; make servers installs it")
        pytest.skip(reason)
    folder, cases = corpus
    limits = Limits(seconds=PATIENCE)
    done = run(Implementation(name, known.command()), folder, cases, limits=limits)
    offered = done.capabilities
    assert offered["version"]
    assert offered["implementation"]
    for outcome in done.outcomes:
        case = outcome.case
        formats, operations = offered["formats"], offered["operations"]
        offers = case.zarr_format in formats and case.operation in operations
        wanted = "pass" if offers else "unsupported"
        wanted = EXCEPTIONS.get((name, case.id), wanted)
        assert outcome.verdict.grade == wanted, (case.id, outcome.verdict, outcome.response)


def test_every_adapter_is_listed():
    files = {file.stem for file in FOLDER.glob("*.py")} | {it.name for it in FOLDER.glob("*.mjs")}
    others = {"__init__", "__main__", "adapter", "implementations"}
    assert {it.file for it in BUNDLED_ADAPTERS.values()} == files - others
    assert all(name == it.name for name, it in BUNDLED_ADAPTERS.items())


def test_missing_implementations_have_instructions(monkeypatch):
    nobody = BundledAdapter("nobody", "nobody_", "nobody-has-this", "pip install it")
    assert nobody.missing() == (
        "nobody-has-this is not installed: pip install it, "
        "or set ZARR_CONFORMANCE_NOBODY to an interpreter"
    )
    old = BundledAdapter("old", "old_", "numpy", "pip install 'numpy<1'", (0,))
    assert old.missing().startswith("numpy is ")
    monkeypatch.setenv("NODE_PATH", "")
    script = BundledAdapter("script.js", "script.mjs", "nobody-has-this", "npm install it")
    monkeypatch.setenv("ZARR_CONFORMANCE_SCRIPT_JS", sys.executable)
    assert "npm install it" in script.missing()
    monkeypatch.setenv("ZARR_CONFORMANCE_SCRIPT_JS", "nobody-has-this-program")
    assert script.missing().endswith("is not a program")


def test_other_interpreters_need_no_installation(monkeypatch, corpus):
    ours = BUNDLED_ADAPTERS["zarr-core"]
    assert ours.command()[:2] == [sys.executable, "-m"]
    monkeypatch.setenv(ours.variable, sys.executable)
    assert ours.missing() == ""
    command = ours.command()
    assert command == [sys.executable, str(FOLDER), "zarr_core"]
    # In a folder whose files have the names of libraries.
    folder, cases = corpus
    done = run(Implementation("ours", command), folder, cases, jobs=1)
    assert {it.verdict.grade for it in done.outcomes} == {"pass"}


def test_package_is_imported_from_its_folder(tmp_path, corpus):
    copy = tmp_path / "zarr_conformance"
    shutil.copytree(FOLDER.parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    changed = copy / "adapters" / "adapter.py"
    changed.write_text(changed.read_text().replace("self.version()", "'of a copy'"))
    folder, cases = corpus
    command = [sys.executable, str(copy / "adapters"), "zarr_core"]
    done = run(Implementation("ours", command), folder, cases[:2], jobs=1)
    assert done.capabilities["version"] == "of a copy"
    assert {it.verdict.grade for it in done.outcomes} == {"pass"}


@pytest.mark.parametrize("file", ["__main__.py", "zarr_python_2.py"])
def test_adapters_run_on_old_python(file):
    ast.parse(Path(FOLDER, file).read_text(), feature_version=(3, 8))
