"""Arguments that would create something other than what the user meant."""

import operator

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import messages
from zarr_core.errors import (
    ExtensionConfigurationError,
    NodeExistsError,
    SelectionError,
    UnknownExtensionError,
)
from zarr_core.extension import BytesToBytesCodec
from zarr_core.registry import discovery, schemas
from zarr_core.registry.provider import Provider

# --- below arrays ---


@pytest.mark.parametrize(
    "create",
    [
        lambda path: zarr.create_array(path, shape=2, dtype="i2"),
        lambda path: zarr.create_array(path, shape=2, dtype="i2", overwrite=True),
        lambda path: zarr.create_array(path, shape=2, dtype="i2", zarr_format=2),
        lambda path: zarr.create_group(str(path)),
        lambda path: zarr.open_group(path / "deep", mode="a"),
        lambda path: zarr.save(path, [1], [2]),
        lambda path: zarr.create_array(zarr.LocalStore(path), path="x", shape=1),
        lambda path: zarr.copy(zarr.array([1]), path),
    ],
)
@pytest.mark.parametrize("zarr_format", [3, 2, "draft", "n5", 1])
def test_no_node_is_created_in_the_directory_of_an_array(tmp_path, zarr_format, create):
    zarr.create_array(tmp_path / "field.zarr", data=np.arange(3.0), zarr_format=zarr_format)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(NodeExistsError, match=r"field\.zarr '/': is an array, so no node"):
        create(tmp_path / "field.zarr" / "inner")
    assert sorted(tmp_path.rglob("*")) == before


def test_directories_of_groups_and_other_documents_hold_new_nodes(tmp_path):
    zarr.create_group(tmp_path / "g")
    (tmp_path / "meta").write_text("not of Zarr")
    assert zarr.create_array(tmp_path / "g" / "a", data=[1, 2]).shape == (2,)


# --- compressors as filters ---


@pytest.mark.parametrize("name", ["numcodecs.shuffle", "numcodecs.base64"])
def test_filters_that_do_not_compress_are_compressed(name):
    array = zarr.create_array({}, data=[1, 2], filters=[name])
    assert [codec.name for codec in array.metadata.codecs][1:] == [name, "zstd"]


class Records(BytesToBytesCodec):
    """Encodes records of 24 bytes only."""

    def encode(self, data, decoded_size):
        if len(data) % 24:
            raise ValueError("not records of 24 bytes")
        return data

    def decode(self, data, decoded_size):
        return data


def test_creating_an_array_does_not_require_that_a_filter_encodes_any_bytes():
    with zarr.override_extensions({"codec": {"records": Records}}):
        array = zarr.create_array({}, shape=24, dtype="u1", filters="records")
        array[...] = 1
    assert [codec.name for codec in array.metadata.codecs][1:] == ["records", "zstd"]


@pytest.mark.parametrize("filters", ["zstd", ["numcodecs.delta", "gzip"], "numcodecs.lz4"], ids=str)
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("default", ["auto", "blosc"])
def test_a_compressor_among_the_filters_replaces_the_default(filters, zarr_format, default):
    if "numcodecs.delta" in filters:
        filters = [zarr.codec("numcodecs.delta", dtype="<u2"), *filters[1:]]
    options = {"shape": 4, "dtype": "u2", "filters": filters, "zarr_format": zarr_format}
    with zarr.config.set(default_compressors=default):
        alone = zarr.create_array({}, **options)
    assert len(alone.metadata.codecs) == 2 + isinstance(filters, list)
    assert len(zarr.create_array({}, **options, compressors="gzip").metadata.codecs) > 2
    alone[...] = [1, 2, 3, 4]
    assert alone[...].tolist() == [1, 2, 3, 4]


# --- dates without a unit ---


@pytest.mark.parametrize(
    "dtype", ["datetime64", np.dtype("m8"), [("a", "i4"), ("t", "M8")]], ids=str
)
@pytest.mark.parametrize("zarr_format", [3, 2, "draft", "n5", 1])
def test_dates_need_a_unit(dtype, zarr_format):
    with pytest.raises(ExtensionConfigurationError, match=r"no unit; pass one.*64\[ns\]"):
        zarr.create_array({}, shape=2, dtype=dtype, zarr_format=zarr_format)


def test_stored_dates_without_a_unit_are_read_and_described():
    generic = {"name": "numpy.timedelta64", "configuration": {"unit": "generic", "scale_factor": 1}}
    array = zarr.create_array({}, shape=2, dtype=generic)
    assert "numpy.timedelta64" in str(array.info)
    assert np.isnat(array[...]).all()


# --- without distributions ---


@pytest.mark.parametrize("suffix", ["sqlite", "sqldb", "lmdb", "mdb", "dbm", "zip"])
def test_files_of_stores_that_are_not_installed(tmp_path, suffix):
    with (
        zarr.config.set(disabled_plugins={"zarr-stores"}),
        pytest.raises(UnknownExtensionError, match="zarr-stores"),
    ):
        zarr.create_array(tmp_path / f"x.{suffix}", shape=2, dtype="i2")
    assert not list(tmp_path.iterdir())
    (tmp_path / f"x.{suffix}").mkdir()
    with zarr.config.set(disabled_plugins={"zarr-stores"}):
        zarr.create_array(tmp_path / f"x.{suffix}", shape=2, dtype="i2", compressors=None)


def test_a_missing_default_compressor_is_told_once(monkeypatch):
    monkeypatch.setattr(messages, "_issued", set())
    with zarr.config.set(disabled_plugins={"zarr-codecs"}):
        zarr.create_array({}, shape=2, dtype="i2", compressors=None)
        with pytest.warns(UserWarning, match=r"not compressed.*zstd.*--copy-metadata"):
            zarr.create_array({}, shape=2, dtype="i2")
        zarr.create_array({}, shape=2, dtype="i2")


# --- a second name of an extension ---


def test_the_schema_of_an_extension_is_for_all_its_names(monkeypatch):
    scan = discovery.scan()
    original = scan["codec"]["numcodecs.lzma"][0]
    alias = Provider("codec", "acme.lzma", original.target, original.distribution)
    changed = {**scan, "codec": {**scan["codec"], "acme.lzma": (alias,)}}
    monkeypatch.setattr(discovery, "scan", lambda: changed)
    assert original.load() is alias.load()
    assert schemas.schema_of(alias).document == schemas.schema_of(original).document
    wrong = {"name": "acme.lzma", "configuration": {"preset": "fast"}}
    store = zarr.MemoryStore()
    with pytest.raises(
        ExtensionConfigurationError, match=r"'acme.lzma'(.|\n)*/codecs/1/configuration/preset"
    ):
        zarr.create_array(store, shape=4, dtype="i2", compressors=wrong)
    assert not list(store.list())
    zarr.create_array(store, shape=4, dtype="i2", compressors="acme.lzma")


# --- comparisons ---


@pytest.mark.parametrize("other", [np.array([1, 2]), np.float32(1), 1, 2.5, True, [1, 2]], ids=repr)
def test_comparing_an_array_with_elements_is_an_error(other):
    array = zarr.create_array({}, data=np.array([1, 2], "u1"))
    for compare in (array.__eq__, array.__ne__):
        with pytest.raises(TypeError, match=r"array\[\.\.\.\] == other"):
            compare(other)
    assert array == array
    assert array != zarr.array([1, 2])
    assert array not in [None, "x", zarr.array([1, 2])]
    assert {array: 1}[array] == 1


def test_operators_do_not_read_an_array():
    array = zarr.array([1, 2])
    for operation in (operator.add, operator.pow, operator.lt, operator.and_, divmod):
        with pytest.raises(TypeError, match=r"read its elements first: array\[...\]"):
            operation(array, 1)
    assert (array + np.ones(2)).tolist() == [2, 3]
    with pytest.raises(TypeError, match="assign the fill value"):
        del array[0]


# --- booleans in place of integers ---


class EarlierBoolean:
    """What distinguishes a boolean of NumPy before version 2.3, which has an index, from an integer."""

    dtype = np.dtype(bool)
    ndim = 0
    shape = ()

    def __repr__(self):
        return "earlier boolean"

    def __index__(self):
        return 1

    def __array__(self, *_, **__):
        return np.array(True)

    __gt__ = __lt__ = __ge__ = __le__ = lambda self, other: False


NOT_INTEGERS = [EarlierBoolean(), np.True_, np.array(True)]


@pytest.mark.parametrize("boolean", NOT_INTEGERS, ids=repr)
def test_a_boolean_of_numpy_is_not_an_integer(boolean):
    array = zarr.create_array({}, data=np.arange(6.0).reshape(2, 3), chunks=(1, 2))
    for select in (array.oindex, array.blocks, array.vindex):
        for index in (boolean, (boolean, boolean)):
            with pytest.raises(SelectionError):
                select[index]
    with pytest.raises(SelectionError):
        array.get_basic_selection(boolean)
    with pytest.raises(TypeError, match="integers or None"):
        array.resize(boolean, 3)
    with pytest.raises(TypeError, match="axis must be an integer"):
        array.append(np.zeros((2, 3)), axis=boolean)
    assert array.shape == (2, 3)


@pytest.mark.parametrize("boolean", NOT_INTEGERS, ids=repr)
@pytest.mark.parametrize(
    "arguments",
    [
        lambda boolean: {"shape": boolean},
        lambda boolean: {"shape": (2, boolean)},
        lambda boolean: {"shape": (2, 2), "chunks": boolean},
        lambda boolean: {"shape": (2, 2), "chunks": ([1, boolean], 2)},
        lambda boolean: {"shape": (2, 2), "chunks": 1, "shards": (2, boolean)},
        lambda boolean: {"shape": (2, 2), "order": (boolean, 0)},
        lambda boolean: {"shape": (2, 2), "chunks": zarr.ChunkLayout(elements=boolean)},
    ],
)
def test_arguments_that_are_integers(arguments, boolean):
    with pytest.raises((TypeError, ValueError), match=r"integer|order|number"):
        zarr.create_array({}, dtype="i2", **arguments(boolean))
