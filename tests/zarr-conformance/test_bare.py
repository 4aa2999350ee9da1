"""Requirements: NumPy and numcodecs for running, nothing for the corpus folder."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zarr_conformance

CREDULOUS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = {"node_type": "group", "attributes": {}}
    if asked["operation"] == "capabilities":
        told = {"implementation": "credulous", "version": "1.0", "formats": [3], "operations": ["open"]}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""

# With what numcodecs itself depends on, as modules.
DEPENDENCIES = ("numpy", "numcodecs", "typing_extensions", "deprecated", "wrapt")

READER = """
import json
from collections import Counter
from pathlib import Path

corpus = Path("corpus")
manifest = json.loads((corpus / "manifest.json").read_text("utf-8"))
assert manifest["version"] == 1
known = {clause["id"] for clause in manifest["clauses"]}
for clause in manifest["clauses"]:
    assert clause.keys() == {"id", "specification", "section", "level", "text"}
outcomes = Counter()
for case in manifest["cases"]:
    assert set(case["clauses"]) <= known and case["summary"].endswith(".")
    assert (corpus / case["store"]).is_dir()
    assert case["operation"] in {"open", "validate", "read", "list", "update", "create", "erase", "store"}
    assert ("selection" in case) <= (case["operation"] == "read")
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


@pytest.fixture
def bare(tmp_path):
    """A program in an interpreter without site-packages, beside what is depended on or nothing."""
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "zarr_conformance").symlink_to(Path(zarr_conformance.__file__).parent)
    installed = Path(np.__file__).parents[1]
    for pattern in ("zarr_conformance-*.dist-info", *(f"{name}*" for name in DEPENDENCIES)):
        for source in installed.glob(pattern):
            (packages / source.name).symlink_to(source)

    def run(*arguments, path=str(packages)):
        clean = {"PATH": os.environ["PATH"], "PYTHONPATH": path}
        return subprocess.run(
            [sys.executable, "-S", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=clean,
        )

    return run


def test_run_requires_only_numpy_and_numcodecs(bare, tmp_path):
    (tmp_path / "credulous.py").write_text(CREDULOUS)
    adapter = shlex.join([sys.executable, "-S", "credulous.py"])
    files = ("--json", "results.json", "--html", "report.html", "--junit", "junit.xml")
    only = ("--only", "v3-core/group/*", "--jobs", "1")
    done = bare("-m", "zarr_conformance", "run", "--command", adapter, *only, *files)
    assert done.returncode == 1, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("credulous 1.0: ")
    grades = {it["grade"] for it in json.loads((tmp_path / "results.json").read_text())["runs"][0]["results"]}  # fmt: skip
    assert grades == {"pass", "fail", "unsupported"}
    assert (tmp_path / "report.html").stat().st_size > 10_000

    kit = bare("-c", "import zarr_conformance.kit")
    assert "pip install 'zarr-conformance[kit]'" in kit.stderr


def test_corpus_requires_no_packages(bare, tmp_path):
    built = bare("-m", "zarr_conformance", "build", "corpus")
    assert built.returncode == 0, built.stderr
    (tmp_path / "reader.py").write_text(READER)
    read = bare("reader.py", path="")
    assert read.returncode == 0, read.stderr
    assert f"{read.stdout.strip()} cases" in built.stdout
