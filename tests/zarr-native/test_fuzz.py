"""A short run of the fuzzer."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "scripts"))


def test_changed_bytes_are_read_alike():
    from fuzz_native import fuzz

    cases, read = fuzz(4, 7)
    assert cases > 50
    assert read > cases / 10


def test_a_difference_is_found(monkeypatch):
    import fuzz_native
    import numpy as np
    import pytest

    monkeypatch.setattr(fuzz_native, "outcome", lambda stored, native, selection: (native, "", b""))
    with pytest.raises(AssertionError, match="seed 1, case 0"):
        fuzz_native.compare({}, np.random.default_rng(0), "seed 1, case 0")
