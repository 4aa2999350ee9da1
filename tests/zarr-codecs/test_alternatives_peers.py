"""Arrays that alternatives wrote are read by other libraries, and the reverse."""

import json
import warnings
from importlib.metadata import entry_points

import numpy as np
import pytest
import tensorstore
import zarr
import zarr_core
from zarr_core.config import config

VALUES = (np.arange(40 * 50).reshape(40, 50) ** 2 % 9973).astype("i4")
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
CONFIGURATIONS = {
    "crc32c": [{}],
    "gzip": [{"level": 0}, {"level": 1}, {"level": 5}, {"level": 9}],
    "numcodecs.adler32": [{"location": "start"}],
    "numcodecs.crc32": [{"location": "start"}, {"location": "end"}],
    "numcodecs.crc32c": [{"location": "end"}],
    "numcodecs.gzip": [{"level": 1}],
    "numcodecs.zlib": [{"level": 1}, {"level": 9}],
}
MODULES = {
    "zarr-codecs[deflate]": "zarr_codecs.libdeflate",
    "zarr-codecs[fastcrc]": "zarr_codecs.fastcrc",
    "zarr-codecs[isal]": "zarr_codecs.isal",
}
CASES = [
    (f"zarr-codecs[{word}]", point.name, configuration)
    for word in ("deflate", "fastcrc", "isal")
    for point in entry_points(group=f"zarr_core.codec.{word}")
    if point.value.startswith("zarr_codecs.")
    for configuration in CONFIGURATIONS[point.name]
]


def by_zarr_python(place):
    with warnings.catch_warnings(action="ignore"):  # codecs outside the specification
        return zarr.open_array(place, mode="r+")


def by_tensorstore(place):
    kvstore = {"driver": "file", "path": f"{place}/"}
    return tensorstore.open({"driver": "zarr3", "kvstore": kvstore}).result()


def created(place, name, configuration):
    document = {
        "zarr_format": 3, "node_type": "array", "shape": VALUES.shape, "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [16, 32]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "attributes": {},
        "codecs": [BYTES, {"name": name, "configuration": configuration}],
    }  # fmt: skip
    if not configuration:
        del document["codecs"][1]["configuration"]
    place.mkdir()
    (place / "zarr.json").write_text(json.dumps(document))
    return place


@pytest.mark.parametrize(("choice", "name", "configuration"), CASES)
def test_both_ways(choice, name, configuration, tmp_path):
    peers = [by_zarr_python] + ([] if name.startswith("numcodecs.") else [by_tensorstore])
    with config.set(providers={f"codec.{name}": choice}):
        for number, peer in enumerate(peers):
            ours = created(tmp_path / f"ours{number}", name, configuration)
            array = zarr_core.open_array(ours, mode="r+")
            array[...] = VALUES
            assert type(array.compressors[0]).__module__ == MODULES[choice]
            assert (np.asarray(peer(ours)[...]) == VALUES).all()
            theirs = created(tmp_path / f"theirs{number}", name, configuration)
            peer(theirs)[...] = VALUES
            assert (zarr_core.open_array(theirs)[...] == VALUES).all()
    assert (zarr_core.open_array(tmp_path / "ours0")[...] == VALUES).all()
