"""Arguments that would create something other than what the user meant."""

import operator

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core import messages
from zarr_core.errors import ExtensionConfigurationError, UnknownExtensionError
from zarr_core.registry import discovery, schemas
from zarr_core.registry.provider import Provider

# --- compressors as filters ---


@pytest.mark.parametrize("name", ["numcodecs.shuffle", "numcodecs.base64", "gzip"])
@pytest.mark.parametrize("compressors", ["auto", None])
def test_the_default_compressor_follows_any_filter(name, compressors):
    array = zarr.create_array({}, data=[1, 2], filters=[name], compressors=compressors)
    default = ["zstd"] * (compressors == "auto")
    assert [codec.name for codec in array.metadata.codecs][1:] == [name, *default]
    assert array[...].tolist() == [1, 2]


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
        with pytest.raises(TypeError):
            operation(array, 1)
    assert (array + np.ones(2)).tolist() == [2, 3]
