"""Damaged sources raise errors of this project, which name the file and the object."""

import pickle
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.extension import ZarrError
from zarr_import import (
    SourceNotFoundError,
    SourceReadError,
    UnsupportedSourceError,
    import_hdf5,
)

SCRIPT = Path(__file__).parent / "import_damaged.py"
COPIES = 200
HANG_SECONDS = 30  # without output; a copy takes a few milliseconds


def outcomes(kind, folder):
    """The outcome of each damaged copy; skip hangs and crashes of libhdf5."""
    found, first = {}, 0
    while first < COPIES:
        command = [sys.executable, SCRIPT, kind, folder, str(first), str(COPIES)]
        output = folder / "output.txt"
        with open(output, "w") as file, subprocess.Popen(command, stdout=file) as process:
            size, changed = 0, time.monotonic()
            while process.poll() is None:
                time.sleep(0.05)
                if (now := output.stat().st_size) != size:
                    size, changed = now, time.monotonic()
                elif time.monotonic() - changed > HANG_SECONDS:
                    process.kill()
        lines = [line.split(" ", 1) for line in output.read_text().splitlines()]
        found |= {int(number): text for number, text in lines if text}
        started = int(lines[-1][0]) if lines else first
        first = started + 1
        if process.returncode == 0:
            break
        if kind not in ("h5", "nc4"):
            pytest.fail(f"copy {started} ended or hung the process: {process.returncode}")
    return found


@pytest.mark.parametrize("kind", ["nc3", "h5", "nc4"])
def test_damaged_files_raise_only_errors_of_this_project(kind, tmp_path):
    found = outcomes(kind, tmp_path)
    bad = {number: text for number, text in found.items() if text not in ("done", "refused")}
    assert not bad
    counts = Counter(found.values())
    assert counts["refused"] > COPIES // 5
    assert counts["refused"] + counts["done"] >= COPIES - 10


def test_missing_files_raise_source_not_found(tmp_path):
    with pytest.raises(SourceNotFoundError) as caught:
        import_hdf5(tmp_path / "a.h5", tmp_path / "a.zarr")
    assert str(caught.value) == f"{tmp_path / 'a.h5'}: the file does not exist"
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, ZarrError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("a.npy", "create_array(dest, data=numpy.load(file, mmap_mode='r'))"),
        ("a.NPZ", "save(dest, **numpy.load(file))"),
    ],
)
def test_errors_of_numpy_files_name_the_call_that_imports_them(name, advice, tmp_path):
    with open(tmp_path / name, "wb") as file:
        np.save(file, np.arange(3))
    with pytest.raises(SourceReadError, match=f"{name}: is not an HDF5 file.*{re.escape(advice)}"):
        import_hdf5(tmp_path / name, tmp_path / "a.zarr")
    assert not (tmp_path / "a.zarr").exists()


@pytest.mark.parametrize("names", [("a", "a/b"), ("",)], ids=["below an array", "of the root"])
def test_path_of_another_object_raises(names, tmp_path):
    scipy_io = pytest.importorskip("scipy.io")
    with scipy_io.netcdf_file(tmp_path / "a.nc", "w") as file:
        for name in names:  # NetCDF 3 has no groups
            file.createVariable(name, "i4", ())[...] = 1
    store = zarr.MemoryStore()
    with pytest.raises(UnsupportedSourceError, match="same path as another object"):
        import_hdf5(tmp_path / "a.nc", store)
    assert not list(store.list())


def damaged_group(path):
    """A file with a dataset whose object header is overwritten."""
    with h5py.File(path, "w", libver="latest") as file:
        file["fine"] = np.arange(3)
        file["bad"] = np.arange(5)
        at = h5py.h5o.get_info(file["bad"].id).addr
    data = bytearray(path.read_bytes())
    data[at : at + 16] = b"\xff" * 16
    path.write_bytes(data)


def test_damaged_object_raises_or_is_reported(tmp_path):
    path = tmp_path / "a.h5"
    damaged_group(path)
    store = zarr.MemoryStore()
    with pytest.raises(SourceReadError, match=r"a\.h5 /bad: cannot be opened, the file is damaged"):
        import_hdf5(path, store)
    assert not list(store.list())
    report = import_hdf5(path, store, unsupported="skip")
    assert [left.source for left in report.left_out] == ["/bad"]
    assert zarr.open(store)["fine"][...].tolist() == [0, 1, 2]


def test_damaged_chunk_error_names_file_and_dataset(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("g/x", data=np.arange(4000), chunks=(1000,), fletcher32=True)
        at = data.id.get_chunk_info(2).byte_offset
    content = bytearray(path.read_bytes())
    content[at + 8] ^= 1
    path.write_bytes(content)
    store = zarr.MemoryStore()
    for timeout in (None, 60):
        with pytest.raises(SourceReadError, match=r"a\.h5 /g/x: cannot read") as caught:
            import_hdf5(path, store, codecs="auto", timeout=timeout)
        pickle.dumps(caught.value)
    with pytest.raises(LookupError):
        zarr.open(store, mode="r")
