"""Reading files in a child process with a time limit, because libhdf5 can hang."""

import os
import signal
import subprocess
import threading
import time

import h5py
import numpy as np
import pytest
import zarr_core as zarr
from scipy.io import netcdf_file
from zarr_import import SourceReadError, UnsupportedSourceError, import_hdf5

VALUES = np.arange(600, dtype=">i4").reshape(20, 30)


def children():
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,stat=,args=", "--ppid", str(os.getpid())],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [int(line.split()[0]) for line in listed.splitlines() if "reader_process" in line]


def contents(store):
    return {key: bytes(store.get(key)) for key in store.list()}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        data = file.create_dataset("g/a", data=VALUES, chunks=(7, 9), compression="gzip")
        data.attrs["units"] = "m"
        file["b"] = VALUES[:2]
        file["texts"] = ["a", "bc"]
        file["references"] = np.array([file["g"].ref], h5py.ref_dtype)
        file["soft"] = h5py.SoftLink("/nowhere")
    return path


@pytest.mark.parametrize("options", [{}, {"codecs": "auto"}, {"group": "g"}, {"include": "texts"}])
def test_result_equals_in_process_import(path, options):
    stores = zarr.MemoryStore(), zarr.MemoryStore()
    reports = [
        import_hdf5(path, store, timeout=timeout, **options)
        for store, timeout in zip(stores, (None, 60), strict=True)
    ]
    assert contents(stores[0]) == contents(stores[1])
    assert [*reports[0]] == [*reports[1]]
    assert reports[0].left_out == reports[1].left_out
    assert not children()


def test_netcdf3(tmp_path):
    with netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "f4", ("x",))[:] = [1, 2, 3]
    group = zarr.create_group()
    import_hdf5(tmp_path / "a.nc", group, path="a", timeout=60)
    assert group["a/x"][...].tolist() == [1, 2, 3]


def test_errors_equal_in_process_import(path, tmp_path):
    (tmp_path / "text.h5").write_text("text")
    for source, options in (
        (tmp_path / "text.h5", {}),
        (tmp_path / "missing.h5", {}),
        (path, {"include": "missing"}),
        (path, {"group": "missing"}),
    ):
        errors = []
        for timeout in (None, 60):
            with pytest.raises(ValueError, match=r"text|missing") as caught:
                import_hdf5(source, zarr.MemoryStore(), timeout=timeout, **options)
            errors.append((type(caught.value), str(caught.value)))
        assert errors[0] == errors[1]


def test_hang_while_opening(tmp_path):
    os.mkfifo(tmp_path / "a.h5")  # opening blocks until there is a writer
    store, began = zarr.MemoryStore(), time.monotonic()
    seen = []

    def watch():
        while not seen and time.monotonic() - began < 30:
            seen.extend(children())
            time.sleep(0.05)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with pytest.raises(
        SourceReadError, match=r"a\.h5: .*did not answer within 1 s while reading the list"
    ):
        import_hdf5(tmp_path / "a.h5", store, timeout=1)
    assert time.monotonic() - began < 30
    watcher.join()
    assert len(seen) == 1  # otherwise the next line could not fail
    assert not list(store.list())
    assert not children()


def test_hang_while_reading_elements(tmp_path):
    os.mkfifo(tmp_path / "raw")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["fine"] = VALUES
        file.create_dataset("slow", (100,), "f8", external=[(str(tmp_path / "raw"), 0, 800)])
    store = zarr.MemoryStore()
    with pytest.raises(
        SourceReadError, match=r"a\.h5: .*did not answer within 5 s .*elements of /slow"
    ):
        import_hdf5(path, store, timeout=5, external=True)  # for the requests before, too
    assert not children()
    with pytest.raises(LookupError):  # the metadata of the root is written at the end
        zarr.open(store, mode="r")


def test_crash(tmp_path):
    os.mkfifo(tmp_path / "a.h5")

    def crash():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (found := children()):
            time.sleep(0.05)
        time.sleep(1.5)  # until it hangs
        os.kill(found[0], signal.SIGSEGV)

    thread = threading.Thread(target=crash)
    thread.start()
    with pytest.raises(
        SourceReadError, match=r"a\.h5: the process that reads it ended with status -11"
    ):
        import_hdf5(tmp_path / "a.h5", zarr.MemoryStore(), timeout=60)
    thread.join()


def test_sources_other_than_paths_raise(path):
    with h5py.File(path) as file, pytest.raises(UnsupportedSourceError, match="requires a path"):
        import_hdf5(file, zarr.MemoryStore(), timeout=5)
    for timeout in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="timeout must be a number of seconds"):
            import_hdf5(path, zarr.MemoryStore(), timeout=timeout)
