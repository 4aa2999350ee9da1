"""What ``cat --output`` leaves: all that was asked for, or what was there before."""

import os
from pathlib import Path

import numpy as np
import zarr_core as zarr
from click.testing import CliRunner
from zarr_cli.main import cli


def test_half_of_an_array_is_no_file(tmp_path):
    place = tmp_path / "a.zarr"
    zarr.create_array(place, data=np.arange(3 << 22), chunks=1 << 22)  # a piece a chunk
    chunk = place / "c/2"
    chunk.write_bytes(chunk.read_bytes()[:-9])
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("of yesterday")
    for target in (kept, new):
        done = CliRunner().invoke(cli, ["cat", f"{place}", "-f", "npy", "-O", f"{target}"])
        assert done.exit_code == 1
        assert "c/2" in done.output
    assert kept.read_text() == "of yesterday"
    assert sorted(tmp_path.iterdir()) == [place, kept]


def test_a_file_keeps_its_mode_a_link_its_place(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", data=[1, 2])
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    done = CliRunner().invoke(cli, ["cat", f"{tmp_path / 'a.zarr'}", "-O", f"{link}"])
    assert done.exit_code == 0
    assert (link.is_symlink(), real.read_text(), real.stat().st_mode & 0o777) == (
        True, "1\n2\n", 0o640,
    )  # fmt: skip
    done = CliRunner().invoke(cli, ["cat", f"{tmp_path / 'a.zarr'}", "-O", os.devnull])
    assert done.exit_code == 0
    assert Path(os.devnull).is_char_device()
