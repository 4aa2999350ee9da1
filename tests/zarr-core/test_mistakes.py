"""Mistakes of users: the errors and their advice."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.config import config
from zarr_core.errors import (
    AttributeValueError,
    CodecError,
    MetadataValidationError,
    NodeNotFoundError,
    NodeTypeError,
    SelectionError,
    StoreError,
    UnknownExtensionError,
)


@pytest.mark.parametrize("given", [[1, 2], [[["a", "b"], "c"]], "ab", 5])
def test_attributes_that_are_not_a_mapping_are_rejected(given):
    group = zarr.create_group(attributes={"kept": 1})
    store = {}
    for use in (
        lambda: zarr.create_group(store, attributes=given),
        lambda: zarr.create_array(store, shape=2, dtype="i4", attributes=given),
        lambda: group.attrs.update(given),
        lambda: group.attrs.put(given),
    ):
        with pytest.raises(AttributeValueError, match="/attributes: must be a mapping of names"):
            use()
    assert store == {}
    assert group.attrs.asdict() == {"kept": 1}


def test_pairs_of_attributes_are_accepted():
    group = zarr.create_group(attributes=[("a", 1)])
    group.attrs.update([("b", 2)], c=3)
    assert group.attrs.asdict() == {"a": 1, "b": 2, "c": 3}


@pytest.mark.parametrize("function", [zarr.copy, zarr.move, zarr.copy_all])
def test_sources_that_are_not_nodes_are_rejected(function, tmp_path):
    for source in ("a", Path("a"), zarr.MemoryStore()):
        with pytest.raises(
            NodeTypeError, match=r"must be an array or a group; pass zarr_core\.open\("
        ):
            function(source, tmp_path / "b")
    with pytest.raises(NodeTypeError, match=r"pass what zarr_core\.open returns"):
        function(5, tmp_path / "b")
    assert not list(tmp_path.iterdir())


def test_hdf5_files_are_not_locations(tmp_path):
    h5py = pytest.importorskip("h5py")
    group = zarr.create_group()
    group.create_array("a", data=[1, 2])
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_group("g")
        for use in (
            lambda: zarr.open(file),
            lambda: zarr.copy(group, file),
            lambda: zarr.copy(group, file["g"]),
            lambda: zarr.create_array(file, data=[1]),
        ):
            with pytest.raises(StoreError, match=r"cannot open a store from h5py\..*copy_hdf5"):
                use()
        assert list(file) == ["g"]


def stored(data_type, fill_value, chunk, *codecs):
    """A store with an array of one chunk."""
    document = {
        "zarr_format": 3, "node_type": "array", "shape": [chunk], "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill_value, "codecs": codecs,
    }  # fmt: skip
    return zarr.MemoryStore({"zarr.json": json.dumps(document).encode(), "c/0": bytes(64)})


def test_a_chunk_too_large_for_the_memory_is_not_called_damaged():
    pytest.importorskip("zfpy")
    codec = {"name": "zfp", "configuration": {"mode": "reversible"}}
    array = zarr.open(stored("float32", 0, 2**53, codec))
    with pytest.raises(
        CodecError, match=r"'c/0': a chunk of .* into memory \(codec 'zfp'"
    ) as caught:
        array[0]
    assert "damaged" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.fixture
def array(tmp_path):
    return zarr.create_array(
        tmp_path / "x.zarr", path="a/b", data=np.arange(100).reshape(10, 10), chunks=(5, 5)
    )


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("attribute", "index", "reason"),
    [
        ("", 20, r"index 20 is out of bounds .* \(array shape \(10, 10\)\)"),
        ("", (0, 0, 0), "too many"),
        ("", "x", "is not an index"),
        ("oindex", "x", "has no fields"),
        ("vindex", slice(1, 3), "one array of integers for each of 2 dimensions"),
        ("vindex", ([1], slice(1, 3)), "one array of integers for each of 2 dimensions"),
        ("blocks", 5, r"length 2 \(grid of chunks \(2, 2\)\)$"),
        ("blocks", [1], r"list does not select chunks.* \(grid of chunks \(2, 2\)\)$"),
    ],
)
def test_selections_that_do_not_fit_name_the_array(array, attribute, index, reason, write):
    indexed = getattr(array, attribute) if attribute else array
    use = indexed.__setitem__ if write else indexed.__getitem__
    with pytest.raises(SelectionError, match=reason) as caught:
        use(index, *[0] * write)
    assert str(caught.value).startswith(f"{array.store} '/a/b': ")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("value", "kind", "reason"),
    [
        ("hello", ValueError, "cannot convert 'hello' to int64: invalid literal"),
        (None, TypeError, "cannot convert None to int64: int\\(\\) argument must be"),
        ([[1, 2], [3]], ValueError, "to int64: nested sequences must have the same length"),
        ({"a": 1}, TypeError, "cannot convert {'a': 1} to int64"),
        (1 << 70, SelectionError, "cannot be stored"),
        ([1, 2, 3], SelectionError, "does not fit the selection"),
    ],
)
def test_values_that_cannot_be_stored_name_the_array(array, value, kind, reason):
    for assign in (
        lambda: array.__setitem__(0, value),
        lambda: array.oindex.__setitem__(0, value),
        lambda: array.set_basic_selection(0, value),
    ):
        with pytest.raises(kind, match=reason) as caught:
            assign()
        assert str(caught.value).startswith(f"{array.store} '/a/b': ")
    assert array[0].tolist() == list(range(10))


def test_data_of_several_lengths_is_rejected():
    with pytest.raises(ValueError, match="cannot convert .* nested sequences must have the same"):
        zarr.create_array({}, data=[[1, 2], [3]])


def test_errors_of_the_values_themselves_are_unchanged(array):
    class Strange:
        def __array__(self, dtype=None, copy=None):
            raise UnicodeDecodeError("utf-8", b"x", 0, 1, "strange")

    with pytest.raises(ValueError, match="strange"):
        array[0] = Strange()


@pytest.mark.parametrize(
    "options",
    [
        {"dtype": object, "shape": 2},
        {"data": [1, "a", None]},
        {"data": {"a": 1}},
        {"data": np.array(["a", None], dtype=object)},
    ],
)
def test_python_objects_are_rejected_with_what_to_use(options):
    with pytest.raises(
        MetadataValidationError, match=r"/data_type: .*dtype=str for text"
    ) as caught:
        zarr.create_array({}, **options)
    assert "v2" not in str(caught.value)


@pytest.mark.parametrize(("wide", "advice"), [("g", "float64"), ("G", "complex128")])
def test_wide_floats_are_rejected_without_advice_to_install_what_is_installed(wide, advice):
    dtype = np.dtype(wide)
    if dtype.itemsize <= np.dtype(advice).itemsize:
        pytest.skip("no wide floats on this machine")
    with pytest.raises(UnknownExtensionError, match=rf"astype\('{advice}'\)") as caught:
        zarr.create_array({}, shape=2, dtype=dtype)
    assert "pip" not in str(caught.value)
    with (
        config.set(disabled_plugins={"zarr-dtypes"}),
        pytest.raises(UnknownExtensionError, match="pip install --upgrade zarr-dtypes"),
    ):
        zarr.create_array({}, shape=2, dtype=dtype)


@pytest.mark.parametrize("name", ["zarr.json", ".zarray", ".zgroup"])
@pytest.mark.parametrize("directory", ["x.zarr", "."])
def test_metadata_documents_are_not_locations(tmp_path, monkeypatch, name, directory):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / directory
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("{}")
    given = name if directory == "." else f"{directory}/{name}"
    with pytest.raises(StoreError, match=f"open its directory, '{directory}'"):
        zarr.open(given)


def test_a_directory_may_be_called_as_a_metadata_document(tmp_path):
    zarr.create_group(tmp_path / ".zarray")
    assert list(zarr.open(tmp_path / ".zarray")) == []


@pytest.mark.parametrize(
    "function", [zarr.consolidate_metadata, zarr.unconsolidate_metadata, zarr.check_consolidated]
)
def test_arrays_have_no_consolidated_metadata(array, function):
    with pytest.raises(NodeTypeError, match="'/a/b': is an array, not a group"):
        function(array)


@pytest.mark.parametrize("mode", [None, "r", "r+"])
def test_opening_nothing_asks_for_a_location(mode):
    for function in (zarr.open, zarr.open_array, zarr.open_group):
        with pytest.raises(NodeNotFoundError, match="no location is given"):
            function(None, mode)
    assert zarr.open(None, "a", shape=3).shape == (3,)


@pytest.mark.parametrize("words", ["chunks", "shards"])
def test_chunks_by_dimension_name_are_rejected_with_what_to_pass(words):
    with pytest.raises(ValueError, match=rf"as a tuple in the order .*{words}=\("):
        zarr.create_array({}, shape=(2, 2), dtype="i4", **{words: {"y": 2}})


@pytest.mark.parametrize("given", [np.arange(4), [1, 2], (1, 2)])
def test_elements_given_as_the_location_are_rejected_with_what_to_pass(given):
    for options in ({}, {"shape": 4}):
        with pytest.raises(StoreError, match="cannot open a store from .*pass elements as data="):
            zarr.create_array(given, **options)


@pytest.mark.parametrize(
    "location", [zarr.MemoryStore(), "a.zarr", {}, None], ids=["store", "path", "dict", "none"]
)
def test_nodes_are_not_created_by_their_classes(location):
    with pytest.raises(TypeError, match="use open_group or create_group to get a group"):
        zarr.Group(location)
    with pytest.raises(TypeError, match="use open_array or create_array to get an array"):
        zarr.Array(location)


@pytest.mark.parametrize("kind", [zarr.Array, zarr.Group])
def test_the_error_of_a_property_is_not_hidden(kind):
    class Derived(kind):
        @property
        def broken(self):
            return self.path.upperr()

    made = zarr.create_group() if kind is zarr.Group else zarr.create_array(shape=2)
    with pytest.raises(AttributeError, match="'str' object has no attribute 'upperr'"):
        _ = Derived(made.stored).broken


@pytest.mark.parametrize("kind", [zarr.Array, zarr.Group])
def test_an_object_without_a_node_has_no_endless_recursion(kind):
    with pytest.raises(AttributeError, match="stored"):
        _ = kind.__new__(kind).path


@pytest.mark.parametrize("value", [np.longdouble(2), np.ones(2, np.clongdouble)])
def test_numbers_without_a_json_form_are_named(value):
    with pytest.raises(AttributeValueError, match="longdouble cannot be represented in JSON"):
        zarr.create_group(attributes={"a": value})


def test_a_list_within_itself_is_refused():
    names, metadata = [], {}
    names.append(names)
    metadata["codecs"] = metadata
    for options in ({"dimension_names": names}, {"metadata": metadata}):
        with pytest.raises(MetadataValidationError):
            zarr.create_array({}, shape=1, dtype="u1", **options)


def test_dates_that_do_not_fit_into_strings():
    array = zarr.create_array(shape=2, dtype="U3")
    with pytest.raises(ValueError, match="cannot be stored as <U3"):
        array[:] = np.array(["2001-02-03", "NaT"], "M8[D]")


def test_names_of_data_types_that_are_no_text():
    with pytest.raises(UnknownExtensionError, match="data type"):
        zarr.create_array(shape=2, dtype="\ud800")
