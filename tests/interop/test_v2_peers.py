"""Version 2 that zarr-python 3 and TensorStore change, beyond the arrays of test_write_back.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core
from old_format_arrays import CHUNKS, SHAPE, version_2

if TYPE_CHECKING:
    from pathlib import Path

numcodecs = pytest.importorskip("numcodecs")
pytestmark = pytest.mark.usefixtures("silent")

VALUES = {
    name: values
    for name, (values, _) in version_2().items()
    if name.startswith(("little_", "big_", "kind_", "fill_"))
}
COMPRESSORS: dict[str, Any] = {
    "none": None,
    "blosc": numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE),
    "blosc auto": numcodecs.Blosc("lz4", 5, numcodecs.Blosc.AUTOSHUFFLE),
    "zstd": numcodecs.Zstd(1),
    "zlib": numcodecs.Zlib(1),
    "gzip": numcodecs.GZip(1),
    "bz2": numcodecs.BZ2(1),
    "lz4": numcodecs.LZ4(),
    "lzma": numcodecs.LZMA(),
}


def bits(array: Any) -> bytes:
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False).tobytes()


def by_zarr_python(place: Path, values: np.ndarray) -> Any:
    zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")
    array = zarr.open_array(place, mode="r+", zarr_format=2)
    read = array[...]
    array[3:] = values[3:]
    array.attrs["b"] = 2
    return read


def by_tensorstore(place: Path, values: np.ndarray) -> Any:
    """TensorStore has no objects and dates, and other forms of fill values for bytes."""
    tensorstore = pytest.importorskip("tensorstore", reason="tensorstore is not installed")
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{place}/"}}
    array = tensorstore.open(spec, open=True).result()
    read = array.read().result()
    array[3:].write(values[3:].astype(values.dtype.newbyteorder("="))).result()
    return read


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("peer", "name"),
    [
        *((by_zarr_python, name) for name in VALUES),
        *((by_tensorstore, name) for name in VALUES if VALUES[name].dtype.kind not in "SUVMm"),
    ],
)
def test_missing_chunks_are_read_and_written(tmp_path, peer, name, order):
    values = VALUES[name]
    fill = values[2, 2]
    array = zarr_core.create_array(
        tmp_path, shape=SHAPE, chunks=CHUNKS, dtype=values.dtype, order=order, fill_value=fill,
        zarr_format=2, attributes={"a": [1, None]},
    )  # fmt: skip
    array[:3] = values[:3]
    read = peer(tmp_path, values)
    assert bits(read[:3]) == bits(values[:3])
    assert bits(read[4:]) == bits(np.full((1, 4), fill, values.dtype))
    again = zarr_core.open_array(tmp_path)
    assert bits(again[...]) == bits(values)
    assert dict(again.attrs) == {"a": [1, None]} | ({"b": 2} if peer is by_zarr_python else {})


@pytest.mark.parametrize("name", COMPRESSORS)
def test_documents_are_those_of_zarr_python(tmp_path, name):
    documents = []
    for library in (pytest.importorskip("zarr"), zarr_core):
        place = tmp_path / library.__name__
        options = {"dtype": "<i4", "compressors": COMPRESSORS[name], "zarr_format": 2}
        library.create_array(place, shape=SHAPE, chunks=CHUNKS, **options)
        documents.append(json.loads((place / ".zarray").read_text()))
    codecs = [document.pop("compressor") or {} for document in documents]
    assert documents[0] == documents[1]
    assert codecs[0].get("id") == codecs[1].get("id")
