"""The wheel runs without any other package, and its corpus without Python."""

import json
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from built_once import built_once
from zarr_conformance.corpus.archive import corpus_digest
from zarr_conformance.corpus.build import generated_cases

PACKAGE = Path(__file__).parents[2] / "packages" / "zarr-conformance"

CREDULOUS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {"node_type": "group", "attributes": {}}
    if asked["operation"] == "capabilities":
        told = {"implementation": "credulous", "version": "1.0", "formats": [3], "operations": ["open"]}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""

READER = """
import json
from collections import Counter
from pathlib import Path

corpus = Path("corpus")
manifest = json.loads((corpus / "cases.json").read_text("utf-8"))
assert manifest["format"] == 2
known = {clause["id"] for clause in manifest["clauses"]}
for clause in manifest["clauses"]:
    assert clause.keys() > {"id", "specification", "section", "level", "text"}
outcomes = Counter()
for case in manifest["cases"]:
    assert set(case["clauses"]) <= known and case["summary"].endswith(".")
    assert (corpus / case["store"]).is_dir()
    assert ("selection" in case) <= (case["operation"] in ("read", "write"))
    assert ("elements" in case) == (case["operation"] == "write")
    assert ("shape" in case) == (case["operation"] == "resize")
    assert ("calls" in case) == (case["operation"] == "store")
    assert ("document" in case) == (case["operation"] == "create")
    expect = case["expect"]
    outcomes[expect["outcome"]] += 1
    assert ("categories" in expect) == (expect["outcome"] == "reject")
    if "values" in expect:
        values = (corpus / expect["values"]["file"]).read_bytes()
        if expect["values"]["kind"] == "json":
            assert isinstance(json.loads(values), list)
assert set(outcomes) == {"accept", "reject", "either"}
print(sum(outcomes.values()))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The contents of the wheel, alone in a directory."""
    return built_once(tmp_path_factory, "conformance-wheel", build_wheel)


def build_wheel(folder):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(build, cwd=PACKAGE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as packed:
        packed.extractall(folder)


@pytest.fixture
def bare(tmp_path, wheel):
    """A program in an interpreter without site-packages, beside the wheel or nothing."""

    def run(*arguments, path=str(wheel)):
        clean = {"PATH": os.environ["PATH"], "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=clean,
        )

    return run


def test_run_requires_no_packages(bare, tmp_path):
    (tmp_path / "credulous.py").write_text(CREDULOUS)
    adapter = shlex.join([sys.executable, "-S", "credulous.py"])
    files = ("--json", "results.json", "--html", "report.html", "--junit", "junit.xml")
    only = ("--only", "v3-core/group/*", "--jobs", "1")
    done = bare("-m", "zarr_conformance", "run", "--command", adapter, *only, *files)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("credulous 1.0: ")
    results = json.loads((tmp_path / "results.json").read_text())
    grades = {it["grade"] for it in results["runs"][0]["results"]}
    assert grades == {"pass", "fail", "unsupported"}
    assert (tmp_path / "report.html").stat().st_size > 10_000

    kit = bare("-c", "import zarr_conformance.kit")
    assert "pip install 'zarr-conformance[kit]'" in kit.stderr


def test_the_wheel_has_the_cases_but_not_their_generators(bare, wheel):
    modules = {it.stem for it in (wheel / "zarr_conformance" / "corpus").glob("*.py")}
    assert modules == {"__init__", "archive", "build", "case"}
    program = (
        "from zarr_conformance.corpus.build import all_cases;"
        "from zarr_conformance.corpus.archive import corpus_digest;"
        "print(corpus_digest(all_cases()))"
    )
    assert bare("-c", program).stdout.strip() == corpus_digest(generated_cases())


def test_written_data_is_not_judged_without_numpy(bare, tmp_path):
    writer = CREDULOUS.replace('["open"]', '["write"]')
    (tmp_path / "writer.py").write_text(writer)
    adapter = shlex.join([sys.executable, "-S", "writer.py"])
    only = ("--only", "changes/write/chunks-*", "--jobs", "1", "--verbose")
    done = bare("-m", "zarr_conformance", "run", "--command", adapter, *only)
    assert "requires NumPy" in done.stdout, done.stdout + done.stderr


@pytest.mark.slow
def test_corpus_requires_no_packages(bare, tmp_path):
    built = bare("-m", "zarr_conformance", "build", "corpus")
    assert built.returncode == 0, built.stderr
    (tmp_path / "reader.py").write_text(READER)
    read = bare("reader.py", path="")
    assert read.returncode == 0, read.stderr
    assert f"{read.stdout.strip()} cases" in built.stdout
