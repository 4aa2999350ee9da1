"""Codecs that other distributions give to numcodecs, without a line of code for this library."""

import importlib
import json
import sys

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from zarr_codecs import foreign
from zarr_core.config import config
from zarr_core.errors import ExtensionConflictError, ExtensionLoadError, UnknownExtensionError
from zarr_core.extension import (
    ChunkDecodeError,
    CodecError,
    ExtensionConfigurationError,
    ExtensionDefinition,
    create_extension,
)
from zarr_core.registry import discovery

SOURCE = '''
import numpy as np
from numcodecs.abc import Codec

class Xor(Codec):
    codec_id = "far_xor"
    def __init__(self, key=90):
        self.key = key
    def encode(self, buf):
        return bytes(b ^ self.key for b in bytes(buf))
    def decode(self, buf, out=None):
        return self.encode(buf)

class Sum(Codec):
    """A checksum, which gives bytes in an array."""
    codec_id = "far_sum"
    def encode(self, buf):
        data = np.frombuffer(buf, np.uint8)
        return np.append(data, data.sum(dtype=np.uint8))
    def decode(self, buf, out=None):
        data = np.frombuffer(buf, np.uint8)
        if data[:-1].sum(dtype=np.uint8) != data[-1]:
            raise RuntimeError("the sum is wrong")
        return data[:-1]

class Negative(Codec):
    """A filter that converts elements to a configured type."""
    codec_id = "far_negative"
    def __init__(self, dtype="<i2"):
        self.dtype = np.dtype(dtype)
    def get_config(self):
        return {"id": self.codec_id, "dtype": self.dtype.str}
    def encode(self, buf):
        return -np.frombuffer(np.ascontiguousarray(buf), self.dtype).astype("f8")
    def decode(self, buf, out=None):
        return (-np.frombuffer(np.ascontiguousarray(buf), "f8")).astype(self.dtype)

class Picture(Codec):
    """Needs to see the shape, as pictures do."""
    codec_id = "far_picture"
    def encode(self, buf):
        height, width = buf.shape
        return bytes([height, width]) + buf.tobytes()
    def decode(self, buf, out=None):
        height, width = buf[:2]
        pixels = np.frombuffer(buf[2:], np.uint8)
        return pixels.reshape(height, width, -1)

class OneWay(Codec):
    """Reads only, into its own byte order."""
    codec_id = "far_one_way"
    def encode(self, buf):
        raise NotImplementedError
    def decode(self, buf, out=None):
        return np.frombuffer(buf, ">i2")

class Words(Codec):
    codec_id = "far_words"
    def encode(self, buf):
        return "\\n".join(np.asarray(buf, object).ravel()).encode()
    def decode(self, buf, out=None):
        return np.array(bytes(buf).decode().split("\\n"), object)

class Typed(Codec):
    """Needs arrays to decode, as codecs in WebAssembly do."""
    codec_id = "far_typed"
    def encode(self, buf):
        if np.asarray(buf).dtype.kind == "S":
            raise TypeError(f"unsupported dtype {np.asarray(buf).dtype}")
        return np.asarray(buf).tobytes()[::-1]
    def decode(self, buf, out=None):
        if np.asarray(buf).dtype != "u1":
            raise TypeError(f"unsupported dtype {np.asarray(buf).dtype}")
        return buf[::-1]

class Ordered(Codec):
    """Needs arrays of a configured type, with its byte order."""
    codec_id = "far_ordered"
    def __init__(self, dtype):
        self.dtype = dtype
    def encode(self, buf):
        if np.asarray(buf).dtype != self.dtype:
            raise TypeError(f"{np.asarray(buf).dtype} is not {self.dtype}")
        return np.asarray(buf).tobytes()
    def decode(self, buf, out=None):
        return np.frombuffer(buf, self.dtype)

class Pickle(Xor):
    codec_id = "pickle"
'''
NAMES = {
    "far_xor": "Xor", "far_sum": "Sum", "far_negative": "Negative", "far_picture": "Picture",
    "far_one_way": "OneWay", "far_words": "Words", "far_typed": "Typed", "pickle": "Pickle", "zlib": "Xor",
    "far_twice": "Sum", "far_broken": "Nobody", "far_function": "np.array", "far_ordered": "Ordered",
}  # fmt: skip


def distribution(site, name, lines):
    info = site / f"{name.replace('-', '_')}-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    text = "\n".join(f"{key} = {target}" for key, target in lines.items())
    (info / "entry_points.txt").write_text(f"[numcodecs.codecs]\n{text}\n")


@pytest.fixture
def far(tmp_path, monkeypatch):
    """Two distributions that know numcodecs only."""
    (tmp_path / "far_codecs.py").write_text(SOURCE)
    distribution(tmp_path, "far-codecs", {k: f"far_codecs:{v}" for k, v in NAMES.items()})
    distribution(tmp_path, "near-codecs", {"far_twice": "far_codecs:Xor"})
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    discovery.refresh()
    yield
    sys.modules.pop("far_codecs", None)
    monkeypatch.undo()
    discovery.refresh()
    for name in NAMES.keys() - {"zlib", "pickle"}:
        numcodecs.registry.codec_registry.pop(name, None)
    numcodecs.registry.run_entrypoints()


def make(name, **configuration):
    return create_extension("codec", ExtensionDefinition(f"numcodecs.{name}", configuration))


VALUES = np.arange(-30, 30, dtype="int16").reshape(6, 10)


@pytest.mark.parametrize(
    "codecs",
    [
        {"compressors": [{"name": "numcodecs.far_xor", "configuration": {"key": 7}}]},
        {"compressors": ["numcodecs.far_sum", "numcodecs.base64"]},
        {"filters": [{"name": "numcodecs.far_negative", "configuration": {"dtype": "<i2"}}]},
        {"serializer": "numcodecs.far_picture"},
    ],
    ids=str,
)
def test_arrays_of_version_3(far, tmp_path, codecs):
    array = zarr.create_array(
        tmp_path / "a.zarr", data=VALUES, chunks=(4, 4), **{"compressors": None, **codecs}
    )
    assert np.array_equal(array[...], VALUES)
    again = zarr.open_array(tmp_path / "a.zarr")
    assert np.array_equal(again[...], VALUES)
    again[1:3, 2:5] = 77
    assert (zarr.open_array(tmp_path / "a.zarr")[1:3, 2:5] == 77).all()


def test_defaults_are_written_to_metadata(far, tmp_path):
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=4, dtype="int8", compressors="numcodecs.far_xor"
    )
    assert array.metadata.codecs[-1].configuration == {"key": 90}


def test_one_that_only_decodes(far):
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=3, dtype="int16", serializer="numcodecs.far_one_way", compressors=None
    )
    store.set("c/0", np.array([1, -2, 300], ">i2").tobytes())
    assert list(array[:]) == [1, -2, 300]
    with pytest.raises(CodecError, match=r"numcodecs\.far_one_way.*NotImplementedError"):
        array[:] = 1


def test_objects(far):
    array = zarr.create_array(
        shape=4, dtype="string", serializer="numcodecs.far_words", compressors=None
    )
    array[:] = ["a", "bc", "", "d"]
    assert list(array[:]) == ["a", "bc", "", "d"]


def test_damage_is_an_error_of_the_chunk(far):
    store = zarr.MemoryStore()
    array = zarr.create_array(store, data=VALUES, chunks=(6, 10), compressors=["numcodecs.far_sum"])
    store.set("c/0/0", store.get("c/0/0")[:-1] + b"?")
    with pytest.raises(ChunkDecodeError, match=r"numcodecs\.far_sum.*the sum is wrong"):
        array[...]


@pytest.mark.parametrize("name", ["far_picture", "far_one_way", "far_words"])
def test_chunks_of_another_size_are_rejected(far, name):
    store = zarr.MemoryStore()
    dtype = "string" if name == "far_words" else "int16"
    array = zarr.create_array(
        store, shape=(2, 2), dtype=dtype, serializer=f"numcodecs.{name}", compressors=None
    )
    store.set("c/0/0", b"\2\2aaaa" + b"b" * 60)
    with pytest.raises(ChunkDecodeError, match=r"decodes to \d+ (bytes|elements) instead of \d"):
        array[...]


def test_filters_that_do_not_support_the_elements_raise_at_creation(far):
    negative = {"name": "numcodecs.far_negative", "configuration": {"dtype": "<i8"}}
    with pytest.raises(ValueError, match="cannot encode a chunk"):
        zarr.create_array(shape=3, chunks=3, dtype="int16", filters=negative)


def in_version_2(filters, compressor):
    document = {
        "zarr_format": 2, "shape": [6, 10], "chunks": [4, 4], "dtype": "<i2", "fill_value": 0,
        "order": "C", "filters": filters, "compressor": compressor,
    }  # fmt: skip
    store = zarr.MemoryStore()
    store.set(".zarray", json.dumps(document).encode())
    return zarr.open_array(store)


@pytest.mark.parametrize(
    ("filters", "compressor"),
    [
        (None, {"id": "far_xor", "key": 5}),
        ([{"id": "far_negative", "dtype": "<i2"}], None),
        ([{"id": "far_negative", "dtype": "<i2"}, {"id": "base64"}], {"id": "far_sum"}),
        (None, {"id": "far_picture"}),
    ],
    ids=str,
)
def test_in_version_2_by_its_id(far, filters, compressor):
    array = in_version_2(filters, compressor)
    array[...] = VALUES
    assert np.array_equal(array[...], VALUES)
    encoded = np.zeros((4, 4), "<i2")
    encoded[:, :2] = VALUES[:4, 8:]
    numcodecs.registry.run_entrypoints()
    for codec in (*(filters or ()), *([compressor] if compressor else ())):
        encoded = numcodecs.get_codec(codec).encode(encoded)
    assert array.store.get("0.2") == bytes(encoded)


@pytest.mark.parametrize("form", ["object", "list", "configuration", "name"])
@pytest.mark.parametrize("identifier", ["far_picture", "far_typed", "far_negative"])
def test_compressor_of_arrays_in_version_2(far, identifier, form):
    numcodecs.registry.run_entrypoints()
    codec = numcodecs.get_codec({"id": identifier})
    compressors = {
        "object": codec,
        "list": [codec],
        "configuration": codec.get_config(),
        "name": f"numcodecs.{identifier}",
    }[form]
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, data=VALUES, chunks=(4, 4), zarr_format=2, compressors=compressors
    )
    assert json.loads(bytes(store.get(".zarray")))["compressor"] == codec.get_config()
    assert np.array_equal(zarr.open_array(store)[...], VALUES)
    array[1:3] = 9
    assert (zarr.open_array(store, mode="a")[1:3] == 9).all()
    plain = zarr.create_array(data=VALUES, chunks=(4, 4))
    copy = zarr.MemoryStore()
    zarr.copy(plain, copy, zarr_format=2, compressors=compressors)
    assert json.loads(bytes(copy.get(".zarray")))["compressor"] == codec.get_config()
    assert np.array_equal(zarr.open_array(copy)[...], VALUES)


@pytest.mark.parametrize("place", ["filters", "compressors"])
@pytest.mark.parametrize("dtype", [">i2", "<i2", ">f8", ">M8[s]"])
def test_byte_order_that_a_codec_requires_in_version_2(far, dtype, place):
    numcodecs.registry.run_entrypoints()
    codecs = {place: [numcodecs.get_codec({"id": "far_ordered", "dtype": dtype})]}
    values = VALUES.astype(dtype)
    options = {"chunks": VALUES.shape, "zarr_format": 2, "compressors": None, **codecs}
    store = zarr.MemoryStore()
    zarr.create_array(store, shape=VALUES.shape, dtype=dtype, **options)[...] = values
    assert json.loads(bytes(store.get(".zarray")))["dtype"] == dtype
    assert store.get("0.0") == values.tobytes()
    assert np.array_equal(zarr.open_array(store)[...], values)


@pytest.mark.parametrize("place", ["serializer", "compressors"])
def test_decoder_that_needs_arrays(far, place):
    options = {"compressors": None, place: "numcodecs.far_typed"}
    store = zarr.MemoryStore()
    zarr.create_array(store, data=VALUES, chunks=(4, 4), **options)
    assert np.array_equal(zarr.open_array(store)[...], VALUES)


def test_two_distributions_of_one_id_are_in_conflict(far):
    both = r"far-codecs 1\.5.*near-codecs 1\.5"
    with pytest.raises(ExtensionConflictError, match=both):
        make("far_twice")
    with pytest.raises(ExtensionConflictError, match=both):
        in_version_2(None, {"id": "far_twice"})
    with config.set(providers={"codec.numcodecs.far_twice": "near-codecs"}):
        array = in_version_2(None, {"id": "far_twice"})
        array[...] = VALUES
    assert array.store.get("0.0")[0] == VALUES.astype("<i2").tobytes()[0] ^ 90


def test_pickle_is_not_available_by_default(far):
    with pytest.raises(UnknownExtensionError, match="can execute arbitrary code"):
        make("pickle")
    with pytest.raises(UnknownExtensionError, match="can execute arbitrary code"):
        create_extension(
            "codec",
            ExtensionDefinition("v2.filters", {"dtype": "|O", "codecs": [{"id": "pickle"}]}),
        )


def test_own_codecs_are_not_replaced(far):
    assert type(make("zlib", level=1)).__module__ == "zarr_codecs.zlib"
    assert type(make("delta", dtype="<i4")).__module__ == "zarr_codecs.delta"


def test_errors_name_the_codec(far):
    with pytest.raises(ExtensionConfigurationError, match=r"(?s)numcodecs\.far_xor.*'lock'"):
        make("far_xor", lock=1)
    for name, reason in (("far_broken", "Nobody"), ("far_function", "from_config")):
        with pytest.raises(ExtensionLoadError, match=rf"far-codecs 1\.5.*{reason}"):
            make(name)


def test_listing_imports_nothing(far):
    offered = {provider.name: str(provider) for provider in foreign.zarr_list_extensions()}
    assert offered["numcodecs.far_xor"] == "far-codecs 1.5 (far_codecs:Xor)"
    assert "far_codecs" not in sys.modules
    lines = {(x.name, x.distribution): x for x in zarr.installed_extensions(load=False)}
    assert lines["numcodecs.far_xor", "far-codecs"].wins
    assert ("numcodecs.pickle", "far-codecs") not in lines


def test_every_codec_of_numcodecs_itself_has_a_name():
    from numcodecs.registry import codec_registry

    ours = {"vlen-utf8", "vlen-bytes"}
    names = {line.name for line in zarr.installed_extensions(load=False)}
    builtin = {
        identifier
        for identifier, library in codec_registry.items()
        if library.__module__.startswith("numcodecs.")
    }
    missing = {name for name in builtin - ours if f"numcodecs.{name}" not in names}
    assert missing == {"pickle"}
