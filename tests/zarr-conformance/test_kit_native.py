"""The kit finds mistakes in C functions: codecs with one mistake each fail the test meant for it."""

import shutil
import subprocess

import planted_mistakes
import pytest
from example_distributions import PIP
from zarr_conformance.template import new_distribution
from zarr_core.registry import discovery

pytest_plugins = ["pytester"]

LOOP = "for (int64_t i = 0; i < size; i++) dst[i] = (uint8_t)(src[i] + shift);"
ROOM = "if (size > capacity) return -1; /* Python raises the error */"
STATE = "(uint8_t)-(intptr_t)codec->state"
SHARED = "static uint8_t shared[1 << 17]; if (size > 1 << 17) return -1;" + "".join(
    f" for (int64_t i = 0; i < size; i++) {step};"
    for step in ("shared[i] = src[i]", "dst[i] = (uint8_t)(shared[i] + shift)")
)
MISTAKES = {
    # what is replaced in the code, by what, and the tests that fail
    "nothing": (LOOP, LOOP, ()),
    "no check of the room": (ROOM, "", ("native_bounds", "native_hostile_input")),
    "written behind": (LOOP, LOOP + " dst[capacity] = 0;", ("native_round_trip", "native_hostile_input")),
    "written before": (LOOP, LOOP + " dst[-1] = 0;", ("native_round_trip",)),
    "read behind": (LOOP, LOOP + " (void)*(volatile const uint8_t *)(src + size);", ("native_round_trip",)),
    "input changed": (LOOP, LOOP + " if (size) ((uint8_t *)src)[0]++;", ("native_round_trip",)),
    "other elements": (STATE, "(uint8_t)(intptr_t)codec->state", ("native_round_trip", "native_arrays")),
    "fewer elements": ("return size;\n}", "return size - 1;\n}", ("native_round_trip",)),
    "nothing done": (ROOM, "return -1;", ("native_form_does_something",)),
    "shared memory": (LOOP, SHARED, ("native_thread_safety",)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=list(MISTAKES))
def test_mistakes_in_c_are_found(pytester, number):
    pytest.importorskip("zarr_native._native", exc_type=ImportError)
    old, new, expected = list(MISTAKES.values())[number]
    package = f"planted_n{number}"
    folder = new_distribution("native-codec", package.replace("_", "."), pytester.path)
    source = folder / "src" / package / "_native.c"
    text = source.read_text()
    assert old in text
    source.write_text(text.replace(old, new))
    pip = [*PIP, str(pytester.path / "t")]
    subprocess.run([*pip, str(folder)], check=True, capture_output=True)
    pytester.syspathinsert(pytester.path / "t")
    discovery.refresh()
    try:
        test = folder / "tests" / f"test_{package}.py"
        failed = planted_mistakes.failed_tests(pytester, test, package, "native")
    finally:
        discovery.refresh()
    assert set(expected) <= failed
    assert bool(failed) is bool(expected), failed
