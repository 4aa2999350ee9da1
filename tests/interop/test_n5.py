"""N5 exchanged with TensorStore and zarr-python 2 in both directions."""

from __future__ import annotations

import json

import numpy as np
import pytest
import zarr_core
from old_libraries import need, read_all, run, same_bits

SHAPE, CHUNKS = (7, 5), (3, 2)
DTYPES = [f"{sign}{size}" for sign in "ui" for size in (1, 2, 4, 8)] + ["f4", "f8"]

# Compression in TensorStore, and the codec in this library.
COMPRESSIONS = {
    "raw": {"type": "raw"},
    "gzip": {"type": "gzip", "level": 3},
    "gzip-default": {"type": "gzip"},
    "zlib": {"type": "gzip", "level": 1, "useZlib": True},
    "bzip2": {"type": "bzip2", "blockSize": 2},
    "xz": {"type": "xz", "preset": 1},
    "zstd": {"type": "zstd", "level": 2},
    "blosc": {"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
    "blosc-bits": {"type": "blosc", "cname": "zstd", "clevel": 1, "shuffle": 2},
}
CODECS = {
    "raw": None,
    "gzip": {"name": "gzip", "configuration": {"level": 3}},
    "zlib": {"name": "numcodecs.zlib", "configuration": {"level": 1}},
    "bzip2": {"name": "numcodecs.bz2", "configuration": {"level": 2}},
    "xz": {"name": "numcodecs.lzma", "configuration": {"preset": 1}},
    "zstd": {"name": "zstd", "configuration": {"level": 2, "checksum": False}},
    "blosc": {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5}},
}
# numcodecs, for zarr-python 2.
WRITTEN_BY_ZARR = {
    "raw": "None",
    "zlib": "numcodecs.Zlib(2)",
    "gzip": "numcodecs.GZip(3)",
    "bz2": "numcodecs.BZ2(4)",
    "xz": "numcodecs.LZMA(preset=1)",
    "lzma": "numcodecs.LZMA(format=lzma.FORMAT_ALONE, preset=1)",
    "lz4": "numcodecs.LZ4(2)",
    "zstd": "numcodecs.Zstd(2)",
    "blosc": "numcodecs.Blosc('lz4', 5, 1)",
    "blosc-auto": "numcodecs.Blosc('zstd', 1, -1)",
}


def values_of(dtype, shape=SHAPE):
    values = (np.arange(np.prod(shape), dtype="i8") * 7 - 20).astype(dtype)
    return values.reshape(shape)


def make(place, **options):
    return zarr_core.create_array(place, zarr_format="n5", chunks=CHUNKS, **options)


# --- TensorStore ---


@pytest.fixture
def tensorstore():
    return pytest.importorskip("tensorstore", reason="TensorStore is not installed")


def written_by_tensorstore(tensorstore, place, values, compression, **members):
    """The array with dimensions in the order of N5, as in TensorStore."""
    metadata = {
        "dimensions": values.T.shape,
        "blockSize": CHUNKS[::-1],
        "dataType": values.dtype.name,
        "compression": compression,
        **members,
    }
    store = {"driver": "file", "path": str(place)}
    spec = {"driver": "n5", "kvstore": store, "metadata": metadata}
    array = tensorstore.open(spec, create=True).result()
    array[...] = values.T
    return array


def read_by_tensorstore(tensorstore, place):
    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": str(place)}}
    return tensorstore.open(spec, read=True).result()


@pytest.mark.parametrize("name", COMPRESSIONS)
def test_tensorstore_data_is_read_and_changed(tensorstore, tmp_path, name):
    values = values_of("i2")
    written_by_tensorstore(tensorstore, tmp_path, values, COMPRESSIONS[name])
    document = (tmp_path / "attributes.json").read_text()
    array = zarr_core.open(tmp_path)
    assert same_bits(array[...], values)
    assert json.loads((tmp_path / "attributes.json").read_text()) == json.loads(document)
    array[2:6, 1:4] = 0
    array.append(np.full((2, 5), 9, "i2"))
    values[2:6, 1:4] = 0
    expected = np.concatenate([values, np.full((2, 5), 9, "i2")])
    assert same_bits(read_by_tensorstore(tensorstore, tmp_path).read().result().T, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensorstore_and_we_agree_on_a_data_type(tensorstore, tmp_path, dtype):
    values = values_of(dtype)
    written_by_tensorstore(tensorstore, tmp_path / "theirs", values, {"type": "raw"})
    assert same_bits(zarr_core.open(tmp_path / "theirs")[...], values)
    make(tmp_path / "ours", data=values, compressors=None)
    ours = read_by_tensorstore(tensorstore, tmp_path / "ours").read().result()
    assert same_bits(ours.T, values)


@pytest.mark.parametrize("name", CODECS)
def test_tensorstore_reads_what_we_compressed(tensorstore, tmp_path, name):
    values = values_of("f4")
    make(tmp_path, path="deep/array", data=values, compressors=CODECS[name])
    theirs = read_by_tensorstore(tensorstore, tmp_path / "deep/array")
    assert same_bits(theirs.read().result().T, values)


@pytest.mark.parametrize("shape", [(), (5,), (4, 3, 2, 3)])
def test_tensorstore_and_we_agree_on_any_number_of_dimensions(tensorstore, tmp_path, shape):
    values = values_of("u2", shape)
    chunks = tuple(2 for _ in shape)
    array = zarr_core.create_array(tmp_path / "ours", data=values, chunks=chunks, zarr_format="n5")
    theirs = read_by_tensorstore(tensorstore, tmp_path / "ours")
    assert same_bits(np.asarray(theirs.read().result()).T, values)
    assert array.chunks == chunks


def test_labels_of_tensorstore_are_names_of_dimensions(tensorstore, tmp_path):
    values = values_of("u1")
    written_by_tensorstore(
        tensorstore, tmp_path / "theirs", values, {"type": "raw"}, axes=["x", "y"]
    )
    array = zarr_core.open(tmp_path / "theirs")
    assert array.metadata.dimension_names == ("y", "x")
    assert array.attrs["axes"] == ["x", "y"]
    make(tmp_path / "ours", data=values, dimension_names=["y", None])
    assert read_by_tensorstore(tensorstore, tmp_path / "ours").domain.labels == ("", "y")


# --- zarr-python 2 ---

# One process writes all arrays, because starting the interpreter is slow.
WRITE = """
import lzma, sys, numcodecs, numpy as np, zarr
place, values, store, compressors, dtypes = sys.argv[1:]
values = np.load(values)
root = zarr.group(store=getattr(zarr, store)(place))
root.attrs["title"] = "top"
for name, compressor in eval(compressors).items():
    array = root.create_dataset("codecs/" + name, data=values, chunks=(3, 2), compressor=compressor)
    array.attrs.update(offset=[1, 2], name="é")
for dtype in eval(dtypes):
    root.create_dataset("types/" + dtype, data=values.astype(dtype), chunks=(3, 2))
"""
ZARR_DTYPES = [*DTYPES, "?", "f2"]


@pytest.fixture(scope="module")
def written_by_zarr(tmp_path_factory):
    """Hierarchies by class of store."""
    python = need("zarr2")
    folder = tmp_path_factory.mktemp("zarr2")
    np.save(folder / "values.npy", values_of("i4"))
    compressors = "{" + ", ".join(f"{key!r}: {code}" for key, code in WRITTEN_BY_ZARR.items()) + "}"
    for store in ("N5Store", "N5FSStore"):
        run(python, WRITE, folder / store, folder / "values.npy", store, compressors, ZARR_DTYPES)
    return folder


def test_zarr_python_data_is_read_and_changed(written_by_zarr):
    root = zarr_core.open(written_by_zarr / "N5Store")["codecs"]
    assert set(root) == set(WRITTEN_BY_ZARR)
    changed = values_of("i4")
    changed[1:, 1] = 77
    for name, array in root.items():
        assert same_bits(array[...], values_of("i4")), name
        array[1:, 1] = 77
        array.attrs["more"] = 1
    places = [("n5", written_by_zarr / "N5Store", f"codecs/{name}") for name in WRITTEN_BY_ZARR]
    for (_, _, path), answer in zip(places, read_all(need("zarr2"), places), strict=True):
        assert "error" not in answer, (path, answer)
        assert same_bits(answer["values"], changed), path
        assert answer["attributes"] == {"offset": [1, 2], "name": "é", "more": 1}


@pytest.mark.parametrize("dtype", ZARR_DTYPES)
def test_every_data_type_of_zarr_python_is_read(written_by_zarr, dtype):
    array = zarr_core.open(written_by_zarr / "N5FSStore", path=f"types/{dtype}")
    assert same_bits(array[...], values_of("i4").astype(dtype))


@pytest.mark.parametrize("store", ["N5Store", "N5FSStore"])
def test_a_hierarchy_of_zarr_python_is_read(written_by_zarr, store):
    root = zarr_core.open(written_by_zarr / store)
    assert dict(root.attrs) == {"title": "top"}
    assert set(root) == {"codecs", "types"}
    assert set(root["types"]) == set(ZARR_DTYPES)
    assert dict(root["codecs/raw"].attrs).items() >= {"offset": [1, 2], "name": "é"}.items()


def test_zarr_python_reads_what_we_wrote(tmp_path):
    python = need("zarr2")
    values = values_of("f8")
    lz4 = {"name": "n5.lz4", "configuration": {"acceleration": 1}}
    root = zarr_core.create_group(tmp_path / "many", zarr_format="n5", attributes={"title": "t"})
    root.create_group("empty")
    for name, codec in (CODECS | {"lz4": lz4}).items():
        options = {"chunks": CHUNKS, "compressors": codec, "attributes": {"unit": "m"}}
        root.create_array(f"codecs/{name}", data=values, **options)
    make(tmp_path / "one", data=values)
    paths = ["", *(f"codecs/{name}" for name in [*CODECS, "lz4"])]
    places = [*(("n5", tmp_path / "many", path) for path in paths), ("n5", tmp_path / "one", "")]
    top, *arrays, alone = read_all(python, places)
    assert top["attributes"] == {"title": "t"}
    assert set(top["children"]) >= {"empty"}
    for path, answer in zip(paths[1:], arrays, strict=True):
        assert "error" not in answer, (path, answer)
        assert same_bits(answer["values"], values), path
        assert answer["attributes"] == {"unit": "m"}
    assert same_bits(alone["values"], values)
