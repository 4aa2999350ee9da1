"""The core imported from a zip archive, as programs that are one file contain it."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import zarr_core

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import zarr_core as zarr
assert zarr.__file__.startswith(sys.argv[1]), zarr.__file__

for store in (zarr.MemoryStore(), zarr.LocalStore("folder"), {}):
    root = zarr.create_group(store, attributes={"title": "in an archive"})
    data = np.arange(24, dtype=">u4").reshape(4, 6)
    root.create_array("a/b", data=data, chunks=(3, 4), compressors=None, dimension_names=["y", None])
    root.create_array("flags", shape=3, dtype="bool", compressors=None)[1] = True
    zarr.consolidate_metadata(root.store)
    again = zarr.open(root.store, mode="r")
    assert again.attrs["title"] == "in an archive"
    assert np.array_equal(again["a/b"][1:, ::2], data[1:, ::2])
    assert again["flags"][...].tolist() == [False, True, False]
    root.store.set("bad/zarr.json", b'{"zarr_format": 3, "node_type": "array", "shape": [-1]}')
    try:
        zarr.open_array(root.store, path="bad")
    except zarr.errors.MetadataError as error:
        assert "/shape/0" in str(error) and "/data_type" in str(error), error
    else:
        raise SystemExit("opened")
print("fine")
"""


@pytest.fixture
def archive(tmp_path):
    package = Path(zarr_core.__file__).parent
    file = tmp_path / "application.zip"
    with ZipFile(file, "w") as archive:
        for source in package.rglob("*"):
            if source.suffix in (".py", ".json"):
                archive.write(source, source.relative_to(package.parent))
    return file


def test_nodes_are_created_and_opened_with_a_core_in_a_zip_archive(archive, tmp_path, monkeypatch):
    monkeypatch.setenv("ZARR_CORE_DISABLE_PLUGINS", "*")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(archive)],
        check=False, capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
