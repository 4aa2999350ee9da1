"""Layouts by names of dimensions, other data types, limited memory, and resuming."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from failing_store import READS, FailingStore
from metadata_first_store import MetadataFirstStore
from zarr_core.errors import ZarrError
from zarr_transfer import (
    ConversionError,
    ElementsDifferError,
    convert,
    copy_elements,
    plan_conversion,
    rechunk,
)


def weather(zarr_format=3, **options):
    """A hierarchy with named dimensions: an array with three, two with one, one without names."""
    store = zarr.MemoryStore()
    root = zarr.create_group(store, zarr_format=zarr_format)
    t = np.arange(12 * 6 * 10.0).reshape(12, 6, 10)

    def named(*names):
        if zarr_format == 3:
            return {"dimension_names": names}
        return {"attributes": {"_ARRAY_DIMENSIONS": [*names]}}

    root.create_array("t", data=t, chunks=(1, 6, 10), **named("time", "y", "x"), **options)
    root.create_array("time", data=np.arange(12), chunks=5, **named("time"))
    root.create_array("x", data=np.arange(10.0), chunks=10, **named("x"))
    root.create_array("bare", data=np.arange(7), chunks=2)
    return store, t


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_chunks_by_names_of_dimensions(zarr_format):
    store, t = weather(zarr_format)
    options = {"chunks": {"time": 4, "y": 3}, "zarr_format": zarr_format}
    done = convert(store, dest := zarr.MemoryStore(), verify=True, **options)
    new = zarr.open(dest)
    assert {name: array.chunks for name, array in new.arrays()} == {
        "t": (4, 3, 10),
        "time": (4,),
        "x": (10,),
        "bare": (2,),
    }
    assert np.array_equal(new["t"][...], t)
    costs = {step.path: step.cost for step in done.steps}
    assert costs == {"": "document", "bare": "copy", "t": "recode", "time": "recode", "x": "copy"}


def test_shards_by_names_of_dimensions():
    store, t = weather()
    convert(store, dest := zarr.MemoryStore(), chunks={"y": 2}, shards={"y": 4, "x": 20})
    new = zarr.open(dest)
    assert (new["t"].chunks, new["t"].shards) == ((1, 2, 10), (1, 4, 20))
    assert (new["x"].chunks, new["x"].shards) == ((10,), (20,))
    assert new["time"].shards is None
    assert np.array_equal(new["t"][...], t)


def test_unknown_names_of_dimensions_are_problems():
    store, _ = weather()
    message = "no dimension has the name 'tmie'; existing names: 'time', 'x', 'y'"
    with pytest.raises(ConversionError, match=message):
        convert(store, dest := zarr.MemoryStore(), chunks={"tmie": 2})
    for function, source in ((zarr.copy, zarr.open(store)), (zarr.copy_all, zarr.open(store))):
        with pytest.raises(ValueError, match=message):
            function(source, dest, shards={"tmie": 2})
    assert not list(dest.list())


def test_only_some_arrays_get_the_layout():
    store, _ = weather()
    convert(store, dest := zarr.MemoryStore(), chunks=3, only=lambda path: path in ("x", "bare"))
    chunks = {name: array.chunks for name, array in zarr.open(dest).arrays()}
    assert chunks == {"t": (1, 6, 10), "time": (5,), "x": (3,), "bare": (3,)}


def test_another_data_type():
    store = zarr.MemoryStore()
    blosc = {"name": "blosc", "configuration": {"typesize": 8, "cname": "lz4", "clevel": 5,
             "shuffle": "shuffle", "blocksize": 0}}  # fmt: skip
    old = zarr.create_array(
        store, shape=(100, 10), chunks=(10, 10), dtype="f8", fill_value=0.1, compressors=blosc
    )
    old[20:30] = np.pi
    counting = CountingStore(store)
    convert(counting, dest := zarr.MemoryStore(), dtype="f4", verify=True)
    new = zarr.open(dest)
    assert new.dtype == "f4"
    assert new.compressors[0].typesize == 4
    assert new.fill_value == np.float32(0.1)
    assert np.array_equal(new[...], old[...].astype("f4"))
    assert list(dest.list_prefix("c/")) == ["c/2/0"]


@pytest.mark.parametrize(
    ("values", "dtype", "why"),
    [
        ([1.0, 2.5], "i2", "1 do not fit into int16, such as 2.5"),
        ([1, 70000], "i2", "such as 70000"),
        ([-1, 3], "u8", "such as -1"),
        ([1.0, np.nan], "i4", "such as nan"),
        ([1.0, 1e300], "f4", "such as 1e\\+300"),
        ([1 + 2j], "f8", "imaginary"),
        ([2**63], "i8", "such as 9223372036854775808"),
    ],
)
def test_mismatched_copy_is_rejected(values, dtype, why):
    source = zarr.create_array(None, data=np.array(values))
    with pytest.raises(ElementsDifferError, match=why):
        convert(source, zarr.MemoryStore(), dtype=dtype)


def test_text_becomes_no_number():
    source = zarr.create_array(None, data=np.array(["a"], dtype="U3"))
    with pytest.raises(ConversionError, match="/data_type"):
        convert(source, zarr.MemoryStore(), dtype="f8")


def test_memory_that_does_not_do_is_rejected_before_anything_is_written():
    source = zarr.create_array(
        None, shape=(2048, 2048), chunks=(2048, 1), dtype="f8", compressors=None
    )
    with pytest.raises(ConversionError, match="needs at least .* of memory"):
        convert(source, dest := zarr.MemoryStore(), chunks=(2048, 2048), max_memory=1 << 20)
    assert not list(dest.list())
    tight = plan_conversion(source, dest, chunks=(1, 2048), max_memory=1 << 20)
    assert any("intermediate array" in note for step in tight.steps for note in step.notes)
    zarr.copy(source, dest, chunks=(1, 2048), max_memory=1 << 20, dry_run=True, log=(lines := []).append)  # fmt: skip
    assert "note: /: uses an intermediate array" in lines[1]
    roomy = plan_conversion(source, dest, chunks=(1, 2048), max_memory=1 << 27)
    assert not [note for step in roomy.steps for note in step.notes]


@pytest.fixture
def long_array():
    """An array with many regions."""
    store = zarr.MemoryStore()
    values = np.arange(64 * 64.0).reshape(64, 64)
    zarr.create_array(store, path="a", data=values, chunks=(4, 64))
    return store, values, {"chunks": (8, 16), "max_memory": rechunk._OVERHEAD + 30_000}


@pytest.mark.parametrize(
    "options", [{"chunks": (16, 8)}, {"compressors": "gzip"}, {"overwrite": True}], ids=str
)
def test_another_layout_starts_over(long_array, options):
    store, values, first = long_array
    dest = zarr.MemoryStore()
    with pytest.raises(ZarrError):
        convert(store, FailingStore(dest, 40, "before", forever=True), **first)
    assert dest.exists("a/.copying")
    convert(store, dest, **(first | options))
    assert np.array_equal(zarr.open(dest)["a"][...], values)
    assert not dest.exists("a/.copying")


# --- uses an intermediate array ---


@pytest.fixture
def tight(monkeypatch):
    """Little memory, and copies of any size are limited."""
    monkeypatch.setattr(copy_elements, "BUFFER", 4096)
    monkeypatch.setattr(rechunk, "_OVERHEAD", 0)
    monkeypatch.setattr(rechunk, "_PER_OBJECT", 0)


def planes(store=None, shape=(30, 24, 20), chunks=(1, 24, 20), **options):
    array = zarr.create_array(
        store, path="a", shape=shape, dtype="f4", chunks=chunks, fill_value=-1, **options
    )
    array[3:] = np.random.default_rng(0).normal(size=(shape[0] - 3, *shape[1:])).astype("f4")
    return array


def chunks_read(store):
    """Keys of the chunks that were read from a store, once for each read."""
    return [call.key for call in store.calls if "/c/" in call.key and call.nbytes]


def test_planes_become_columns_with_each_chunk_decoded_once(tight):
    source, dest = CountingStore(zarr.MemoryStore()), zarr.MemoryStore()
    array = planes(source)
    values = array[...]
    seen, asked = [], {"chunks": (30, 4, 5), "verify": True}
    looked = plan_conversion(source, dest, source_path="a", **asked)
    assert "uses an intermediate array" in looked.steps[0].notes[0]
    source.calls.clear()
    convert(source, dest, source_path="a", progress=seen.append, **asked)
    assert seen[-1].done == seen[-1].total == 2 * values.size
    assert sorted(chunks_read(source)) == sorted(f"a/c/{n}/0/0" for n in range(3, 30))
    assert np.array_equal(zarr.open(dest)[...], values)
    assert {key.partition("/")[0] for key in dest.list()} == {"c", "zarr.json"}


@pytest.mark.parametrize(
    ("shape", "chunks", "new"),
    [
        ((30, 24, 20), (1, 24, 20), {"chunks": (30, 3, 3), "shards": (30, 6, 9), "dtype": "f8"}),
        ((31, 23, 19), (2, 23, 19), {"chunks": (31, 4, 4)}),
        ((64, 40, 12), (1, 16, 12), {"chunks": (64, 5, 2), "fill_value": 7}),
    ],
)
def test_lengths_that_do_not_divide_each_other(tight, shape, chunks, new):
    array = planes(shape=shape, chunks=chunks)
    looked = plan_conversion(array, zarr.MemoryStore(), **new)
    assert any("intermediate array" in note for note in looked.steps[0].notes)
    convert(array, dest := zarr.MemoryStore(), verify=True, **new)
    assert np.array_equal(zarr.open(dest)[...], array[...])


def test_no_intermediate_arrays_without_erase(tight, tmp_path):
    array = planes()
    convert(array, tmp_path / "a.zip", chunks=(30, 4, 5))
    new = zarr.open(tmp_path / "a.zip")
    assert np.array_equal(new[...], array[...])
    assert not [key for key in new.store.list() if "copying" in key]


def test_either_half_goes_on_where_it_was_stopped(tight):
    source = zarr.MemoryStore()
    planes(source)
    expected = zarr.MemoryStore()
    counting = FailingStore(expected)
    convert(source, counting, chunks=(30, 4, 5))
    calls = [n for n, (method, _) in enumerate(counting.calls, 1) if method not in READS]
    saved = []
    for stop in calls[:: len(calls) // 12]:
        dest = zarr.MemoryStore()
        with pytest.raises(ZarrError):
            convert(source, FailingStore(dest, stop, "after", forever=True), chunks=(30, 4, 5))
        again = CountingStore(source)
        convert(again, dest, chunks=(30, 4, 5))
        saved.append(27 - len(chunks_read(again)))
        assert {key: bytes(dest.get(key)) for key in dest.list()} == {
            key: bytes(expected.get(key)) for key in expected.list()
        }
    assert saved == sorted(saved)
    assert saved[-1] == 27  # the second half does not read the source


def test_pieces_that_were_left_do_no_harm(tight):
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    array = planes(source)
    with pytest.raises(ZarrError):
        convert(source, FailingStore(dest, 60, "before", forever=True), chunks=(30, 4, 5))
    assert [key for key in dest.list() if "-pieces/" in key]
    convert(source, dest, chunks=(30, 5, 4))
    assert np.array_equal(zarr.open(dest)["a"][...], array[...])
    assert not [key for key in dest.list() if "copying" in key]
    stopped = FailingStore(dest, 90, "before", forever=True)
    with pytest.raises(ZarrError):
        convert(source, stopped, overwrite=True, chunks=(30, 4, 5))
    convert(source, dest, overwrite=True, chunks=(30, 4, 5))
    assert np.array_equal(zarr.open(dest)["a"][...], array[...])
    assert not [key for key in dest.list() if "copying" in key]


# --- sources that cannot list ---


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_tell_of_members_where_nothing_is_listed(zarr_format):
    store, t = weather(zarr_format)
    zarr.create_group(store, path="g/h")
    zarr.consolidate_metadata(store)
    far = CountingStore(store)
    far.supports_listing = False
    convert(far, dest := zarr.MemoryStore(), chunks={"time": 6}, verify=True)
    assert far.count("list", "list_prefix", "list_dir") == 0
    new = zarr.open(dest)
    assert {path for path, _ in new.members(max_depth=None)} == {
        "t", "time", "x", "bare", "g", "g/h",
    }  # fmt: skip
    assert new["t"].chunks == (6, 6, 10)
    assert np.array_equal(new["t"][...], t)


def test_rechunking_in_little_memory_where_metadata_must_come_first():
    values = np.arange(600 * 600, dtype="u2").reshape(600, 600)
    source = zarr.create_array({}, data=values, chunks=(600, 1), compressors=None)
    store = MetadataFirstStore()
    zarr.copy(source, store, dest_path="rows", chunks=(1, 600), max_memory=2**18)
    np.testing.assert_array_equal(zarr.open(store, path="rows")[...], values)
    assert not store.ahead
