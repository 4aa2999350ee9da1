"""Arrays in the draft of 2021 as implemented by zarr-python 2: read and rewritten by that library."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import old_libraries
import pytest
import zarr_core as zarr
from old_libraries import same_bits

pytestmark = pytest.mark.filterwarnings("ignore:.*not in alignment.*")
NAME = "draft-2021"
DTYPES = (
    "?", "i1", "<i4", ">i2", "<u8", ">f4", "<f8", "<c16", ">c8", "S3", "<U2", ">U2", "<M8[ns]",
    ">m8[D]",
)  # fmt: skip
STRUCTURE = [("a", "<i4"), ("b", "S2"), ("c", [("d", "<f8"), ("e", "u1")])]
COMPRESSORS = {
    "none": None,
    "gzip": {"name": "gzip", "configuration": {"level": 1}},
    "zstd": {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
    "blosc": {
        "name": "blosc",
        "configuration": {"cname": "zstd", "clevel": 3, "shuffle": "bitshuffle", "blocksize": 0},
    },
    "zlib": {"name": "numcodecs.zlib", "configuration": {"level": 2}},
    "bz2": {"name": "numcodecs.bz2", "configuration": {"level": 2}},
    "lz4": {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    "lzma": {
        "name": "numcodecs.lzma",
        "configuration": {"format": 1, "check": -1, "preset": None, "filters": None},
    },
    "shuffle": {"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
}


def ramp(dtype, shape=(5, 7)):
    dtype = np.dtype(dtype)
    numbers = np.arange(int(np.prod(shape))) % 120
    if dtype.fields:
        values = np.zeros(numbers.shape, dtype)
        for name in dtype.names:
            values[name] = ramp(dtype[name], numbers.shape)
        return values.reshape(shape)
    return numbers.astype("u1" if dtype.kind in "SU" else "i8").astype(dtype).reshape(shape)


@pytest.fixture(scope="module")
def python():
    return old_libraries.need("zarr2")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A hierarchy written by this library, with its arrays."""
    place = tmp_path_factory.mktemp("dialect")
    expected = {}

    def put(path, values, **options):
        options = {"chunks": tuple(min(3, n) for n in values.shape), **options}
        zarr.create_array(place, path=path, data=values, zarr_format=NAME, **options)
        expected[path] = values

    for number, dtype in enumerate(DTYPES):
        put(f"dtype/t{number}", ramp(dtype), dtype=dtype)
    put("dtype/struct", ramp(STRUCTURE), dtype=np.dtype(STRUCTURE))
    for name, compressor in COMPRESSORS.items():
        put(f"codec/{name}", ramp("<i4"), compressors=compressor, attributes={"name": name})
    delta = {"name": "numcodecs.delta", "configuration": {"dtype": "<i4", "astype": "<i4"}}
    put("codec/delta", ramp("<i4"), filters=[delta])
    for order, separator, shards in product("CF", "/.", (None, (6, 3))):
        put(
            f"layout/{order}{'s' if separator == '/' else 'd'}{'n' if shards is None else 's'}",
            ramp(">i4"), dtype=">i4", order=order, shards=shards,
            chunk_key_encoding={"name": "default", "separator": separator},
        )  # fmt: skip
    put("shape/scalar", np.float64(2.5).reshape(()))
    put("shape/sharded", ramp("<i4", (9, 4)), chunks=(2, 2), shards=(4, 4))
    put("shape/empty", np.zeros((0, 3), "i2"), chunks=(1, 3))
    zarr.create_array(
        place, path="fill", shape=(4,), dtype="f4", fill_value=np.nan, zarr_format=NAME
    )
    expected["fill"] = np.full(4, np.nan, "f4")
    texts = np.array(["", "ä", "xyz"], np.dtypes.StringDType())
    put("text", texts, chunks=2)
    expected["text"] = texts.astype(object)
    zarr.create_group(place, path="explicit", zarr_format=NAME, attributes={"spam": ["ham", 1.5]})
    return place, expected


def test_zarr_python_2_reads_what_we_write(python, written):
    place, expected = written
    paths = list(expected)
    answers = old_libraries.read_all(python, [("draft", place, path) for path in paths])
    for path, answer in zip(paths, answers, strict=True):
        assert "values" in answer, (path, answer)
        assert same_bits(answer["values"], np.asarray(expected[path])), path
    assert answers[paths.index("codec/zlib")]["attributes"] == {"name": "zlib"}
    group = old_libraries.read(python, place, "explicit", kind="draft")
    assert group["attributes"] == {"spam": ["ham", 1.5]}


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


def test_zarr_python_2_changes_what_we_write_and_we_read_it(python, written):
    place, expected = written
    paths = [path for path in expected if path.startswith("layout/")]
    found = old_libraries.run(python, CHANGE, place, json.dumps(paths))
    assert json.loads(found) == sorted(path.removeprefix("layout/") for path in paths)
    for path in paths:
        expected[path][1:3, 2:] = 77
        array = zarr.open(place, path=path)
        assert same_bits(array[...], expected[path]), path
        assert dict(array.attrs) == {"changed": [1, None]}
        array[0] = expected[path][0] = 5
        array.attrs["again"] = True
    answers = old_libraries.read_all(python, [("draft", place, path) for path in paths])
    for path, answer in zip(paths, answers, strict=True):
        assert same_bits(answer["values"], expected[path]), path
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
