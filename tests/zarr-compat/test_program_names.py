"""Names and behaviour of zarr-python 3.4 that published programs use."""

import json

import numpy as np
import pytest
from test_interfaces import run

pytest.importorskip("zarr_bridge")


def test_synchronous_methods_of_stores(alias, tmp_path):
    prototype = alias.core.buffer.default_buffer_prototype()
    request = alias.abc.store.RangeByteRequest(2, 4)
    inner = alias.storage.LocalStore(tmp_path / "a.zarr")
    for store in (alias.storage.MemoryStore(), inner):
        assert store.get_sync("k", prototype=prototype) is None
        store.set_sync("k", prototype.buffer.from_bytes(b"values"))
        assert store.get_sync("k", prototype=prototype, byte_range=request).to_bytes() == b"lu"
        assert alias.storage.StorePath(store, "k").get_sync().to_bytes() == b"values"
        store.delete_sync("k")
        assert store.get_sync("k", prototype=prototype) is None


def test_json_of_a_path_and_moving_a_directory(alias, tmp_path):
    store = alias.storage.LocalStore(tmp_path / "a")
    alias.create_group(store, attributes={"k": 1})
    sync = alias.core.sync.sync
    assert sync(alias.storage.StorePath(store, "zarr.json").get_json())["attributes"] == {"k": 1}
    sync(store.move(tmp_path / "b"))
    assert alias.open_group(store, mode="r").attrs["k"] == 1
    assert not (tmp_path / "a").exists()


def test_members_of_one_kind(alias):
    errors = alias.errors
    group = alias.create_group({})
    assert not group  # no members, as in zarr-python
    group.create_array("g/x", shape=(2, 0), dtype="f2")
    assert group
    assert group.get_group("g").get_array("x")
    assert bool(group["g/x"]) is True
    for call, error in (
        (lambda: group.get_array("g"), errors.ContainsGroupError),
        (lambda: group.get_group("g/x"), errors.ContainsArrayError),
        (lambda: group.get_array("q"), errors.ArrayNotFoundError),
        (lambda: group.get_group("q"), errors.GroupNotFoundError),
    ):
        with pytest.raises(error):
            call()


def test_hierarchies_are_consolidated_if_their_metadata_are(alias):
    from zarr.core.group import ConsolidatedMetadata, GroupMetadata

    array = alias.create_array({}, shape=(3,), dtype="c8").metadata
    members = {"x": array, "g": GroupMetadata({"q": 2})}
    for zarr_format in (2, 3):
        store = alias.storage.MemoryStore()
        nodes = {"g": GroupMetadata({"q": 2}, zarr_format)}
        root = GroupMetadata({}, zarr_format, ConsolidatedMetadata(dict(nodes)))
        dict(alias.create_hierarchy(store=store, nodes={"": root, **nodes}))
        opened = alias.open_consolidated(store)
        assert opened.metadata.consolidated_metadata.metadata["g"].attributes == {"q": 2}
    flat = {"a": GroupMetadata(), "a/x": array, **members}
    ConsolidatedMetadata._flat_to_nested(flat)
    assert flat.keys() == {"a", "x", "g"}
    assert flat["a"].consolidated_metadata.metadata == {"x": array}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_arrays_of_a_hierarchy_have_the_given_metadata(alias, zarr_format):
    options = {"order": "F"} if zarr_format == 2 else {"shards": (4, 2)}
    metadata = alias.create_array(
        {}, shape=(8, 2), chunks=(2, 2), dtype="i2", fill_value=7, zarr_format=zarr_format,
        attributes={"k": [1]}, **options,
    ).metadata  # fmt: skip
    store = alias.storage.MemoryStore()
    nodes = dict(alias.create_hierarchy(store=store, nodes={"g/x": metadata}))
    assert nodes["g/x"].metadata == metadata
    nodes["g/x"][:4] = 1
    assert alias.open_array(store, path="g/x")[:, 1].tolist() == [1] * 4 + [7] * 4


def test_additional_fields_of_groups(alias):
    from zarr.core.group import GroupMetadata

    field = {"must_understand": False, "x": [1]}
    metadata = GroupMetadata.from_dict({"zarr_format": 3, "node_type": "group", "field": field})
    ((_, group),) = alias.create_hierarchy(store=alias.storage.MemoryStore(), nodes={"": metadata})
    assert alias.open_group(group.store).metadata.extra_fields == {"field": field}
    assert json.loads(group.store.get_sync("zarr.json").to_bytes())["field"] == field


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_array_of_a_metadata_document(alias, zarr_format):
    array = alias.create_array(
        {}, data=np.arange(6, dtype="f4").reshape(2, 3), zarr_format=zarr_format,
        attributes={"k": [1]}, fill_value=np.nan,
    )  # fmt: skip
    document = array.metadata.to_dict()
    same = alias.Array.from_dict(array.store_path, document)
    assert same[...].tolist() == array[...].tolist()
    assert same.attrs["k"] == [1]
    empty = alias.Array.from_dict(alias.storage.StorePath(alias.storage.MemoryStore()), document)
    assert np.isnan(empty[...]).all()


@pytest.mark.parametrize("write", ["__setitem__", "set_basic_selection", "oindex"])
def test_values_of_whole_chunks_are_cut_at_the_end(alias, write):
    values = np.arange(1, 21, dtype="i8").reshape(4, 5)
    array = alias.zeros((4, 5), chunks=(2, 3), dtype="i8")
    target = array.oindex if write == "oindex" else array
    set_values = getattr(target, "__setitem__" if write == "oindex" else write)
    set_values((slice(2, 6), slice(3, 8)), values)
    set_values((0, slice(3, 8)), values[0])
    assert array[...].tolist() == [[0, 0, 0, 1, 2], [0] * 5, [0, 0, 0, 1, 2], [0, 0, 0, 6, 7]]
    for selection in (slice(0, 2), slice(1, None)):  # not at the end
        with pytest.raises(IndexError):
            set_values(selection, values)


@pytest.mark.parametrize("dtype", ["i4", "M8[s]", str])
def test_default_compressors_of_version_2(alias, dtype):
    group = alias.create_group({}, zarr_format=2)
    blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
    zstd = {"id": "zstd", "level": 0, "checksum": False}
    for array, expected in (
        (group.create_array("a", shape=4, dtype=dtype), blosc),
        (group.require_array("b", shape=4, dtype=dtype), blosc),
        (group.zeros(name="c", shape=4, dtype=dtype), zstd),
        (alias.create_array({}, shape=4, dtype=dtype, zarr_format=2), zstd),
    ):
        assert array.compressors[0].get_config() == expected


def test_read_only_is_an_argument_of_opening(alias):
    with pytest.raises(TypeError, match="mode='r'"):
        alias.create(shape=3, read_only=True)


def test_class_of_version_2_for_urls(alias, tmp_path):
    pytest.importorskip("fsspec")
    store = alias.storage.FSStore(f"file://{tmp_path}/a.zarr")
    assert isinstance(store, alias.storage.FSStore)
    alias.create_group(store)
    assert (tmp_path / "a.zarr" / "zarr.json").exists()


def test_types_constants_and_functions_of_modules(tmp_path):
    code = """
import asyncio, inspect, zarr, zarr.storage, zarr.testing.strategies
from zarr.core.array import CompressorsLike, DEFAULT_FILL_VALUE, FiltersLike, ShardsLike, init_array
from zarr.core.array import _parse_keep_array_attr
from zarr.core.metadata.io import save_metadata
from zarr.storage import GpuMemoryStore
from zarr.core import BatchedCodecPipeline
zarr.set_log_level("ERROR"); zarr.set_format("%(message)s")
store = zarr.storage.MemoryStore()
place = zarr.storage.StorePath(store, "x")
made = zarr.core.sync.sync(init_array(store_path=place, shape=(4,), chunks=(2,), dtype="i2"))
# An argument of zarr-python 3.4; this function is zarr-python's own.
later = {"attributes": None} if "attributes" in inspect.signature(_parse_keep_array_attr).parameters else {}
kept = _parse_keep_array_attr(
    data=zarr.Array(made), chunks="keep", shards="keep", filters="keep", compressors="keep",
    serializer="keep", fill_value=None, order=None, zarr_format=None, chunk_key_encoding=None,
    dimension_names=None, **later)
metadata = zarr.open_array(place).metadata
zarr.core.sync.sync(save_metadata(zarr.storage.StorePath(store, "y"), metadata))
print(kept[0], zarr.open_array(store, path="y")[:].tolist(), type(made) is zarr.AsyncArray)
"""
    assert run(code, tmp_path) == "(2,) [0, 0, 0, 0] True"


@pytest.mark.parametrize(
    "code",
    [
        "import zarr.registry\nprint(zarr.registry.get_codec_class('gzip').__name__)",
        "from zarr.registry import get_pipeline_class\nprint(get_pipeline_class().__name__)",
        "from zarr.core.metadata import ArrayV3Metadata\n"
        "codecs = [{'name': 'bytes'}, {'name': 'gzip', 'configuration': {'level': 1}}]\n"
        "print(type(ArrayV3Metadata.from_dict({'zarr_format': 3, 'node_type': 'array',\n"
        "  'shape': [2], 'data_type': 'int8', 'fill_value': 0, 'codecs': codecs, 'attributes': {},\n"
        "  'chunk_grid': {'name': 'regular', 'configuration': {'chunk_shape': [2]}},\n"
        "  'chunk_key_encoding': {'name': 'default'}}).codecs[1]).__name__)",
    ],
)
def test_registry_of_zarr_python_has_its_codecs(code, tmp_path):
    assert run(code, tmp_path) in ("GzipCodec", "BatchedCodecPipeline")


CODECS = """
from dataclasses import dataclass
import numcodecs, numpy as np, zarr, zarr.codecs.numcodecs
from zarr.abc.codec import BytesBytesCodec
from zarr.registry import register_codec

@dataclass(frozen=True)
class Inverted(BytesBytesCodec):
    is_fixed_size = True
    key: int = 1
    @classmethod
    def from_dict(cls, data): return cls(**data["configuration"])
    def to_dict(self): return {"name": "program.inverted", "configuration": {"key": self.key}}
    def compute_encoded_size(self, size, spec): return size
    async def _encode_single(self, chunk, spec):
        return spec.prototype.buffer.from_array_like(~chunk.as_numpy_array())
    _decode_single = _encode_single

class Own(numcodecs.abc.Codec):
    codec_id = "program_own"
    def __init__(self, q=1): self.q = q
    def encode(self, data): return bytes(memoryview(data).cast("B"))
    def decode(self, data, out=None): return numcodecs.compat.ndarray_copy(data, out)

register_codec("program.inverted", Inverted)
numcodecs.register_codec(Own)
"""


def test_codec_of_a_program_encodes_chunks(program):
    code = """
store = zarr.storage.MemoryStore()
zarr.create_array(store, data=np.arange(3, dtype="u1"), compressors=Inverted())
print(zarr.open_array(store)[:].tolist(), store.core.get("c/0").hex())
"""
    assert program(CODECS + code) == "[0, 1, 2] fffefd"


CODECS_OF_ARRAYS = (
    (3, "compressors=Inverted(3)"),
    (3, "compressors=[Inverted(2), zarr.codecs.GzipCodec(level=1)], shards=(8,)"),
    (3, "compressors=zarr.codecs.BloscCodec(cname='lz4')"),
    (3, "compressors=[zarr.codecs.numcodecs.Zlib(level=3)]"),
    (3, "compressors=None, filters=[zarr.codecs.numcodecs.Delta(dtype='<i8')]"),
    (2, "compressors=Own(4)"),
    (2, "compressors=numcodecs.LZMA(), filters=[numcodecs.Delta('<i8'), Own(2)]"),
    (2, "compressors=None, filters=[numcodecs.Base64()]"),
)
CREATIONS = """
form = dict(zarr_format={zarr_format})
a = zarr.create_array({{}}, shape=(16,), chunks=(4,), dtype="<i8", {codecs}, **form)
a[...] = np.arange(16)
same = dict(shape=a.shape, chunks=a.chunks, dtype=a.dtype, filters=a.filters, compressors=a.compressors)
group = zarr.create_group({{}}, **form)
made = [
    zarr.from_array({{}}, data=a),
    zarr.from_array({{}}, data=a, compressors="keep", filters="keep"),
    zarr.empty_like(a), zarr.zeros_like(a, store={{}}),
    zarr.open_like(a, path="like{number}.zarr"), zarr.open_like(a, path="like{number}.zarr"),
    zarr.open_like(a, path="like{number}.zarr", mode="w", shape=a.shape),
    zarr.create_array({{}}, **form, **same), group.create_array("x", **same),
    group.require_array("y", **same), group.empty_like("z", data=a),
]
assert made[0][...].tolist() == list(range(16))
for array in made:
    assert array.metadata.zarr_format == {zarr_format}
    assert (array.filters, array.compressors) == (a.filters, a.compressors), array
    array[...] = 5
    assert array[...].tolist() == [5] * 16
core = zarr.create_array({{}}, **form, **same).core
import zarr_core
again = zarr_core.create_array(shape=(3,), dtype="<i8", filters=core.filters,
    compressors=core.compressors, **form)
assert again.compressors == core.compressors and again.filters == core.filters
"""


@pytest.mark.parametrize(("zarr_format", "codecs"), CODECS_OF_ARRAYS)
def test_codec_objects_of_an_array_are_accepted(zarr_format, codecs, program):
    program(CODECS + CREATIONS.format(codecs=codecs, zarr_format=zarr_format, number=0))
