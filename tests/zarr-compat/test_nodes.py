"""Arrays, groups, modes and errors with the interface of zarr-python."""

import asyncio
import json
import pickle
import zipfile

import numpy as np
import pytest
import zarr_core
from zarr import dtype as data_types
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.codecs import BloscCodec, GzipCodec
from zarr.codecs import numcodecs as codecs_numcodecs
from zarr.storage import WrapperStore
from zarr_compat import api as zarr
from zarr_compat import api_asynchronous, errors, storage


@pytest.fixture
def group():
    group = zarr.open_group({}, mode="w")
    group.create_array("x", data=np.arange(10), chunks=3)
    group.create_group("g")
    return group


# --- modes ---


def test_open_group_creates_missing_groups(tmp_path):
    assert zarr.open_group(tmp_path / "g").attrs.asdict() == {}
    assert isinstance(zarr.open(tmp_path / "h"), zarr.Group)
    assert isinstance(zarr.open(tmp_path / "a", shape=3), zarr.Array)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda place: zarr.open_group(place, mode="r"), errors.GroupNotFoundError),
        (lambda place: zarr.open_array(place, mode="r"), errors.ArrayNotFoundError),
        (lambda place: zarr.open_array(place), errors.ArrayNotFoundError),
        (lambda place: zarr.open(place, mode="r+"), errors.NodeNotFoundError),
        (lambda place: zarr.open_consolidated(place), errors.GroupNotFoundError),
    ],
)
def test_missing_nodes_raise_file_not_found(call, kind, tmp_path):
    with pytest.raises(kind) as caught:
        call(tmp_path / "nothing")
    assert isinstance(caught.value, FileNotFoundError)
    assert isinstance(caught.value, ValueError)
    assert not (tmp_path / "nothing").exists()


def test_open_group_raises_for_arrays(group):
    with pytest.raises(errors.ContainsArrayError, match="is an array"):
        zarr.open_group(group.store, path="x", mode="r")
    with pytest.raises(errors.NodeTypeValidationError):
        zarr.open_array(group.store, path="g", mode="r")
    with pytest.raises(TypeError):
        group.require_array("x", shape=(11,))


def test_other_arguments_are_ignored_if_the_array_exists(group):
    array = group["x"]
    assert zarr.open_array(group.store, path="x", mode="a", shape=(99,), dtype="u1") == array
    assert zarr.open(group.store, path="x", mode="r+", shape=(99,), fill_value=7) == array
    assert group.require_array("x", shape=array.shape, chunks=(1, 1), fill_value=7) == array
    assert group.require_dataset("x", array.shape, dtype=array.dtype, compressors=None) == array


def test_existing_nodes_raise_file_exists(group):
    with pytest.raises(FileExistsError) as caught:
        zarr.open_group(group.store, mode="w-")
    assert isinstance(caught.value, errors.ContainsGroupError)
    with pytest.raises(errors.ContainsArrayError):
        group.create_array("x", shape=3)


def test_missing_consolidated_metadata_raises_value_error(group):
    with pytest.raises(ValueError, match="no consolidated metadata"):
        zarr.open_consolidated(group.store)
    assert zarr.consolidate_metadata(group.store).metadata.consolidated_metadata is not None
    assert [name for name, _ in zarr.open_consolidated(group.store).members()] == ["g", "x"]


def test_unknown_codec(group):
    with pytest.raises(errors.UnknownCodecError, match="nobodys"):
        group.create_array("y", shape=3, compressors="nobodys")


def test_default_format_setting(tmp_path):
    with zarr.config.set({"default_zarr_format": 2}):
        assert zarr.zeros(3).metadata.zarr_format == 2
        old = zarr.open_group(tmp_path / "g")
    assert old.metadata.zarr_format == 2
    assert zarr.open_group(tmp_path / "g").create_array("x", shape=1).metadata.zarr_format == 2
    assert zarr.zeros(3).metadata.zarr_format == 3
    with zarr.config.set({"array": {"write_empty_chunks": True}}, mine__own=5):
        assert zarr_core.config.settings.write_empty_chunks
        assert zarr.config.get("mine.own") == zarr.config.config["mine"]["own"] == 5
    assert not zarr_core.config.settings.write_empty_chunks
    assert zarr.config.get("nothing", 1) == 1


# --- nodes ---


def test_nodes_have_the_wrapper_classes(group):
    for node in (group["x"], *dict(group.arrays()).values(), *group.array_values()):
        assert type(node) is zarr.Array
        assert node.store is group.store
    for node in (group["g"], *group.group_values(), group.require_group("new")):
        assert type(node) is zarr.Group
    seen = []
    group.visitvalues(seen.append)
    assert {type(node) for node in seen} == {zarr.Array, zarr.Group}
    assert group["x"] == group["x"] != group["g"]
    assert hash(group["x"]) == hash(group["x"])


def test_functions_accept_nodes(group):
    copied = zarr.copy(group["x"], group, "y")
    assert isinstance(copied, zarr.Array)
    assert zarr.zeros_like(group["x"], store=group, path="z").path == "z"
    group["x"][:3] = zarr.ones(3)
    assert group["x"][:4].tolist() == [1, 1, 1, 3]


def test_version_2_metadata_has_no_version_3_attributes():
    assert not hasattr(zarr.zeros(3, zarr_format=2).metadata, "dimension_names")
    named = zarr.zeros(3, dimension_names=["t"])
    assert named.metadata.dimension_names == ("t",)
    assert named.metadata.to_dict()["dimension_names"] == ("t",)
    old = zarr.zeros(3, zarr_format=2, compressor=None, attributes={"a": 1})
    assert old.metadata.to_dict() | {"shape": (3,)} == {
        "zarr_format": 2, "shape": (3,), "chunks": (3,), "dtype": "<f8", "compressor": None,
        "fill_value": 0.0, "filters": None, "order": "C", "dimension_separator": ".", "attributes": {"a": 1},
    }  # fmt: skip


def test_version_3_codecs():
    codecs = (BloscCodec(cname="lz4", clevel=3, shuffle="shuffle", typesize=4), GzipCodec(level=1))
    array = zarr.create_array({}, shape=4, dtype="i4", compressors=codecs)
    assert array.compressors == codecs
    assert array.compressors[0].clevel == 3
    assert array.serializer.to_dict()["name"] == "bytes"
    again = zarr.create_array(
        {}, shape=4, dtype="i4", compressors=array.compressors, serializer=array.serializer,
        filters=array.filters,
    )  # fmt: skip
    assert again.core.codecs == array.core.codecs


def test_codecs_that_zarr_python_lacks():
    definition = {"name": "bitround", "configuration": {"keepbits": 3}}
    array = zarr.create_array({}, shape=4, dtype="f4", filters=[definition])
    (codec,) = array.filters
    assert codec.to_dict() == definition
    assert codec.keepbits == 3
    assert not hasattr(codec, "cname")
    again = pickle.loads(pickle.dumps(codec))
    assert (again, hash(again), repr(again)) == (codec, hash(codec), repr(codec))
    other = zarr.create_array({}, shape=4, dtype="f4", filters=[again])
    assert other.filters == array.filters
    assert other.metadata.to_dict()["codecs"] == array.metadata.to_dict()["codecs"]


@pytest.mark.filterwarnings("ignore:Numcodecs codecs are not in")
def test_numcodecs_codecs_in_version_3():
    filters, compressors = (codecs_numcodecs.Delta(dtype="<i4"),), (codecs_numcodecs.Zlib(level=2),)
    array = zarr.create_array(
        {}, data=np.arange(9, dtype="i4"), filters=filters, compressors=compressors
    )
    assert (array.filters, array.compressors) == (filters, compressors)
    assert array[...].tolist() == [*range(9)]


def test_version_2_codecs_are_numcodecs_objects():
    numcodecs = pytest.importorskip("numcodecs")
    blosc, delta = numcodecs.Blosc("lz4", 3, 2), numcodecs.Delta("<i4")
    array = zarr.create(4, dtype="i4", compressor=blosc, filters=[delta], order="C", zarr_format=2)
    assert (array.compressor, array.filters, array.serializer) == (blosc, (delta,), None)
    assert zarr.create((2, 2), order="F", compressor=None, zarr_format=2).filters == ()
    with pytest.raises(TypeError, match="compressors"):
        assert zarr.zeros(3).compressor


def test_irregular_chunks_raise():
    array = zarr.create_array({}, shape=6, chunks=[[1, 2, 3]], dtype="i1")
    with pytest.raises(NotImplementedError):
        assert array.chunks
    assert array.read_chunk_sizes == ((1, 2, 3),)


def test_async_elements(group):
    async def work():
        array = group["x"].async_
        return await asyncio.gather(
            array.getitem(slice(2)), array.oindex.getitem([5]), array.vindex.getitem([7, 8])
        )

    assert [part.tolist() for part in asyncio.run(work())] == [[0, 1], [5], [7, 8]]
    assert asyncio.run(group.async_.getitem("x")).shape == (10,)


def test_nodes_pickle(tmp_path):
    store = storage.LocalStore(tmp_path / "s")
    array = zarr.create_array(store, name="x", data=np.arange(3))
    again = pickle.loads(pickle.dumps(array))
    assert again == array
    assert again[...].tolist() == [0, 1, 2]
    assert again.store == store
    assert again.store.root == store.root


# --- stores ---


class Mine(WrapperStore):
    """A user-defined store for zarr-python."""

    def __init__(self, store):
        super().__init__(store)
        self.asked = []

    async def get(self, key, prototype=None, byte_range=None):
        self.asked.append(key)
        await asyncio.sleep(0)
        return await super().get(key, prototype, byte_range)


@pytest.mark.parametrize(
    "make", [lambda: storage.MemoryStore(), lambda: Mine(storage.MemoryStore())]
)
def test_store_of_a_node_is_the_user_store(make):
    store = make()
    group = zarr.open_group(store, mode="w")
    group["x"] = np.arange(4)
    assert zarr.open(store)["x"].store is store
    assert zarr.open(storage.StorePath(store, "x"), mode="r")[1] == 1
    assert sorted(group.members())[0][1][...].tolist() == [0, 1, 2, 3]
    del group["x"]
    assert "x" not in group


def test_async_values(tmp_path):
    store = storage.LocalStore(tmp_path / "s")
    zarr.create_array(store, name="a/x", data=np.arange(4, dtype="i1"), compressors=None)

    async def work():
        return {
            "document": json.loads((await store.get("a/x/zarr.json")).to_bytes())["zarr_format"],
            "missing": await store.get("a/y"),
            "parts": [
                (await store.get("a/x/c/0", None, part)).to_bytes()
                for part in (RangeByteRequest(1, 3), OffsetByteRequest(2), SuffixByteRequest(1))
            ],
            "names": [name async for name in store.list_dir("a")],
            "keys": [key async for key in store.list_prefix("a/x/c")],
            "size": await store.getsize("a/x/c/0"),
            "empty": (await store.is_empty("b"), await store.is_empty("a")),
        }

    assert asyncio.run(work()) == {
        "document": 3,
        "missing": None,
        "parts": [b"\x01\x02", b"\x02\x03", b"\x03"],
        "names": ["x", "zarr.json"],
        "keys": ["a/x/c/0"],
        "size": 4,
        "empty": (True, False),
    }

    async def change():
        await store.set("n", (await store.get("a/x/c/0"))[:2])
        await store.set_if_not_exists("n", b"other")
        value = (await store.get("n")).to_bytes()
        await store.delete_dir("a")
        return value, [key async for key in store.list()]

    assert asyncio.run(change()) == (b"\x00\x01", ["n", "zarr.json"])


def test_with_read_only(tmp_path):
    store = storage.MemoryStore({})
    zarr.create_array(store, shape=3)
    frozen = store.with_read_only(True)
    assert zarr.open(frozen).read_only
    with pytest.raises(ValueError, match="read-only"):
        zarr.open_group(frozen, mode="w")
    assert not frozen.with_read_only(False).read_only


def test_fsspec_zip_and_object_stores(tmp_path):
    pytest.importorskip("fsspec")
    with storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        zarr.create_array(store, data=np.arange(3))
    assert zarr.open(storage.ZipStore(tmp_path / "a.zip"), mode="r")[...].tolist() == [0, 1, 2]
    for number in range(2):
        with zarr.open_group(f"{tmp_path}/b.zip", mode="w") as group:
            group["x"] = [number]
    assert zarr.open(f"{tmp_path}/b.zip", mode="r")["x"][...].tolist() == [1]
    store = storage.FsspecStore.from_url(f"file://{tmp_path}/f.zarr", storage_options={})
    zarr.create_array(store, data=np.arange(3))
    assert zarr.open(tmp_path / "f.zarr")[2] == 2
    assert zarr.open(store.with_read_only(True)).read_only


def test_clear_store_and_require_root(group):
    asyncio.run(group.store.clear())
    again = group.require_group("/")
    assert again == group
    assert list(again) == []
    assert group.require_group("g").path == "g"


@pytest.mark.parametrize(
    ("data_type", "values"),
    [
        (data_types.VariableLengthUTF8(), ["a", "long"]),
        (data_types.VariableLengthBytes(), [b"a", b"long"]),
        (data_types.FixedLengthUTF32(length=4), ["a", "long"]),
        (data_types.NullTerminatedBytes(length=4), [b"a", b"long"]),
    ],
)
@pytest.mark.filterwarnings("ignore:The data type")
def test_data_type_classes(data_type, values):
    array = zarr.create_array({}, shape=2, dtype=data_type)
    array[0], array[1] = values
    assert array[...].tolist() == values


def test_info_has_the_format_for_ome_zarr(group):
    assert group.info._zarr_format == 3


def test_asynchronous_api(tmp_path):
    async def work():
        root = await api_asynchronous.open_group(tmp_path / "g", mode="w")
        array = await root.create_array("x", shape=4, dtype="i1")
        await array.setitem(slice(2), 5)
        await root.require_group("below")
        again = await api_asynchronous.open(tmp_path / "g", mode="r")
        found = [(path, type(node).__name__) async for path, node in again.members()]
        read = await (await again.getitem("x")).getitem(...)
        await root.delitem("below")
        return found, read.tolist(), await root.contains("below"), await root.nmembers()

    assert asyncio.run(work()) == (
        [("below", "AsyncGroup"), ("x", "AsyncArray")],
        [5, 5, 0, 0],
        False,
        1,
    )
    with pytest.raises(errors.ArrayNotFoundError):
        asyncio.run(api_asynchronous.open_array(tmp_path / "nothing", mode="r"))


@pytest.mark.parametrize(
    "error",
    [errors.GroupNotFoundError("m"), errors.ContainsGroupError("m"), errors.UnknownCodecError("m"),
     errors.NodeTypeValidationError("m")],
)  # fmt: skip
def test_errors_pickle(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error) == "m"
    # As distributed does after its import.
    made = type(error).__new__(type(error), *error.args)
    assert type(made) is type(error)


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "full_like"])
def test_arrays_of_a_group_like_those_of_another_format(name):
    like = zarr.ones((11, 12), dtype="u1", chunks=(11, 12), zarr_format=3)
    group = zarr.open_group({}, mode="w", zarr_format=2)
    options = {"fill_value": 4} if name == "full_like" else {}
    array = getattr(group, name)("a", data=like, **options)
    expected = {"empty_like": 1, "zeros_like": 0, "full_like": 4}[name]
    assert (array.chunks, array.dtype, int(array[0, 0])) == ((11, 12), like.dtype, expected)


def test_array_has_the_shape_of_its_data():
    assert zarr.array(np.arange(3), shape=(9,)).shape == (3,)
    group = zarr.open_group({}, mode="w")
    assert group.array("a", data=np.arange(3), shape=(9,)).shape == (3,)
    copied = zarr.array(group["a"], store={})
    assert copied[...].tolist() == [0, 1, 2]


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_lengths_of_empty_chunks(shape):
    array = zarr.create_array({}, shape=shape, chunks=shape, dtype="f8")
    array[...] = 42
    assert array[...].shape == shape


def test_require_array_compares_shape_and_dtype(group):
    assert group.require_array("x", shape=10, dtype="f8") == group["x"]
    with pytest.raises(TypeError, match="Incompatible dtype"):
        group.require_array("x", shape=(10,), dtype="f8", exact=True)
    with pytest.raises(TypeError, match="Incompatible dtype"):
        group.require_array("x", shape=(10,), dtype="i1")
    with pytest.raises(TypeError, match="Incompatible shape"):
        group.require_array("x", shape=(5, 2), dtype="i8")
    with pytest.raises(TypeError, match="Incompatible object"):
        group.require_array("g", shape=(10,), dtype="i8")


def test_with_config():
    array = zarr.create_array({}, shape=(2, 2), dtype="u1", config={"order": "F"})
    array[...] = 1
    changed = array.with_config({"write_empty_chunks": True})
    assert changed.config.to_dict() == {"order": "F", "write_empty_chunks": True}
    assert array.with_config(changed.config).config == changed.config
    assert changed[...].tolist() == [[1, 1], [1, 1]]
    assert not array.config.write_empty_chunks


def test_stored_bytes_include_metadata():
    array = zarr.create_array({}, shape=2, dtype="u1", compressors=None)
    before = array.nbytes_stored()
    array[...] = 1
    assert array.nbytes_stored() == before + 2


def test_buffers_for_results():
    class Buffer:
        def __init__(self, values):
            self.values = values

        def as_ndarray_like(self):
            return self.values

    values = np.zeros(3, dtype="i8")
    zarr.array(np.arange(3)).get_basic_selection(Ellipsis, out=Buffer(values))
    assert values.tolist() == [0, 1, 2]


def test_version_2_has_no_shards():
    with pytest.raises(ValueError, match="Got `shard_shape=\\(4,\\)`"):
        zarr.create_array({}, shape=4, chunks=(2,), shards=(4,), dtype="i1", zarr_format=2)


def test_paths_that_are_no_stores_raise_os_errors(tmp_path):
    pytest.importorskip("zarr_stores")
    (tmp_path / "a.zip").write_text("no archive")
    (tmp_path / "b.zip").mkdir()
    (tmp_path / "c.txt").write_text("no directory")
    for opened in (
        lambda: zarr.open(storage.ZipStore(tmp_path / "a.zip", mode="r"), mode="r"),
        lambda: zarr.open(storage.ZipStore(tmp_path / "b.zip", mode="r"), mode="r"),
        lambda: zarr.open(tmp_path / "c.txt", mode="r"),
    ):
        with pytest.raises(OSError, match=r"cannot be opened|not a directory") as caught:
            opened()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, zipfile.BadZipFile) == ("a.zip" in str(caught.value))


class FailingStore(WrapperStore):
    """A store of a program, whose values cannot be read."""

    class Error(Exception):
        pass

    async def get(self, key, prototype=None, byte_range=None):
        if "c/" in key:
            raise self.Error("checksum")
        return await super().get(key, prototype, byte_range)


def test_errors_of_the_store_of_a_program_reach_it():
    values = {}
    zarr.create_array(values, data=np.arange(4), chunks=(2,))
    array = zarr.open_array(FailingStore(storage.MemoryStore(values)), mode="r")
    for read in (
        lambda: array[0],
        lambda: array.oindex[[0, 1]],
        lambda: array.vindex[[0, 1]],
        lambda: array.blocks[0],
        lambda: np.asarray(array),
        lambda: array.get_basic_selection(0),
    ):
        with pytest.raises(FailingStore.Error, match=r"^checksum") as caught:
            read()
        assert any("'c/" in note for note in caught.value.__notes__)


def test_references_of_a_url_have_a_file_system():
    pytest.importorskip("zarr_stores")
    pytest.importorskip("fsspec")
    references = {"zarr.json": '{"zarr_format": 3, "node_type": "group", "attributes": {}}'}
    group = zarr.open_group("reference://", mode="r", storage_options={"fo": references})
    assert dict(group.store.fs.references) == references
