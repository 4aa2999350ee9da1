"""Version 2 that zarr-python 3 and TensorStore change, beyond the arrays of test_write_back.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core

if TYPE_CHECKING:
    from pathlib import Path

numcodecs = pytest.importorskip("numcodecs")
pytestmark = pytest.mark.usefixtures("silent")

SHAPE, CHUNKS = (7, 5), (3, 2)

# dtype and a fill value; elements of the array are below.
DTYPES: dict[str, Any] = {
    "|b1": True,
    "|i1": -3,
    ">i2": 300,
    "<i8": -(2**60),
    "|u1": 7,
    "<u4": 2**32 - 1,
    "<f2": 1.5,
    ">f4": np.nan,
    "<f8": -np.inf,
    "<c8": complex(1, -2),
    ">c16": complex(0, 1),
    "<M8[ns]": np.datetime64(5, "ns"),
    ">m8[s]": np.timedelta64(-9, "s"),
    "|S7": b"ab",
    "<U3": "x\u03a9",
    "|V3": np.void(b"\1\2\3"),
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


def values_of(dtype: np.dtype[Any]) -> np.ndarray:
    count = SHAPE[0] * SHAPE[1]
    numbers = np.arange(count) % 100
    if dtype.kind == "V":
        return np.frombuffer(np.random.default_rng(1).bytes(count * 3), dtype).reshape(SHAPE)
    if dtype.kind in "SU":
        return np.array([chr(65 + number) * (number % 3) for number in numbers], dtype).reshape(
            SHAPE
        )
    if dtype.kind == "b":
        numbers = numbers % 2
    return numbers.astype(dtype).reshape(SHAPE)


def bits(array: Any) -> bytes:
    array = np.asarray(array)
    return array.astype(array.dtype.newbyteorder("="), copy=False).tobytes()


def by_zarr_python(place: Path, values: np.ndarray) -> Any:
    zarr = pytest.importorskip("zarr", reason="zarr-python is not installed")
    array = zarr.open_array(place, mode="r+", zarr_format=2)
    read = array[...]
    array[5:] = values[5:]
    array.attrs["b"] = 2
    return read


def by_tensorstore(place: Path, values: np.ndarray) -> Any:
    """TensorStore has no objects and dates, and other forms of fill values for bytes."""
    tensorstore = pytest.importorskip("tensorstore", reason="tensorstore is not installed")
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{place}/"}}
    array = tensorstore.open(spec, open=True).result()
    read = array.read().result()
    array[5:].write(values[5:].astype(values.dtype.newbyteorder("="))).result()
    return read


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("peer", "text"),
    [
        *((by_zarr_python, text) for text in DTYPES),
        *((by_tensorstore, text) for text in DTYPES if text[1] not in "SUVMm"),
    ],
)
def test_missing_chunks_are_read_and_written(tmp_path, peer, text, order):
    values, fill = values_of(np.dtype(text)), DTYPES[text]
    array = zarr_core.create_array(
        tmp_path, shape=SHAPE, chunks=CHUNKS, dtype=text, order=order, fill_value=fill,
        zarr_format=2, attributes={"a": [1, None]},
    )  # fmt: skip
    array[:5] = values[:5]
    read = peer(tmp_path, values)
    assert bits(read[:5]) == bits(values[:5])
    assert bits(read[6:]) == bits(np.full((1, 5), fill, np.dtype(text)))
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
