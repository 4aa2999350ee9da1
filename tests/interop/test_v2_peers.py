"""Version 2 exchanged with zarr-python 3 and tensorstore."""

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
FILTERS: dict[str, Any] = {
    "delta": [numcodecs.Delta("<i4")],
    "delta to small": [numcodecs.Delta("<i4", "<i2")],
    "scaled": [numcodecs.FixedScaleOffset(offset=1, scale=2, dtype="<i4", astype="<i8")],
    "shuffle": [numcodecs.Shuffle(4)],
    "checksum": [numcodecs.CRC32()],
    "two": [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)],
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


def zarr_python() -> Any:
    return pytest.importorskip("zarr", reason="zarr-python is not installed")


LIBRARIES: dict[str, Any] = {"zarr-python": zarr_python, "zarr-core": lambda: zarr_core}
BOTH = pytest.mark.parametrize(
    ("writer", "reader"), [("zarr-python", "zarr-core"), ("zarr-core", "zarr-python")]
)


def created(library: str, place: Path, **options: Any) -> Any:
    return LIBRARIES[library]().create_array(
        place, shape=SHAPE, chunks=CHUNKS, zarr_format=2, **options
    )


def opened(library: str, place: Path) -> Any:
    return LIBRARIES[library]().open_array(place, mode="r+", zarr_format=2)


@BOTH
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("text", DTYPES)
def test_data_types_and_zarr_python(tmp_path, text, order, writer, reader):
    values, fill = values_of(np.dtype(text)), DTYPES[text]
    options = {"dtype": text, "order": order, "fill_value": fill, "attributes": {"a": [1, None]}}
    created(writer, tmp_path, **options)[:5] = values[:5]
    array = opened(reader, tmp_path)
    assert json.loads((tmp_path / ".zarray").read_text())["dtype"] == text
    assert array.dtype.newbyteorder("=") == np.dtype(text).newbyteorder("=")
    assert bits(array[:5]) == bits(values[:5])
    assert bits(array[6:]) == bits(np.full((1, 5), fill, np.dtype(text)))
    assert dict(array.attrs) == {"a": [1, None]}
    array[5:] = values[5:]
    array.attrs["b"] = 2
    again = opened(writer, tmp_path)
    assert bits(again[...]) == bits(values)
    assert dict(again.attrs) == {"a": [1, None], "b": 2}


@pytest.mark.parametrize("name", COMPRESSORS)
def test_compressors_of_and_to_zarr_python(tmp_path, name):
    values = values_of(np.dtype("<i4"))
    created("zarr-python", tmp_path / "a", dtype="<i4", compressors=COMPRESSORS[name])[...] = values
    assert bits(zarr_core.open_array(tmp_path / "a")[...]) == bits(values)
    zarr_core.create_array(
        tmp_path / "b", data=values, chunks=CHUNKS, compressors=COMPRESSORS[name], zarr_format=2
    )
    assert bits(opened("zarr-python", tmp_path / "b")[...]) == bits(values)
    ours, theirs = (json.loads((tmp_path / place / ".zarray").read_text()) for place in "ba")
    codecs = [document.pop("compressor") or {} for document in (ours, theirs)]
    assert ours == theirs
    assert codecs[0].get("id") == codecs[1].get("id")


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", FILTERS)
def test_filters_of_and_to_zarr_python(tmp_path, name, order):
    values = values_of(np.dtype("<i4"))
    options = {"filters": FILTERS[name], "compressors": numcodecs.Zlib(1), "order": order}
    created("zarr-python", tmp_path / "a", dtype="<i4", **options)[...] = values
    assert bits(zarr_core.open_array(tmp_path / "a")[...]) == bits(values)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / ".zarray").write_bytes((tmp_path / "a" / ".zarray").read_bytes())
    zarr_core.open_array(tmp_path / "b")[...] = values
    assert bits(opened("zarr-python", tmp_path / "b")[...]) == bits(values)


@BOTH
def test_text_and_zarr_python(tmp_path, writer, reader):
    values = np.array([["a", "\u03a9" * 50, "", "x", "y"]] * 7, object)
    created(writer, tmp_path, dtype=str, fill_value="none")[:3] = values[:3]
    array = opened(reader, tmp_path)
    assert array[:3].tolist() == values[:3].tolist()
    assert array[6, 0] == "none"


@BOTH
def test_records_and_zarr_python(tmp_path, writer, reader):
    dtype = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    values = np.array([(n, n / 2, b"x" * (n % 4)) for n in range(35)], dtype).reshape(SHAPE)
    fill = np.array((1, 2.5, b"no"), dtype)[()]
    created(writer, tmp_path, dtype=dtype, fill_value=fill)[:3] = values[:3]
    array = opened(reader, tmp_path)
    assert (array[:3] == values[:3]).all()
    assert array[6, 4] == fill


@pytest.mark.parametrize("consolidated", [False, True])
@BOTH
def test_hierarchies_and_zarr_python(tmp_path, writer, reader, consolidated):
    library = LIBRARIES[writer]()
    root = library.create_group(tmp_path, zarr_format=2, attributes={"title": "Höhen"})
    deep = root.create_group("surface/height")
    deep.create_array("raster", shape=SHAPE, chunks=CHUNKS, dtype="i2")[...] = 5
    deep["raster"].attrs["units"] = "m"
    if consolidated:
        library.consolidate_metadata(tmp_path)
    read = LIBRARIES[reader]().open_group(tmp_path, mode="r", use_consolidated=consolidated)
    assert dict(read.attrs) == {"title": "Höhen"}
    assert sorted(path for path, _ in read.members(max_depth=None)) == [
        "surface", "surface/height", "surface/height/raster",
    ]  # fmt: skip
    raster = read["surface/height/raster"]
    assert dict(raster.attrs) == {"units": "m"}
    assert (np.asarray(raster[...]) == 5).all()


def test_both_consolidate_alike(tmp_path):
    copies = []
    for library in (zarr_python(), zarr_core):
        root = library.create_group(tmp_path / library.__name__, zarr_format=2, attributes={"a": 1})
        root.create_group("b").create_array("c", shape=SHAPE, chunks=CHUNKS, dtype="i2")
        library.consolidate_metadata(tmp_path / library.__name__)
        copies.append(json.loads((tmp_path / library.__name__ / ".zmetadata").read_text()))
    assert copies[0].keys() == copies[1].keys()
    # zarr-python also stores empty attributes.
    named = [{key for key, value in copy["metadata"].items() if value} for copy in copies]
    assert named[0] == named[1]


# --- tensorstore: no filters, no objects, other forms of fill values for bytes ---

TS_DTYPES = {text: fill for text, fill in DTYPES.items() if text[1] not in "SUVMm"}
TS_COMPRESSORS = ("none", "blosc", "zstd", "zlib", "gzip", "bz2")


def with_tensorstore(place: Path, metadata: dict[str, Any] | None = None) -> Any:
    tensorstore = pytest.importorskip("tensorstore", reason="tensorstore is not installed")
    spec: dict[str, Any] = {"driver": "zarr", "kvstore": {"driver": "file", "path": f"{place}/"}}
    if metadata is not None:
        spec["metadata"] = metadata
    return tensorstore.open(spec, open=metadata is None, create=metadata is not None).result()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("text", TS_DTYPES)
def test_data_types_of_and_to_tensorstore(tmp_path, text, order):
    values = values_of(np.dtype(text))
    ours = zarr_core.create_array(
        tmp_path / "a", shape=SHAPE, chunks=CHUNKS, dtype=text, order=order, zarr_format=2,
        fill_value=TS_DTYPES[text], chunk_key_encoding={"name": "v2", "separator": "/"},
    )  # fmt: skip
    ours[:5] = values[:5]
    theirs = with_tensorstore(tmp_path / "a")
    assert bits(theirs[:5].read().result()) == bits(values[:5])
    assert bits(theirs[6:].read().result()) == bits(ours[6:])
    theirs[5:].write(values[5:].astype(values.dtype.newbyteorder("="))).result()
    assert bits(zarr_core.open_array(tmp_path / "a")[...]) == bits(values)
    document = json.loads((tmp_path / "a" / ".zarray").read_text())
    with_tensorstore(tmp_path / "b", document).write(
        values.astype(values.dtype.newbyteorder("="))
    ).result()
    assert bits(zarr_core.open_array(tmp_path / "b")[...]) == bits(values)


@pytest.mark.parametrize("name", TS_COMPRESSORS)
def test_compressors_of_and_to_tensorstore(tmp_path, name):
    values = values_of(np.dtype("<i4"))
    zarr_core.create_array(
        tmp_path / "a", data=values, chunks=CHUNKS, compressors=COMPRESSORS[name], zarr_format=2
    )
    assert bits(with_tensorstore(tmp_path / "a").read().result()) == bits(values)
    document = json.loads((tmp_path / "a" / ".zarray").read_text())
    with_tensorstore(tmp_path / "b", document).write(values).result()
    assert bits(zarr_core.open_array(tmp_path / "b")[...]) == bits(values)
