"""An interrupted conversion can be run again, and the source is always readable."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import READS, FailingStore
from zarr_core.errors import ZarrError
from zarr_core.extension import StoreError
from zarr_transfer import convert, plan_conversion


def values():
    return {
        "g/a": np.arange(20, dtype="int16").reshape(4, 5) % 7,
        "z": np.arange(6.0),
    }


def hierarchy(zarr_format):
    store = zarr.MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"a": 1})
    for name, data in values().items():
        # A chunk of fill values is not stored.
        root.create_array(name, data=data, chunks=2, fill_value=int(data.flat[0]))
    root.create_group("g/empty", attributes={"b": 2})
    return store


def contents(store):
    return {key: bytes(store.get(key)) for key in store.list()}


def matches(store, zarr_format):
    root = zarr.open_group(store, "r", zarr_format=zarr_format)
    assert {path for path, _ in root.members(max_depth=None)} == {"g", "g/a", "g/empty", "z"}
    assert dict(root.attrs) == {"a": 1}
    assert dict(root["g/empty"].attrs) == {"b": 2}
    for name, data in values().items():
        assert np.array_equal(root[name][...], data), name


def stops(source, dest, **options):
    """Numbers of the writing calls of a complete conversion."""
    counting = FailingStore(dest)
    convert(source, counting if dest is not source else None, **options)
    return [n for n, (method, _) in enumerate(counting.calls, 1) if method not in READS]


CASES = {
    "copy": (3, {}),
    "recode": (3, {"chunks": 3, "shards": None}),
    "to version 2": (3, {"zarr_format": 2}),
    "from version 2": (2, {"chunk_key_encoding": "default"}),
}


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("case", CASES)
def test_to_another_store(case, when):
    zarr_format, options = CASES[case]
    source = hierarchy(zarr_format)
    target = options.get("zarr_format", 3)
    untouched, expected = contents(source), zarr.MemoryStore()
    convert(source, expected, **options)
    for stop in stops(source, zarr.MemoryStore(), **options):
        dest = zarr.MemoryStore()
        with pytest.raises(ZarrError):
            convert(source, FailingStore(dest, stop, when, forever=True), **options)
        assert contents(source) == untouched
        complete(dest, target)
        convert(source, dest, **options)
        assert contents(dest) == contents(expected)
        matches(dest, target)


def complete(dest, zarr_format):
    """Every visible node of an interrupted conversion has all its elements."""
    for name, data in values().items():
        try:
            array = zarr.open_array(dest, "r", path=name, zarr_format=zarr_format)
        except LookupError:
            continue
        assert np.array_equal(array[...], data), name


@pytest.mark.parametrize("remove_source", [False, True])
@pytest.mark.parametrize("when", ["before", "after"])
def test_version_2_becomes_version_3_in_place(when, remove_source):
    options = {"remove_source": remove_source}
    expected = hierarchy(2)
    counting = FailingStore(expected)
    done = convert(counting, **options)
    assert done.in_place
    assert done.cost == "document"
    matches(expected, 3)
    if remove_source:
        assert not [key for key in expected.list() if key.split("/")[-1].startswith(".z")]
    else:
        matches(expected, 2)
    for stop, (method, _) in enumerate(counting.calls, 1):
        if method in READS:
            continue
        store = hierarchy(2)
        with pytest.raises(ZarrError) as error:
            convert(FailingStore(store, stop, when, forever=True), **options)
        assert "rmdir" not in "\n".join(getattr(error.value, "__notes__", ()))
        removing = remove_source and method.startswith("erase")
        if not removing:
            matches(store, 2)
        convert(store, **options)
        matches(store, 3)
        if not removing:
            assert contents(store) == contents(expected)


def test_in_place_twice_changes_nothing():
    store = hierarchy(2)
    convert(store)
    before = contents(store)
    assert {step.cost for step in convert(store).steps} == {"nothing"}
    assert contents(store) == before
    convert(store, remove_source=True)
    with pytest.raises(LookupError):
        zarr.open(store, zarr_format=2)
    matches(store, 3)
    assert convert(store, remove_source=True).source.format_.name == "v3"
    matches(store, 3)


@pytest.mark.parametrize("when", ["before", "after"])
def test_removing_the_source(when):
    options = {"source_format": 3, "remove_source": True}
    counting = FailingStore(hierarchy(3))
    convert(counting, zarr.MemoryStore(), **options)
    for stop, (method, _) in enumerate(counting.calls, 1):
        if method in READS:
            continue
        source, dest = hierarchy(3), zarr.MemoryStore()
        with pytest.raises(ZarrError):
            convert(FailingStore(source, stop, when, forever=True), dest, **options)
        matches(dest, 3)


class WithoutMetadata(zarr.MemoryStore):
    """Does not store metadata."""

    def update(self, key, change):
        if key.endswith("zarr.json"):
            raise StoreError("the metadata cannot be stored", self, key)
        super().update(key, change)


def test_decoded_chunks_are_kept_until_the_metadata_is_stored():
    source = zarr.create_array(data=np.arange(200), chunks=5).store
    stored = {}
    with pytest.raises(StoreError, match="cannot be stored"):
        convert(source, WithoutMetadata(stored), chunks=4)
    dest = CountingStore(zarr.MemoryStore(stored))
    convert(source, dest, chunks=4)
    assert not dest.keys("set")  # only metadata was missing
    assert not [key for key in dest.list() if "copying" in key]
    assert np.array_equal(zarr.open(dest)[...], np.arange(200))


def test_a_failure_of_a_store_is_not_a_problem_of_a_node():
    source, counting = hierarchy(2), FailingStore(zarr.MemoryStore())
    plan_conversion(source, counting)
    for number in range(1, len(counting.calls) + 1):
        with pytest.raises(StoreError):
            convert(source, FailingStore(zarr.MemoryStore(), number), on_error="skip")
