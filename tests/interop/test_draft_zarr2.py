"""Hierarchies in the draft of 2021 that zarr-python 2 changes, beyond the arrays of test_write_back.py."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import old_libraries
import pytest
import zarr_core as zarr
from old_libraries import same_bits

pytestmark = pytest.mark.filterwarnings("ignore:.*not in alignment.*")
CHANGE = """
import json, sys, warnings
import numpy as np, zarr
store = zarr.DirectoryStoreV3(sys.argv[1])
for path in json.loads(sys.argv[2]):
    array = zarr.open(store, path=path, mode="r+", zarr_version=3)
    array[1:3, 2:] = 77
    array.attrs["changed"] = [1, None]
print(json.dumps(sorted(zarr.Group(store, path="layout", zarr_version=3).array_keys())))
"""


@pytest.fixture(scope="module")
def python():
    return old_libraries.need("zarr2")


def test_zarr_python_2_changes_what_we_write_and_we_read_it(python, tmp_path):
    values = np.arange(35, dtype=">i4").reshape(5, 7)
    paths = []
    for order, separator, shards in product("CF", "/.", (None, (6, 3))):
        paths.append(f"layout/{len(paths)}")
        zarr.create_array(
            tmp_path, path=paths[-1], data=values, chunks=(3, 3), order=order, shards=shards,
            chunk_key_encoding={"name": "default", "separator": separator}, zarr_format="draft-2021",
        )  # fmt: skip
    found = old_libraries.run(python, CHANGE, tmp_path, json.dumps(paths))
    assert json.loads(found) == sorted(path.removeprefix("layout/") for path in paths)
    values[1:3, 2:] = 77
    for path in paths:
        array = zarr.open(tmp_path, path=path)
        assert same_bits(array[...], values), path
        assert dict(array.attrs) == {"changed": [1, None]}
        array[0] = 5
        array.attrs["again"] = True
    values[0] = 5
    answers = old_libraries.read_all(python, [("draft", tmp_path, path) for path in paths])
    for path, answer in zip(paths, answers, strict=True):
        assert same_bits(answer["values"], values), path
        assert answer["attributes"]["again"] is True


CONSOLIDATE = """
import sys, zarr
store = zarr.DirectoryStoreV3(sys.argv[1])
zarr.open_group(store, mode="w", zarr_version=3)
zarr.create(4, store=store, path="g/a", zarr_version=3)[...] = 3
zarr.consolidate_metadata(store, metadata_key="meta/root/consolidated/.zmetadata")
"""


def test_consolidated_metadata_is_not_a_node(python, tmp_path):
    old_libraries.run(python, CONSOLIDATE, tmp_path)
    assert (tmp_path / "meta/root/consolidated/.zmetadata").exists()
    root = zarr.open_group(tmp_path)
    # zarr-python creates a group for them, which it also lists.
    assert sorted(root) == ["consolidated", "g"]
    assert list(root["consolidated"]) == []
    (tmp_path / "meta/root/consolidated.group.json").unlink()
    assert sorted(root) == ["g"]
    assert "consolidated" not in root
    assert root["g/a"][...].tolist() == [3] * 4
