"""Conversions between all installed formats, in both directions."""

import json
import warnings

import numpy as np
import pytest
import zarr_core as zarr
from zarr_transfer import ConversionError, convert, plan_conversion

FORMATS = sorted(
    line.name for line in zarr.installed_extensions(load=False) if line.extension_point == "format"
)
HIERARCHICAL = [name for name in FORMATS if name != "v1"]
NUMBERS = np.arange(1, 57).reshape(7, 8)

ARRAYS = {
    "i": {"data": NUMBERS.astype("i4"), "chunks": (3, 4), "fill_value": 5},
    "big": {"data": NUMBERS.astype(">f8"), "chunks": (4, 4), "compressors": "gzip"},
    "f": {"data": NUMBERS.astype("f4"), "chunks": (2, 3), "order": "F"},
    "b": {"data": NUMBERS % 3 == 0, "chunks": (4, 8)},
    "c": {"data": np.array([1j, 2, np.nan])},
    "scalar": {"data": np.float64(2.5)},
    "empty": {"shape": (0, 3), "dtype": "u1", "chunks": (1, 3)},
    "missing": {"shape": (9,), "dtype": "i2", "chunks": (2,), "fill_value": -1},
    "u": {"data": np.array(["ab", "c", ""])},
    "M": {"data": np.array([1, 2], "M8[s]")},
    "record": {"data": np.array([(1, 2.5), (3, 4)], dtype=[("a", "i4"), ("b", "f8")])},
    "strings": {"data": np.array(["ab", "", "ü"], "T"), "serializer": "vlen-utf8"},
    "sharded": {"data": NUMBERS.astype("u2"), "chunks": (2, 2), "shards": (4, 4)},
    "named": {"data": NUMBERS.astype("u1"), "chunks": (7, 8), "dimension_names": ("y", "x")},
}


def hierarchy(zarr_format):
    """The arrays that a format supports."""
    store = zarr.MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"a": [1, "x"]})
    for name, options in ARRAYS.items():
        try:
            root.create_array(f"g/{name}", attributes={"units": name}, **options)
        except ValueError:  # not supported by the format
            continue
    return store


def contents(store, zarr_format):
    """The contents of all nodes of a hierarchy, as NumPy and JSON values."""
    root = zarr.open_group(store, "r", zarr_format=zarr_format)
    found = {"": dict(root.attrs)}
    for path, node in root.members(max_depth=None):
        attributes = dict(node.attrs)
        if isinstance(node, zarr.Group):
            found[path] = attributes
            continue
        names = attributes.pop("_ARRAY_DIMENSIONS", None) or node.dimension_names
        values = node[...]
        found[path] = (str(values.dtype), node.shape, repr(values), attributes, tuple(names or ()))
    return found


PAIRS = [(one, other) for one in HIERARCHICAL for other in HIERARCHICAL]


@pytest.fixture(scope="module")
def sources():
    return {name: hierarchy(name) for name in HIERARCHICAL}


def documents(store):
    return {key: bytes(store.get(key)) for key in store.list()}


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_there_and_back(one, other, sources):
    source, there, back = sources[one], zarr.MemoryStore(), zarr.MemoryStore()
    untouched = documents(source)
    options = {"source_format": one, "zarr_format": other, "on_error": "skip"}
    done = convert(source, there, **options)
    impossible = {step.path for step in done.steps if step.problems}
    assert all(problem.pointer.split("#")[-1] for problem in done.problems)
    # Every format supports integers and floating-point numbers.
    assert not impossible & {"g/i", "g/big", "g/f", "g/empty", "g/missing", "g/named"}
    expected = contents(source, one)
    assert "g/big" in expected
    expected = {path: value for path, value in expected.items() if path not in impossible}
    assert contents(there, other) == expected
    again = convert(there, back, source_format=other, zarr_format=one)
    assert not again.problems
    assert contents(back, one) == expected
    assert documents(source) == untouched
    if one == other:
        assert done.cost == "copy"


@pytest.mark.parametrize("other", FORMATS)
def test_version_1_to_others_and_back(other):
    source, there, back = (zarr.MemoryStore() for _ in range(3))
    zarr.create_array(
        source, data=NUMBERS.astype("f4"), chunks=(3, 3), zarr_format=1, attributes={"a": 1},
        fill_value=2,
    )  # fmt: skip
    for one, two, to in ((source, there, other), (there, back, 1)):
        convert(one, two, zarr_format=to)
        array = zarr.open_array(two, zarr_format=to)
        assert np.array_equal(array[...], NUMBERS)
        assert array.dtype == "f4"
        assert dict(array.attrs) == {"a": 1}


def test_version_1_has_no_groups(sources):
    with pytest.raises(ConversionError) as error:
        convert(sources["v3"], zarr.MemoryStore(), zarr_format=1)
    assert "/" in {problem.pointer for problem in error.value.problems}


def test_shards_of_the_draft_are_described_not_decoded():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(
        source, path="foo", data=NUMBERS, chunks=(2, 2), shards=(4, 4), zarr_format="draft"
    )
    done = convert(source, dest, source_format="draft")
    assert done.cost == "copy"
    assert sorted(dest.list()) == [
        "foo/c/0/0", "foo/c/0/1", "foo/c/1/0", "foo/c/1/1", "foo/zarr.json", "zarr.json",
    ]  # fmt: skip
    assert bytes(dest.get("foo/c/1/0")) == bytes(source.get("data/foo/c1/0"))
    (codec,) = json.loads(bytes(dest.get("foo/zarr.json")))["codecs"]
    assert codec["name"] == "sharding_indexed"
    assert codec["configuration"]["index_codecs"] == [
        {"name": "bytes", "configuration": {"endian": "little"}}
    ]
    assert np.array_equal(zarr.open(dest)["foo"][...], NUMBERS)


def test_storage_transformers_become_codecs():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(
        source, data=NUMBERS, chunks=(2, 2), compressors="gzip",
        metadata={"storage_transformers": [
            {"name": "sharding", "configuration": {"type": "indexed", "chunks_per_shard": [2, 2]}}
        ]},
    )  # fmt: skip
    done = convert(source, dest, zarr_format="draft")
    assert np.array_equal(zarr.open(dest, zarr_format="draft")[...], NUMBERS)
    assert done.cost == "copy"
    decoded = zarr.MemoryStore()
    convert(source, decoded, zarr_format=2)
    assert np.array_equal(zarr.open(decoded)[...], NUMBERS)
    assert zarr.open(decoded).chunks == (2, 2)


def test_a_zarr_json_of_another_meaning_is_not_overwritten():
    store = zarr.MemoryStore()
    zarr.create_array(store, path="foo", data=NUMBERS, zarr_format="draft")
    before = documents(store)
    with pytest.raises(ConversionError, match=r"'zarr.json' exists"):
        convert(store)
    assert documents(store) == before


def test_names_of_dimensions_go_where_the_format_has_a_place():
    source = zarr.MemoryStore()
    root = zarr.create_group(source, zarr_format=2)
    attributes = {"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"}
    root.create_array("named", data=NUMBERS, attributes=attributes)
    root.create_array("odd", data=NUMBERS, attributes={"_ARRAY_DIMENSIONS": ["only one"]})
    done = convert(source, remove_source=True)
    named, odd = (zarr.open(source)[name] for name in ("named", "odd"))
    assert named.dimension_names == ("y", "x")
    assert dict(named.attrs) == {"units": "m", "_FillValue": 0}
    assert odd.dimension_names is None
    assert dict(odd.attrs) == {"_ARRAY_DIMENSIONS": ["only one"]}
    notes = {step.path: step.notes for step in done.steps}
    assert "the attribute _ARRAY_DIMENSIONS becomes dimension_names" in notes["named"]
    back = zarr.MemoryStore()
    convert(source, back, zarr_format=2)
    assert dict(zarr.open(back)["named"].attrs) == attributes


def test_unrepresentable_names_are_reported():
    source = zarr.MemoryStore()
    zarr.create_array(source, data=NUMBERS, dimension_names=("y", None))
    made = plan_conversion(source, zarr.MemoryStore(), zarr_format=2)
    assert made.steps[0].notes == ("the dimension names ['y', None] are lost",)


def test_unknown_members_are_omitted_and_reported():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(source, data=NUMBERS, zarr_format=2)
    document = json.loads(bytes(source.get(".zarray"))) | {"mine": 1}
    source.set(".zarray", json.dumps(document).encode())
    (step,) = convert(source, dest).steps
    assert step.notes == ("additional fields are not copied: 'mine'",)
    assert "mine" not in json.loads(bytes(dest.get("zarr.json")))
    zarr.open(dest)


def test_empty_members_are_not_reported():
    # zarr-python writes both.
    source = zarr.MemoryStore()
    zarr.create_array(source, path="x", data=NUMBERS)
    document = json.loads(bytes(source.get("x/zarr.json"))) | {"storage_transformers": []}
    source.set("x/zarr.json", json.dumps(document).encode())
    old, back = zarr.MemoryStore(), zarr.MemoryStore()
    assert [note for step in convert(source, old, zarr_format=2).steps for note in step.notes] == []
    old.set(".zattrs", b"{}")
    assert [note for step in convert(old, back).steps for note in step.notes] == []


def test_fill_values_that_were_not_defined():
    source, there, back = (zarr.MemoryStore() for _ in range(3))
    document = {
        "zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<i4", "compressor": None,
        "fill_value": None, "filters": None, "order": "C",
    }  # fmt: skip
    source.set(".zarray", json.dumps(document).encode())
    source.set("1", np.array([7, 8], "<i4").tobytes())
    (step,) = convert(source, there).steps
    assert step.cost == "copy"
    assert "was not defined and becomes 0, which is how missing chunks were read" in step.notes[0]
    assert zarr.open(there).fill_value == 0
    assert zarr.open(there)[...].tolist() == [0, 0, 7, 8]
    convert(source, back, zarr_format=2)
    assert zarr.open(back).fill_value is None


def test_objects_have_no_place_in_version_3():
    source = zarr.create_group(zarr.MemoryStore(), zarr_format=2)
    source.create_array("fine", data=NUMBERS)
    document = {
        "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|O", "compressor": None,
        "fill_value": None, "filters": [{"id": "json2", "encoding": "utf-8"}], "order": "C",
    }  # fmt: skip
    source.store.set("objects/.zarray", json.dumps(document).encode())
    with pytest.raises(ConversionError) as error:
        convert(source, zarr.MemoryStore())
    assert {problem.pointer.split("/")[1] for problem in error.value.problems} == {"objects#"}
    assert "has no data type for Python objects" in str(error.value)


def test_in_place_asks_which_of_two_old_formats_is_meant():
    store = zarr.MemoryStore()
    zarr.create_group(store, zarr_format=2, attributes={"a": 2})
    store.set("attributes.json", b'{"n5": "2.0.0", "a": 5}')
    with pytest.raises(ConversionError, match="select one with source_format"):
        convert(store)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        convert(store, source_format="n5")
    assert dict(zarr.open_group(store, zarr_format=3).attrs) == {"a": 5}
