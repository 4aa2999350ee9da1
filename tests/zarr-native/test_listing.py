"""What commands and functions say about compiled code."""

import subprocess
import sys
from pathlib import Path

import zarr_core as zarr
import zarr_native
from click.testing import CliRunner
from zarr_cli.commands.extensions import command
from zarr_native.executor import Executor


def test_the_command_lists_libraries_and_their_origin():
    done = CliRunner().invoke(command, ["--extension-point", "native"])
    assert "default" in done.output
    for name, state in Executor().describe().items():
        assert f"    {name}  {state}" in done.output


def test_info_says_whether_chunks_are_processed_natively(tmp_path):
    assert zarr.create_array(tmp_path / "a", shape=4, chunks=2).info["Native"] == "yes"
    steps = zarr.create_array(tmp_path / "b", shape=4, chunks=2, dtype=str)
    assert steps.info["Native"].startswith("no: ")


def test_the_folder_of_the_header_is_enough_to_compile(tmp_path):
    header = Path(zarr_native.get_include(), "zarr_codec.h")
    root = Path(__file__).parents[2]
    copies = [
        *root.glob("examples/*/src/*/zarr_codec.h"),
        *root.glob("packages/**/zarr_codec.h.txt"),
    ]
    assert len(copies) > 1
    assert all(header.read_text() == copy.read_text() for copy in copies)


def test_importing_the_package_loads_nothing_else():
    program = "import sys, zarr_native; print([it for it in sys.modules if it.startswith('zarr_')])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['zarr_native']"
