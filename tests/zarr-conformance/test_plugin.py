"""The pytest plugin."""

import subprocess
import sys

import pytest
from zarr_conformance import plugin_cases
from zarr_conformance.adapters import zarr_core
from zarr_conformance.corpus.build import all_cases
from zarr_core import installed_extensions

pytest_plugins = ["pytester"]

ADAPTER = """
from zarr_conformance.adapters.zarr_core import ZarrCore

class Careless(ZarrCore):
    implementation = "careless"
    operations = ("open", "read")

    def respond(self, request):
        reply = super().respond(request)
        return reply if "result" in reply else {"id": request["id"], "result": {}}
"""
ONLY = ("--zarr-conformance-only", "v3-core/array/shape-*")


@pytest.fixture(scope="module", autouse=True)
def shared():
    """pytester forgets what a run has imported: what all runs share is there before."""
    return plugin_cases, zarr_core, tuple(all_cases()), installed_extensions()


@pytest.fixture
def tests(pytester):
    pytester.makepyfile(careless=ADAPTER, test_own="def test_own(): pass\n")
    pytester.syspathinsert()
    options = ("-p", "no:cacheprovider", "-Werror", "--strict-markers", "--rootdir", ".")
    return lambda *arguments: pytester.runpytest_inprocess(*options, *arguments)


OURS = ("--zarr-conformance", "zarr_conformance.adapters.zarr_core:ZarrCore")
CARELESS = ("--zarr-conformance", "careless:Careless")


def counted(done, **wanted):
    last = done.outlines[-1]
    for grade, count in wanted.items():
        assert f"{count} {grade}" in last, done.outlines + done.errlines


def test_every_case_is_a_test(tests):
    done = tests(*OURS, *ONLY, "-v")
    assert done.ret == 0, done.outlines + done.errlines
    assert "zarr-conformance: zarr_conformance.adapters.zarr_core:ZarrCore, zarr-core" in str(
        done.stdout
    )
    assert "test_own.py::test_own PASSED" in str(done.stdout)
    assert "zarr-conformance::v3-core/array/shape-true PASSED" in str(done.stdout)


def test_failures_show_the_case(tests):
    done = tests(*CARELESS, "--zarr-conformance-only", "v3-core/array/shape-true")
    assert done.ret == 1
    counted(done, failed=1, passed=1)
    for part in (
        "accepted; expected an error (metadata)",
        '"shape": [true]',
        "v3-core.array.shape",
    ):
        assert part in str(done.stdout)


def test_unsupported_cases_are_skipped(tests):
    done = tests(*CARELESS, "--zarr-conformance-only", "v3-core/hierarchy/*", "-rs")
    assert "does not support list" in str(done.stdout)


def test_an_adapter_that_supports_nothing_fails(tests, pytester):
    pytester.makepyfile(
        nothing="""
from zarr_conformance.adapters.zarr_core import ZarrCore

class Nothing(ZarrCore):
    def open(self, request):
        raise self._unsupported(request)

    read = open
"""
    )
    done = tests(
        "--zarr-conformance", "nothing:Nothing", "--zarr-conformance-only", "v3-core/array/p*"
    )
    assert done.ret == 1
    counted(done, failed=1)
    assert "accepts no valid data" in str(done.stdout)


def test_clauses_are_markers_and_keywords(tests):
    by_mark = tests(*OURS, *ONLY, "-m", "clause(id='v3-core.array.shape')")
    counted(by_mark, deselected=1)
    assert "test_own" not in str(by_mark.stdout)
    by_word = tests(*OURS, *ONLY, "-k", "v3-core.array.shape and must")
    assert by_word.outlines[-1].split(" in ")[0] == by_mark.outlines[-1].split(" in ")[0]
    by_level = tests(*OURS, *ONLY, "-m", "zarr_conformance and not clause(level='must')")
    assert by_level.ret in (0, 5)


def test_baseline(tests, pytester):
    one = ("--zarr-conformance-only", "v3-core/array/shape-true", "--zarr-conformance-baseline")
    (pytester.path / "known.toml").write_text(
        'version = 1\n[failures.careless]\n"v3-core/array/shape-true" = "it is so"\n'
        '[failures.zarr-core]\n"v3-core/array/shape-true" = "it was so"\n'
    )
    known = tests(*CARELESS, *one, "known.toml")
    assert known.ret == 0, known.outlines
    counted(known, xfailed=1)
    repaired = tests(*OURS, *one, "known.toml")
    assert repaired.ret == 1
    assert "[XPASS(strict)] it was so" in str(repaired.stdout)
    assert "not valid TOML" in str(tests(*OURS, *one, "test_own.py").stderr)


@pytest.mark.parametrize("place", ["careless", "careless:No", "no_such_module:X"])
def test_invalid_adapter(place, tests):
    done = tests("--zarr-conformance", place)
    assert done.ret == 4
    assert f"--zarr-conformance {place}: " in str(done.stderr)


def test_inactive_without_the_option(tests):
    done = tests("test_own.py", "-v")
    assert done.ret == 0
    assert "conformance:" not in str(done.stdout)
    program = "import sys, zarr_conformance.plugin as it; it.pytest_configure(type('C', (), {'getoption': lambda *_: None})()); print(sorted(it for it in sys.modules if it.startswith(('numpy', 'zarr_', 'pytest', '_pytest'))))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert loaded.stdout.strip() == "['zarr_conformance', 'zarr_conformance.plugin']", loaded.stderr
