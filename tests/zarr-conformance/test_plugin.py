"""The plugin of pytest: cases as tests of an adapter in this process."""

import subprocess
import sys

import pytest

ADAPTER = """
from zarr_conformance.adapters.zarr_core import ZarrCore

class Careless(ZarrCore):
    implementation = "careless"
    operations = ("open", "read")

    def answer(self, asked):
        reply = super().answer(asked)
        return reply if "result" in reply else {"id": asked["id"], "result": {}}
"""
ONLY = ("--zarr-conformance-only", "v3-core/array/shape-*")


@pytest.fixture
def tests(tmp_path):
    (tmp_path / "careless.py").write_text(ADAPTER)
    (tmp_path / "test_own.py").write_text("def test_own(): pass\n")

    def run(*arguments):
        program = "import sys, pytest; sys.path.insert(0, '.'); sys.exit(pytest.main(sys.argv[1:]))"
        command = [sys.executable, "-c", program, "-p", "no:cacheprovider", "-Werror"]
        command += ["--strict-markers", "--rootdir", ".", *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)

    return run


OURS = ("--zarr-conformance", "zarr_conformance.adapters.zarr_core:ZarrCore")
CARELESS = ("--zarr-conformance", "careless:Careless")


def counted(done, **wanted):
    last = done.stdout.strip().splitlines()[-1]
    for grade, count in wanted.items():
        assert f"{count} {grade}" in last, done.stdout + done.stderr


def test_every_case_is_a_test_beside_those_of_others(tests):
    done = tests(*OURS, *ONLY, "-v")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "zarr-conformance: zarr_conformance.adapters.zarr_core:ZarrCore, zarr-core" in done.stdout
    )
    assert "test_own.py::test_own PASSED" in done.stdout
    assert "zarr-conformance::v3-core/array/shape-true PASSED" in done.stdout


def test_what_is_wrong_is_told_with_the_case(tests):
    done = tests(*CARELESS, "--zarr-conformance-only", "v3-core/array/shape-true")
    assert done.returncode == 1
    counted(done, failed=1, passed=1)
    for part in (
        "accepted; expected a refusal (metadata)",
        '"shape": [true]',
        "v3-core.array.shape",
    ):
        assert part in done.stdout


def test_what_is_not_supported_is_skipped(tests):
    done = tests(*CARELESS, "--zarr-conformance-only", "v3-core/hierarchy/*", "-rs")
    assert "does not offer list" in done.stdout


def test_clauses_are_marks_and_keywords(tests):
    by_mark = tests(*OURS, *ONLY, "-m", "clause(id='v3-core.array.shape')")
    counted(by_mark, deselected=1)
    assert "test_own" not in by_mark.stdout
    by_word = tests(*OURS, *ONLY, "-k", "v3-core.array.shape and must")
    assert (
        by_word.stdout.split(" in ")[0].split("\n")[-1]
        == by_mark.stdout.split(" in ")[0].split("\n")[-1]
    )
    by_level = tests(*OURS, *ONLY, "-m", "zarr_conformance and not clause(level='must')")
    assert by_level.returncode in (0, 5)


def test_a_baseline_makes_them_fail_as_expected(tests, tmp_path):
    one = ("--zarr-conformance-only", "v3-core/array/shape-true", "--zarr-conformance-baseline")
    (tmp_path / "known.toml").write_text(
        'version = 1\n[failures.careless]\n"v3-core/array/shape-true" = "it is so"\n'
        '[failures.zarr-core]\n"v3-core/array/shape-true" = "it was so"\n'
    )
    known = tests(*CARELESS, *one, "known.toml")
    assert known.returncode == 0, known.stdout
    counted(known, xfailed=1)
    repaired = tests(*OURS, *one, "known.toml")
    assert repaired.returncode == 1
    assert "[XPASS(strict)] it was so" in repaired.stdout
    assert "no TOML" in tests(*OURS, *one, "test_own.py").stderr


@pytest.mark.parametrize("place", ["careless", "careless:No", "no_such_module:X"])
def test_an_adapter_that_is_none_is_told(place, tests):
    done = tests("--zarr-conformance", place)
    assert done.returncode == 4
    assert f"--zarr-conformance {place}: " in done.stderr


def test_without_the_option_it_costs_nothing(tests):
    done = tests("test_own.py", "-v")
    assert done.returncode == 0
    assert "conformance:" not in done.stdout
    program = "import sys, zarr_conformance.plugin as it; it.pytest_configure(type('C', (), {'getoption': lambda *_: None})()); print(sorted(it for it in sys.modules if it.startswith(('numpy', 'zarr_', 'pytest', '_pytest'))))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert loaded.stdout.strip() == "['zarr_conformance', 'zarr_conformance.plugin']", loaded.stderr
