"""Codecs of numcodecs in version 3 with the configurations of zarr-python, in chains and within shards.

The table of test_extensions.py tests each of them in both directions.
"""

import warnings

import numpy as np
import pytest
import zarr
import zarr_core
from zarr_core.errors import CodecChainError

theirs = pytest.importorskip("zarr.codecs.numcodecs")

NUMBERS = np.cumsum(np.sin(np.arange(210)), dtype="f8").reshape(14, 15) * 100 + 1000
SHAPE, CHUNKS = (14, 15), (7, 5)

# dtype of the array; kind of codec; class of zarr-python; configuration.
CASES = [
    ("i4", "compressors", "Blosc", {}),
    ("f8", "compressors", "Blosc", {"cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0}),
    ("i4", "compressors", "LZ4", {}),
    ("i4", "compressors", "Zstd", {"level": 3}),
    ("i4", "compressors", "Zlib", {}),
    ("i4", "compressors", "Zlib", {"level": 9}),
    ("i4", "compressors", "GZip", {"level": 4}),
    ("i4", "compressors", "BZ2", {"level": 5}),
    ("i4", "compressors", "LZMA", {}),
    ("i4", "compressors", "LZMA", {"format": 1, "check": 4, "preset": 2, "filters": None}),
    ("i4", "compressors", "Shuffle", {}),
    ("f8", "compressors", "Shuffle", {"elementsize": 2}),
    ("i4", "compressors", "CRC32", {}),
    ("i4", "compressors", "CRC32", {"location": "end"}),
    ("i4", "compressors", "CRC32C", {}),
    ("i4", "compressors", "Adler32", {}),
    ("i4", "compressors", "Fletcher32", {}),
    ("i4", "compressors", "JenkinsLookup3", {}),
    ("i4", "compressors", "JenkinsLookup3", {"initval": 5}),
    ("i4", "filters", "Delta", {"dtype": "int32"}),
    ("i4", "filters", "Delta", {"dtype": "<i4", "astype": "<i2"}),
    ("f4", "filters", "BitRound", {"keepbits": 7}),
    ("f8", "filters", "FixedScaleOffset", {"offset": 900, "scale": 10, "astype": "u2"}),
    ("f8", "filters", "FixedScaleOffset", {"offset": 1.5, "scale": 0.5, "dtype": "f8"}),
    ("f8", "filters", "Quantize", {"digits": 2}),
    ("?", "filters", "PackBits", {}),
    ("f8", "filters", "AsType", {"encode_dtype": "f4", "decode_dtype": "f8"}),
    ("f8", "filters", "AsType", {"encode_dtype": "<i2"}),
    ("f8", "serializer", "PCodec", {}),
    ("i2", "serializer", "PCodec", {"level": 3, "mode_spec": "classic"}),
    ("f8", "serializer", "ZFPY", {"mode": 4, "tolerance": 0.01}),
    ("f4", "serializer", "ZFPY", {"mode": 2, "rate": 12}),
]
cases = pytest.mark.parametrize(("dtype", "part", "name", "configuration"), CASES, ids=str)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Numcodecs codecs are not in the Zarr version 3")
        warnings.filterwarnings("ignore", message=".* does not have a Zarr V3 specification")
        yield


def values_of(dtype):
    return NUMBERS > 1100 if dtype == "?" else NUMBERS.astype(dtype)


def written_by_zarr_python(path, dtype, part, name, configuration):
    codec = getattr(theirs, name)(**configuration)
    options = {"compressors": None} | {part: codec if part == "serializer" else [codec]}
    array = zarr.create_array(path, shape=SHAPE, chunks=CHUNKS, dtype=dtype, **options)
    array[...] = values_of(dtype)
    return array[...]


def chunks_of(path):
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in path.glob("c/**/*")
        if file.is_file()
    }


@cases
def test_reads_what_zarr_python_wrote(tmp_path, dtype, part, name, configuration):
    expected = written_by_zarr_python(tmp_path, dtype, part, name, configuration)
    found = zarr_core.open_array(tmp_path, mode="r")[...]
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


def test_several_at_once(tmp_path):
    array = zarr.create_array(
        tmp_path,
        shape=SHAPE,
        chunks=CHUNKS,
        dtype="f8",
        filters=[
            theirs.FixedScaleOffset(offset=1000, scale=10, dtype="f8", astype="i4"),
            theirs.Delta(dtype="i4", astype="i2"),
        ],
        compressors=[theirs.Shuffle(elementsize=2), theirs.Zlib(level=3), theirs.CRC32()],
    )
    array[...] = NUMBERS
    chunks = chunks_of(tmp_path)
    ours = zarr_core.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[...] = NUMBERS
    assert chunks_of(tmp_path) == chunks
    assert (ours[3:9, 1::2] == array[3:9, 1::2]).all()


def test_inside_of_shards(tmp_path):
    array = zarr.create_array(
        tmp_path,
        shape=SHAPE,
        chunks=(7, 5),
        shards=(14, 15),
        dtype="i4",
        filters=[theirs.Delta(dtype="i4")],
        compressors=[theirs.Zlib()],
    )
    array[:10] = NUMBERS[:10]
    ours = zarr_core.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[8:] = NUMBERS[8:].astype("i4")
    assert (zarr.open_array(tmp_path)[...] == NUMBERS.astype("i4")).all()


def test_delta_of_another_dtype_is_rejected(tmp_path):
    # zarr-python reads other numbers from these bytes.
    zarr.create_array(
        tmp_path, shape=SHAPE, chunks=CHUNKS, dtype="i4", filters=[theirs.Delta(dtype="i2")]
    )
    with pytest.raises(CodecChainError, match="configured for dtype int16"):
        zarr_core.open_array(tmp_path)
