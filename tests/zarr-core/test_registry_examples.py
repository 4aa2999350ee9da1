"""The example distributions, installed as by users."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from built_once import built_once
from example_distributions import EXAMPLES, install_examples
from zarr_core.registry.extension_points import EXTENSION_POINTS

NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/pyproject.toml"))
POINTS = [
    (group, name)
    for example in NAMES
    for group, points in tomllib.loads((EXAMPLES / example / "pyproject.toml").read_text())[
        "project"
    ]["entry-points"].items()
    for name in points
]
BLOCK = re.compile(r"^```\npip install .*\n((?s:.*?))^```$", re.MULTILINE)
COMMANDS = {
    name: "".join(BLOCK.findall((EXAMPLES / name / "README.md").read_text())) for name in NAMES
}

USE = """
import sys
import numpy as np
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError
from zarr_core import installed_extensions
from zarr_core.registry.discovery import name_of
from zarr_core.location import Location
from zarr_core.registry.resolve import create_extension

listed = {line.name for line in installed_extensions(load=False)}
known = set(sys.argv[1:])
assert known <= listed, known - listed
assert "acme_xor" not in sys.modules
try:
    create_extension("codec", ExtensionDefinition("acme.xor", {"key": 256}), Location(pointer="/codecs/1"))
except ExtensionConfigurationError as error:
    assert [problem.pointer for problem in error.problems] == ["/codecs/1/configuration/key"]
    assert "acme_xor" in sys.modules  # the class was found; the schema refused it
else:
    raise SystemExit("the schema was not found")
codec = create_extension("codec", ExtensionDefinition("acme.xor", {"key": 7}))
assert codec.decode(codec.encode(b"zarr", 4), 4) == b"zarr"
assert name_of("codec", type(codec)) == "acme.xor"
from zarr_core.registry import hooks
(problem,) = hooks.check_metadata("here", {"attributes": {"units": ""}})
assert problem.pointer == "/attributes/units"
print(sys.modules["acme_hooks"].Hooks)
"""


FEW = """
from zarr_conformance.kit.extension import ExtensionTests
from zarr_conformance.kit.format_case import FormatCase

ExtensionTests.examples = FormatCase.examples = 5
"""
"""A plugin of pytest for fewer generated examples: the kit itself is tested with more."""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    def build(folder):
        install_examples(folder, *NAMES)

    return built_once(tmp_path_factory, "examples", build) / "site"


def test_third_party_can_use_the_examples(site):
    environment = {"PYTHONPATH": str(site)}
    names = [name for _, name in POINTS]
    subprocess.run([sys.executable, "-c", USE, *names], check=True, env=environment)


def test_every_kind_has_an_example():
    # Native code is offered by codecs, as examples/acme-invert does, not by another executor.
    kinds = {kind.group for name, kind in EXTENSION_POINTS.items() if name != "native"}
    assert {group for group, _ in POINTS} == kinds


def test_the_wheels_carry_the_schema(site):
    assert (site / "acme_xor" / "schemas" / "codec" / "acme.xor.json").is_file()


def test_their_own_tests_pass(site, tmp_path):
    (tmp_path / "few_examples.py").write_text(FEW)
    tests = [str(EXAMPLES / name / "tests") for name in NAMES]
    options = ["-p", "few_examples", "-p", "no:cacheprovider", "--import-mode=importlib"]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *options, *tests],
        env={"PYTHONPATH": f"{site}{os.pathsep}{tmp_path}"},
        cwd=site,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("name", [name for name in NAMES if COMMANDS[name]])
def test_readme_commands_work(name, site, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PYTHONPATH": str(site), "PATH": path}
    subprocess.run(["sh", "-ec", COMMANDS[name]], check=True, env=environment, cwd=tmp_path)
