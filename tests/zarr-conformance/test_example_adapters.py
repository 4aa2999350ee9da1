"""The example adapters of docs/writing-an-adapter.md follow the protocol and pass cases."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from servers.requirement import unavailable
from waits import PATIENCE
from zarr_conformance.corpus.build import all_cases, build
from zarr_conformance.runner.adapter_process import Limits
from zarr_conformance.runner.run import Implementation, run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-an-adapter.md").read_text("utf-8")


@pytest.fixture
def javascript(tmp_path):
    """The command of the adapter in JavaScript, beside the packages of ``make servers``."""
    modules = Path(os.environ.get("ZARR_CORE_SERVERS") or ROOT / ".servers") / "node/node_modules"
    if shutil.which("node") is None or not (modules / "zarrita").exists():
        unavailable("node or zarrita is not installed; make servers installs zarrita")
    (code,) = re.findall(r"```js\n(.*?)```", PAGE, re.DOTALL)
    assert len(code.splitlines()) <= 50
    (tmp_path / "adapter.mjs").write_text(code)
    (tmp_path / "node_modules").symlink_to(modules)
    return ["node", str(tmp_path / "adapter.mjs")]


@pytest.fixture
def python(tmp_path):
    """The command of the adapter in Python, with its small implementation."""
    codes = re.findall(r"```python\n((?:import json|from zarr_conformance).*?)```", PAGE, re.DOTALL)
    assert len(codes) == 2
    (tmp_path / "adapter.py").write_text("\n".join([*codes, "Tiny().serve()\n"]))
    return [sys.executable, str(tmp_path / "adapter.py")]


CASES = (
    *("v3-core/array/plain", "v3-core/array/no-document", "v3-core/array/without-codecs"),
    *("v3-chunks/selection/row", "v3-chunks/selection/steps"),
)


@pytest.mark.parametrize("language", ["javascript", "python"])
def test_example_adapter(language, request, tmp_path):
    command = request.getfixturevalue(language)
    cases = [it for it in all_cases() if it.id in CASES]
    build(tmp_path / "corpus", cases)
    limits = Limits(seconds=PATIENCE)
    done = run(Implementation("example", command), tmp_path / "corpus", cases, limits=limits)
    grades = {it.case.id: it.verdict.grade for it in done.outcomes}
    if language == "javascript":
        assert grades == dict.fromkeys(CASES, "pass")
    else:  # its small implementation reads arrays with one chunk
        assert grades["v3-core/array/no-document"] == "pass"
