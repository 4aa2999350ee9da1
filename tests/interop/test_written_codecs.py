"""Codecs of numcodecs in version 3: zarr-python opens every array with one that it knows; chains."""

import json

import numpy as np
import pytest
import zarr as zarr_python
import zarr_core as zarr
from zarr_core.errors import CodecChainError, ZarrError
from zarr_core.registry.discovery import usable_names as extension_names

NAMES = sorted(name for name in extension_names("codec") if name.startswith("numcodecs."))
DTYPES = ["?", "<i4", ">i8", "f8", "c8"]
# zarr-python 3 has no class for them, or only with parameters that have no default.
UNKNOWN = {"numcodecs.categorize", "numcodecs.json2", "numcodecs.msgpack2", "numcodecs.pickle"}
PARAMETERS = {
    "astype": {"encode_dtype": "<f4", "decode_dtype": "<f8"},
    "delta": {"dtype": "<i4"},
    "fixedscaleoffset": {"offset": 0, "scale": 1, "dtype": "<f8"},
    "quantize": {"digits": 3, "dtype": "<f8"},
    "bitround": {"keepbits": 5},
}


def created(name, dtype):
    """Arrays that use a codec as a filter or compressor, each created in another way."""
    parameters = PARAMETERS.get(name.partition(".")[2], {})
    codec = zarr.codec(name, **parameters) if parameters else name
    values = np.ones(8, dtype)
    for options in (
        {"filters": [codec], "compressors": None},
        {"compressors": [codec]},
        {"serializer": codec, "compressors": None},
        {"compressors": [codec], "chunks": 4, "shards": 8},
        {"filters": [codec], "compressors": None, "chunks": 4, "shards": 8},
    ):
        store = zarr.MemoryStore()
        try:
            zarr.create_array(store, data=values, **options)
        except (ZarrError, ValueError, TypeError):
            continue
        yield store, values


def documents(value):
    """Every definition of a codec of numcodecs in a document."""
    if isinstance(value, dict):
        if str(value.get("name", "")).startswith("numcodecs."):
            yield value
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from documents(item)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")  # that codecs are not in the specification
def test_zarr_python_reads_arrays_with_the_codec(name, dtype, tmp_path):
    for number, (store, values) in enumerate(created(name, dtype)):
        found = list(documents(json.loads(bytes(store.get("zarr.json")))))
        assert found
        assert all("configuration" in item for item in found)
        if name in UNKNOWN:
            continue
        place = tmp_path / str(number)
        zarr.copy_store(store, zarr.LocalStore(place))
        theirs = zarr_python.open_array(place, mode="r")
        np.testing.assert_array_equal(theirs[...], values)


@pytest.mark.parametrize("name", ["packbits", "fletcher32", "jenkins_lookup3"])
@pytest.mark.filterwarnings("ignore")
def test_converted_arrays_of_version_2(name, tmp_path):
    numcodecs = pytest.importorskip("numcodecs")
    codec = numcodecs.get_codec({"id": name})
    values = np.ones(8, "?" if name == "packbits" else "u4")
    zarr.create_array(tmp_path / "2", data=values, filters=[codec], zarr_format=2)
    zarr.convert(tmp_path / "2", tmp_path / "3", zarr_format=3)
    np.testing.assert_array_equal(zarr_python.open_array(tmp_path / "3", mode="r")[...], values)


def test_a_document_without_configuration_is_kept():
    store = zarr.MemoryStore()
    zarr.create_array(store, data=np.ones(4, "u2"), compressors="numcodecs.fletcher32")
    document = json.loads(bytes(store.get("zarr.json")))
    del document["codecs"][1]["configuration"]
    store.set("zarr.json", json.dumps(document).encode())
    zarr.open(store, mode="r+").attrs["units"] = "m"
    again = json.loads(bytes(store.get("zarr.json")))
    assert again["codecs"] == document["codecs"]


# --- what zarr-python writes, in chains and within shards ---


NUMBERS = np.cumsum(np.sin(np.arange(210)), dtype="f8").reshape(14, 15) * 100 + 1000
LAYOUT = {"shape": (14, 15), "chunks": (7, 5)}


@pytest.fixture
def theirs():
    return pytest.importorskip("zarr.codecs.numcodecs")


def chunks_of(path):
    files = [file for file in path.glob("c/**/*") if file.is_file()]
    return {str(file.relative_to(path)): file.read_bytes() for file in files}


@pytest.mark.filterwarnings("ignore")
def test_several_at_once(theirs, tmp_path):
    filters = [
        theirs.FixedScaleOffset(offset=1000, scale=10, dtype="f8", astype="i4"),
        theirs.Delta(dtype="i4", astype="i2"),
    ]
    compressors = [theirs.Shuffle(elementsize=2), theirs.Zlib(level=3), theirs.CRC32()]
    array = zarr_python.create_array(
        tmp_path, dtype="f8", filters=filters, compressors=compressors, **LAYOUT
    )
    array[...] = NUMBERS
    chunks = chunks_of(tmp_path)
    ours = zarr.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[...] = NUMBERS
    assert chunks_of(tmp_path) == chunks
    assert (ours[3:9, 1::2] == array[3:9, 1::2]).all()


@pytest.mark.filterwarnings("ignore")
def test_inside_of_shards(theirs, tmp_path):
    filters, compressors = [theirs.Delta(dtype="i4")], [theirs.Zlib()]
    array = zarr_python.create_array(
        tmp_path, dtype="i4", shards=(14, 15), filters=filters, compressors=compressors, **LAYOUT
    )
    array[:10] = NUMBERS[:10]
    ours = zarr.open_array(tmp_path, mode="r+")
    assert (ours[...] == array[...]).all()
    ours[8:] = NUMBERS[8:].astype("i4")
    assert (zarr_python.open_array(tmp_path)[...] == NUMBERS.astype("i4")).all()


@pytest.mark.filterwarnings("ignore")
def test_delta_of_another_dtype_is_rejected(theirs, tmp_path):
    # zarr-python reads other numbers from these bytes.
    zarr_python.create_array(tmp_path, dtype="i4", filters=[theirs.Delta(dtype="i2")], **LAYOUT)
    with pytest.raises(CodecChainError, match="configured for dtype int16"):
        zarr.open_array(tmp_path)
