"""``cat --output`` writes the complete file or leaves the old one."""

import os
from pathlib import Path

import numpy as np
import zarr_core as zarr
from click.testing import CliRunner
from zarr_cli.command_group import cli


def test_failed_output_keeps_the_old_file(tmp_path):
    location = tmp_path / "a.zarr"
    zarr.create_array(location, data=np.arange(3 << 22), chunks=1 << 22)  # one block per chunk
    chunk = location / "c/2"
    chunk.write_bytes(chunk.read_bytes()[:-9])
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("of yesterday")
    for target in (kept, new):
        done = CliRunner().invoke(cli, ["cat", f"{location}", "-f", "npy", "-O", f"{target}"])
        assert done.exit_code == 1
        assert "c/2" in done.output
    assert kept.read_text() == "of yesterday"
    assert sorted(tmp_path.iterdir()) == [location, kept]


def test_mode_and_symlink_are_kept(tmp_path):
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
