"""A short run of the fuzzer."""

import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "scripts"))


def test_changed_bytes_are_read_alike():
    from fuzz_native import fuzz

    cases, read = fuzz(4, 7)
    assert cases > 50
    assert read > cases / 10


def test_a_difference_is_found(monkeypatch):
    import fuzz_native
    import numpy as np

    monkeypatch.setattr(fuzz_native, "outcome", lambda stored, native, selection: (native, "", b""))
    with pytest.raises(AssertionError, match="seed 1, case 0"):
        fuzz_native.compare({}, np.random.default_rng(0), "seed 1, case 0")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("clang"), reason="the coverage-guided fuzzer needs clang")
def test_the_coverage_guided_fuzzer_accepts_its_corpus(tmp_path, monkeypatch):
    import fuzz_target

    monkeypatch.setattr(fuzz_target, "BUILD", tmp_path)
    assert any(fuzz_target.SEEDS.iterdir())
    assert fuzz_target.main(["--seconds", "60", "-runs=500"]) == 0
