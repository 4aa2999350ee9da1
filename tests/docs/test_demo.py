"""The demonstration, run as a command."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def demonstration(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setitem(sys.modules, "demo", None)  # not another module of that name
    monkeypatch.delitem(sys.modules, "demo")
    from demo.__main__ import main

    return main


def test_it_writes_reads_compares_and_draws(demonstration, tmp_path, capsys):
    assert demonstration([str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "7 of 7 arrays are identical to the data that was written" in printed
    assert "DIFFERENT" not in printed
    assert "sharding_indexed  zarr-sharding" in printed
    picture = (tmp_path / "picture.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) > 100_000
    # Each shard is a file; the shapes determine their number.
    assert len(list(tmp_path.glob("samples.zarr/terrain/elevation/c/*/*"))) == 4


def test_it_notices_what_another_library_reads_differently(demonstration, tmp_path):
    import numpy as np

    from demo.peers import compare

    demonstration([str(tmp_path)])
    wrong = {"coast/latitude": np.zeros(91, "float32")}
    found = dict(compare(tmp_path / "samples.zarr", wrong))
    assert any(same is not None for same in found.values())
    assert not any(found.values())
