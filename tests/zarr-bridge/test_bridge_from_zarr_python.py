"""Extensions for zarr-python are used without changes."""

import importlib
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
import zarr as zarr_python
import zarr_core as zarr
from example_distributions import write_distribution
from zarr_bridge.hooks import zarr_supply_extension
from zarr_core.config import config
from zarr_core.errors import (
    ChunkDecodeError,
    CodecError,
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionLoadError,
)
from zarr_core.extension import ArrayRepresentation, ExtensionDefinition, create_extension
from zarr_core.registry import discovery

SOURCE = '''
import asyncio
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarr.core.chunk_key_encodings import ChunkKeyEncoding
from zarr.core.common import parse_named_configuration
from zarr.dtype import Int16, Int32, parse_dtype


def data(cls, data):
    _, configuration = parse_named_configuration(data, require_configuration=False)
    return cls(**(configuration or {}))


@dataclass(frozen=True)
class Xor(BytesBytesCodec):
    """Waits, as codecs of zarr-python do."""
    key: int = 90
    is_fixed_size = True
    from_dict = classmethod(data)
    def to_dict(self):
        return {"name": "far-xor", "configuration": {"key": self.key}}
    def compute_encoded_size(self, size, spec):
        return size
    async def _encode_single(self, data, spec):
        await asyncio.sleep(0)
        return spec.prototype.buffer.from_bytes(bytes(b ^ self.key for b in data.to_bytes()))
    async def _decode_single(self, data, spec):
        return await self._encode_single(data, spec)


@dataclass(frozen=True)
class Direct(BytesBytesCodec):
    """Has methods without waiting, as since zarr-python 3.2; the others are never called."""
    key: int | None = None
    from_dict = classmethod(data)
    def to_dict(self):
        return {"name": "far-direct", "configuration": {"key": self.key}}
    def compute_encoded_size(self, size, spec):
        return size
    def evolve_from_array_spec(self, spec):
        return self if self.key is not None else replace(self, key=spec.dtype.item_size)
    def _encode_sync(self, data, spec):
        return spec.prototype.buffer.from_bytes(bytes(b ^ self.key for b in data.to_bytes()))
    _decode_sync = _encode_sync


@dataclass(frozen=True)
class Halves(ArrayArrayCodec):
    """Another shape, another data type."""
    from_dict = classmethod(data)
    def to_dict(self):
        return {"name": "far-halves"}
    def compute_encoded_size(self, size, spec):
        return size
    def validate(self, *, shape, dtype, chunk_grid):
        if not isinstance(dtype, Int32):
            raise ValueError("only int32 has halves")
        assert len(chunk_grid.chunk_shape) == len(shape)
    def resolve_metadata(self, spec):
        return replace(spec, shape=(*spec.shape, 2), dtype=Int16(), fill_value=np.int16(0))
    async def _encode_single(self, data, spec):
        assert spec.fill_value == 7
        array = data.as_numpy_array().reshape(spec.shape)
        halves = array.view("i2").reshape(*array.shape, 2)
        return spec.prototype.nd_buffer.from_numpy_array(halves)
    async def _decode_single(self, data, spec):
        array = np.ascontiguousarray(data.as_numpy_array()).view("i4").reshape(spec.shape)
        return spec.prototype.nd_buffer.from_numpy_array(array)


@dataclass(frozen=True)
class Backwards(ArrayBytesCodec):
    from_dict = classmethod(data)
    def to_dict(self):
        return {"name": "far-backwards", "configuration": {}}
    def compute_encoded_size(self, size, spec):
        return size
    async def _encode_single(self, data, spec):
        array = data.as_numpy_array()
        if (array == spec.fill_value).all() and not spec.config.write_empty_chunks:
            return None
        array[...] = array[::-1].copy()  # the memory is its own
        return spec.prototype.buffer.from_bytes(array.tobytes())
    async def _decode_single(self, data, spec):
        array = np.frombuffer(data.to_bytes(), spec.dtype.to_native_dtype())
        return spec.prototype.nd_buffer.from_numpy_array(array.reshape(spec.shape)[::-1])


class Loud(Int16):
    """A data type of another name."""
    _zarr_v3_name = "far-int16"
    @classmethod
    def _check_json_v3(cls, data):
        return data == "far-int16"
    @classmethod
    def _from_json_v3(cls, data):
        if not cls._check_json_v3(data):
            raise ValueError(f"{data!r} is not far-int16")
        return cls()
    def to_json(self, zarr_format):
        return "far-int16"


@dataclass(frozen=True)
class Rows(ChunkKeyEncoding):
    name: ClassVar[str] = "far-rows"
    prefix: str = "row"
    def encode_chunk_key(self, chunk_coords):
        return f"{self.prefix}-" + "_".join(f"{n:03}" for n in reversed(chunk_coords))


@dataclass(frozen=True)
class Reversed(BytesBytesCodec):
    """Reverses the bytes of each element, and adds the shape; waits like a service."""
    name: str = "near-reversed"
    is_fixed_size = False
    def _head(self, spec):
        return np.array(spec.shape, "<u4").tobytes()
    async def _encode_single(self, data, spec):
        await asyncio.sleep(0.02)
        size = spec.dtype.to_native_dtype().itemsize
        turned = data.as_numpy_array().view("u1").reshape(-1, size)[:, ::-1].tobytes()
        return spec.prototype.buffer.from_bytes(self._head(spec) + turned)
    async def _decode_single(self, data, spec):
        await asyncio.sleep(0.02)
        head, size = self._head(spec), spec.dtype.to_native_dtype().itemsize
        content = data.to_bytes()
        assert content[: len(head)] == head
        turned = np.frombuffer(content[len(head) :], "u1").reshape(-1, size)[:, ::-1]
        return spec.prototype.buffer.from_bytes(turned.tobytes())


@dataclass(frozen=True)
class Plain(ArrayBytesCodec):
    """Returns an array of NumPy, which zarr-python accepts."""
    name: str = "near-plain"
    is_fixed_size = True
    async def _encode_single(self, data, spec):
        return spec.prototype.buffer.from_bytes(data.as_numpy_array().tobytes())
    async def _decode_single(self, data, spec):
        dtype = spec.dtype.to_native_dtype()
        return np.frombuffer(data.to_bytes(), dtype).reshape(spec.shape).copy()
'''
ENTRY_POINTS = """
[zarr.codecs]
far-xor = far_zarr:Xor
far-direct = far_zarr:Direct
far-halves = far_zarr:Halves
far-backwards = far_zarr:Backwards
far-broken = far_broken:Xor
far-wrong = far_zarr:Rows
far-twice = far_zarr:Xor
gzip = far_zarr:Xor
near-reversed = far_zarr:Reversed
near-plain = far_zarr:Plain
[zarr.codecs.far-many]
one = far_zarr:Xor
[zarr.data_type]
far-int16 = far_zarr:Loud
far-wrong = far_zarr:Rows
[zarr.chunk_key_encoding]
far-rows = far_zarr:Rows
far-wrong = far_zarr:Xor
"""


@pytest.fixture(autouse=True)
def far(tmp_path, monkeypatch):
    """Two distributions that know zarr-python only."""
    site = tmp_path / "site"
    texts = {"far-zarr": ENTRY_POINTS, "near-zarr": "[zarr.codecs]\nfar-twice = far_zarr:Direct\n"}
    for name, text in texts.items():
        write_distribution(site, name, "1.5", text)
    (site / "far_zarr.py").write_text(SOURCE)
    (site / "far_broken.py").write_text("raise SystemExit('no licence')")
    monkeypatch.syspath_prepend(str(site))
    importlib.invalidate_caches()
    discovery.refresh()
    yield
    sys.modules.pop("far_zarr", None)
    monkeypatch.undo()
    discovery.refresh()


VALUES = np.arange(-30, 30, dtype="int32").reshape(6, 10) * 70_001


@pytest.mark.parametrize(
    "codecs",
    [
        {"compressors": "far-xor"},
        {"compressors": [{"name": "far-xor", "configuration": {"key": 1}}, "crc32c", "far-direct"]},
        {"filters": "far-halves"},
        {"serializer": "far-backwards"},
        {"filters": "far-halves", "serializer": "far-backwards", "compressors": "far-many"},
        {"compressors": "far-xor", "shards": (8, 8)},
    ],
    ids=str,
)
def test_codecs(codecs, tmp_path):
    place = tmp_path / "a.zarr"
    options = {"compressors": None, "fill_value": 7, "chunks": (4, 4), **codecs}
    array = zarr.create_array(place, data=VALUES, **options)
    assert np.array_equal(array[...], VALUES)
    again = zarr.open_array(place)
    assert np.array_equal(again[...], VALUES)
    again[2:5, 3:9] = 5
    expected = VALUES.copy()
    expected[2:5, 3:9] = 5
    assert np.array_equal(zarr.open_array(place)[...], expected)


def test_chunks_of_many_shapes():
    """Chunks have several shapes in a rectilinear grid."""
    codec = create_extension("codec", ExtensionDefinition("far-halves"))
    int32 = create_extension("data_type", ExtensionDefinition("int32"))
    chunks = [
        ArrayRepresentation((length,), int32, np.array(7, "int32")) for length in range(1, 200)
    ]
    for chunk in chunks:
        codec.encoded_representation(chunk)
    for chunk in chunks:
        values = np.arange(chunk.size, dtype="int32")
        assert np.array_equal(codec.decode(codec.encode(values, chunk), chunk), values)


def test_written_bytes_equal_those_of_zarr_python(tmp_path):
    theirs = importlib.import_module("far_zarr")
    zarr_python.registry.register_codec("far-xor", theirs.Xor)
    zarr_python.registry.register_codec("far-halves", theirs.Halves)
    zarr_python.registry.register_codec("far-backwards", theirs.Backwards)
    options = {"shape": (6, 10), "chunks": (4, 4), "dtype": "int32", "fill_value": 7}
    codecs = {
        "filters": [{"name": "far-halves"}],
        "serializer": {"name": "far-backwards"},
        "compressors": [{"name": "far-xor", "configuration": {"key": 3}}],
    }
    ours = zarr.create_array(tmp_path / "ours.zarr", **options, **codecs)
    ours[...] = VALUES
    again = zarr_python.open_array(tmp_path / "ours.zarr")
    assert np.array_equal(again[...], VALUES)
    again[...] = VALUES + 1
    assert np.array_equal(zarr.open_array(tmp_path / "ours.zarr")[...], VALUES + 1)


def test_codec_receives_array_spec_when_array_is_created():
    array = zarr.create_array(shape=4, dtype="int32", compressors="far-direct")
    assert array.metadata.codecs[-1] == ExtensionDefinition("far-direct", {"key": 4})


def test_chunks_that_need_not_be_stored_are_not():
    store = zarr.MemoryStore()
    options = {"serializer": "far-backwards", "compressors": None, "fill_value": 0}
    array = zarr.create_array(store, shape=8, chunks=4, dtype="int32", **options)
    array[:] = [0, 0, 0, 0, 1, 0, 0, 0]
    assert [key for key in store.list() if key.startswith("c/")] == ["c/1"]
    assert list(array[:]) == [0, 0, 0, 0, 1, 0, 0, 0]


def test_unsupported_chunks_raise_at_creation():
    with pytest.raises(ValueError, match=r"far-halves.*only int32 has halves"):
        zarr.create_array(shape=4, dtype="float32", filters="far-halves", compressors=None)


def test_the_input_of_a_codec_is_not_changed():
    values = VALUES.copy()
    zarr.create_array(data=values, serializer="far-backwards", compressors=None)
    assert np.array_equal(values, VALUES)


def test_damage_is_an_error_of_the_chunk():
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, shape=(6, 10), dtype="int32", serializer="far-backwards", compressors=None
    )
    store.set("c/0/0", b"12345")
    with pytest.raises(ChunkDecodeError, match="far-backwards"):
        array[...]


def test_data_types(tmp_path):
    place = tmp_path / "a.zarr"
    array = zarr.create_array(
        place, shape=(5,), chunks=2, dtype="far-int16", fill_value=-3, compressors="gzip"
    )
    array[1:4] = [1, -2, 300]
    again = zarr.open_array(place)
    assert again.metadata.data_type.to_json() == "far-int16"
    assert again.dtype == np.dtype("int16")
    assert list(again[:]) == [-3, 1, -2, 300, -3]
    assert again.fill_value == -3
    assert again.metadata.fill_value == -3
    with pytest.raises(ValueError, match="fill_value"):
        zarr.create_array(shape=1, dtype="far-int16", fill_value="x")


def test_byte_order_of_other_serializers():
    array = zarr.create_array(
        data=VALUES, chunks=(3, 4), fill_value=7, filters="far-halves", compressors="far-xor"
    )
    assert np.array_equal(array[1:3, ::3], VALUES[1:3, ::3])


def test_chunk_key_encodings(tmp_path):
    place = tmp_path / "a.zarr"
    encoding = {"name": "far-rows", "configuration": {"prefix": "x"}}
    array = zarr.create_array(place, data=VALUES, chunks=(4, 4), chunk_key_encoding=encoding)
    assert (place / "x-002_001").is_file()
    again = zarr.open_array(place)
    assert np.array_equal(again[...], VALUES)
    assert again.nchunks_initialized == 6
    again.resize((4, 4))
    assert [file.name for file in place.iterdir() if file.name != "zarr.json"] == ["x-000_000"]
    assert array.metadata.chunk_key_encoding.configuration == {"prefix": "x"}


@pytest.mark.parametrize(
    ("key", "chunk"),
    [("row-002_001", (1, 2)), ("row-2_1", None), ("row-2", None), ("zarr.json", None), ("", None)],
)
def test_keys_are_decoded_by_trying(key, chunk):
    encoding = create_extension("chunk_key_encoding", ExtensionDefinition("far-rows"))
    assert encoding.decode(key, 2) == chunk
    assert encoding == create_extension("chunk_key_encoding", encoding.to_definition())


def test_two_distributions_of_one_name_are_in_conflict():
    with pytest.raises(ExtensionConflictError, match=r"far-zarr 1\.5 .*; near-zarr 1\.5 "):
        zarr.create_array(shape=4, compressors="far-twice")
    with config.set(providers={"codec.far-twice": "near-zarr"}):
        array = zarr.create_array(shape=4, dtype="int32", compressors="far-twice")
    assert array.metadata.codecs[-1].configuration == {"key": 4}


def test_own_codecs_are_not_replaced():
    array = zarr.create_array(shape=4, compressors="gzip")
    assert type(array.compressors[0]).__module__ == "zarr_codecs.gzip"


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("codec", "far-broken", "SystemExit: no licence"),
        ("codec", "far-wrong", "not a subclass of a codec class"),
        ("data_type", "far-wrong", "not a subclass of zarr.dtype.ZDType"),
        ("chunk_key_encoding", "far-wrong", "not a subclass of ChunkKeyEncoding"),
    ],
)
def test_errors_name_the_distribution(kind, name, reason):
    with pytest.raises(ExtensionLoadError, match=rf"far-zarr 1\.5.*{reason}"):
        create_extension(kind, ExtensionDefinition(name))


def test_invalid_configuration_raises():
    with pytest.raises(ExtensionConfigurationError, match=r"(?s)far-xor.*'lock'"):
        create_extension("codec", ExtensionDefinition("far-xor", {"lock": 1}))


def test_encode_error_names_the_codec():
    array = zarr.create_array(
        shape=4, dtype="int32", compressors={"name": "far-xor", "configuration": {"key": 300}}
    )
    with pytest.raises(CodecError, match="far-xor"):
        array[:] = 1


def test_arrays_pickle_to_other_processes(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", data=VALUES, fill_value=7, filters="far-halves")
    assert np.array_equal(pickle.loads(pickle.dumps(array))[...], VALUES)


def test_they_are_listed_without_being_imported():
    lines = {
        (x.extension_point, x.name, x.distribution): x
        for x in zarr.installed_extensions(load=False)
    }
    for kind, name in (("codec", "far-many"), ("data_type", "far-int16")):
        assert lines[kind, name, "far-zarr"].wins
    assert not lines["codec", "far-twice", "far-zarr"].wins
    assert not lines["codec", "gzip", "far-zarr"].wins
    assert "far_zarr" not in sys.modules


def test_zarr_python_is_imported_on_first_use():
    code = (
        "import sys, zarr_core as zarr\n"
        "zarr.create_array(shape=4, compressors='gzip')[:] = 1\n"
        "try: zarr.create_array(shape=4, compressors='nobody-has-it')\n"
        "except LookupError: pass\n"
        "assert 'zarr_bridge.hooks' in sys.modules\n"
        "assert not {'zarr', 'asyncio', 'zarr_bridge.codecs'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def near(far):
    """Codecs that inherit from_dict and to_dict, also registered with zarr-python."""
    module = importlib.import_module("far_zarr")
    zarr_python.registry.register_codec("near-reversed", module.Reversed)
    zarr_python.registry.register_codec("near-plain", module.Plain)


REVERSED = {"name": "near-reversed"}
NARROW = {
    "name": "numcodecs.astype",
    "configuration": {"encode_dtype": "<i2", "decode_dtype": "<i8"},
}
CHUNK_SPECS = {
    "chunks": {"chunks": (3, 4)},
    "shards": {"chunks": (3, 4), "shards": (6, 8)},
    "transposed": {"chunks": (3, 4), "filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}]},
    "other data type": {"chunks": (3, 4), "filters": [NARROW]},
}  # fmt: skip


@pytest.mark.usefixtures("near")
@pytest.mark.filterwarnings("ignore:Numcodecs codecs")
@pytest.mark.parametrize("layout", CHUNK_SPECS)
def test_bytes_codec_receives_the_spec_of_the_chunk(tmp_path, layout):
    values = np.arange(7 * 9, dtype="int64").reshape(7, 9)
    options = {"shape": values.shape, "dtype": "int64", "compressors": [REVERSED], "fill_value": -1}
    written = {}
    for name, library in (("ours", zarr), ("theirs", zarr_python)):
        library.create_array(tmp_path / name, **options, **CHUNK_SPECS[layout])[...] = values
        chunks = sorted((tmp_path / name / "c").rglob("*"))
        written[name] = {str(it.relative_to(tmp_path / name)): it.read_bytes() for it in chunks if it.is_file()}  # fmt: skip
    if layout != "shards":
        assert written["ours"] == written["theirs"]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "theirs")[...], values)
    np.testing.assert_array_equal(zarr_python.open_array(tmp_path / "ours", mode="r")[...], values)


@pytest.mark.usefixtures("near")
def test_bytes_codec_inside_the_conditional_codec_receives_the_spec():
    from zarr_codecs.conditional import ConditionalCodec

    kind = ConditionalCodec.deciding("always_apply")
    store = zarr.MemoryStore()
    with zarr.override_extensions({"codec": {"conditional": kind}}):
        values = np.arange(12, dtype="uint16")
        zarr.create_array(store, data=values, chunks=4, compressors=[kind([REVERSED])])
        np.testing.assert_array_equal(zarr.open_array(store)[...], values)


@pytest.mark.usefixtures("near")
def test_bytes_codec_without_a_chunk_raises():
    with pytest.raises(CodecError, match="without the shape"):
        create_extension("codec", ExtensionDefinition("near-reversed")).encode(b"1234", 4)


@pytest.mark.usefixtures("near")
def test_decoders_can_return_arrays_of_numpy(tmp_path):
    options = {"serializer": {"name": "near-plain"}, "compressors": None, "chunks": 4}
    zarr.create_array(tmp_path / "a", data=np.arange(10.0), **options)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a")[...], np.arange(10.0))
    np.testing.assert_array_equal(zarr_python.open_array(tmp_path / "a")[...], np.arange(10.0))
    document = zarr.open_array(tmp_path / "a").metadata.to_json()
    assert document["codecs"] == [{"name": "near-plain"}]


@pytest.mark.usefixtures("near")
@pytest.mark.parametrize("shards", [None, 40, 8], ids=str)
def test_calls_of_codecs_that_wait_are_concurrent(shards):
    values = np.arange(160, dtype="int16")
    array = zarr.create_array(
        shape=160, chunks=4, shards=shards, dtype="int16", compressors=[REVERSED]
    )
    start = time.perf_counter()
    array[...] = values
    between = time.perf_counter()
    np.testing.assert_array_equal(array[...], values)
    one_by_one = 40 * 0.02
    assert between - start < one_by_one / 2
    assert time.perf_counter() - between < one_by_one / 2


def test_shadowed_extensions_are_listed_with_the_setting(far):
    from zarr_core import installed_extensions

    (line,) = [
        line
        for line in installed_extensions(extension_point="codec", names=["gzip"])
        if line.distribution != "zarr-codecs"
    ]
    assert not line.wins
    assert line.loads is None
    setting = "providers={'codec.gzip': '" + line.distribution + "'}"
    assert str(line).endswith(f"not used; to select it: zarr_core.config.set({setting})")


def test_nothing_is_offered_beside_zarr_python_2(tmp_path, far):
    (tmp_path / "old" / "zarr").mkdir(parents=True)
    (tmp_path / "old" / "zarr" / "__init__.py").write_text("__version__ = '2.18.7'\n")
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import zarr_core\n"
        "from zarr_bridge.hooks import zarr_list_extensions as providers\n"
        "print([*providers()], 'zarr' in sys.modules)\n"
        "import zarr; print([*providers()])\n"
        "print(zarr_core.create_array(shape=3)[...].sum())"
    )
    folders = [str(tmp_path / "old"), str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-c", code, *folders], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["[] False", "[]"]


def test_other_names_that_are_registered_twice_do_not_matter():
    zarr_registry = pytest.importorskip("zarr.registry")
    for number in range(2):
        cls = type(f"Twice{number}", (), {"__module__": f"acme_twice_{number}"})
        zarr_registry.register_codec("acme.twice", cls)
    # zarr-python warns when it chooses between them, and warnings are errors here.
    assert zarr_supply_extension("codec", ExtensionDefinition("acme.once")) == ()
