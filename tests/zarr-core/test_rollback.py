"""A failed creation leaves nothing, or only the keys that a note of the exception names."""

import os
import resource
import subprocess
from contextlib import contextmanager

import numpy as np
import pytest
import zarr_core as zarr
from failing_store import FailingStore
from zarr_core.errors import NodeExistsError, StoreError, ZarrError
from zarr_core.hierarchy.rollback import Rollback
from zarr_core.registry.resolve import format_named

VALUES = np.arange(1, 37, dtype="int32").reshape(6, 6)
FORMATS = [2, 3, "n5", "draft", "draft-2021"]
OTHER = zarr.create_group(zarr.MemoryStore(other := {}), attributes={"kept": True})
OTHER.create_array("a/other", data=VALUES, chunks=(3, 3))
EXISTING = dict(other)


def create_array(store, **options):
    zarr.create_array(
        store, path="a/b/x", data=VALUES, chunks=(2, 2), attributes={"t": 1}, **options
    )


def create_empty_array(store, **options):
    zarr.create_array(store, path="a/b/x", shape=4, dtype="int8", **options)


def create_group(store, **options):
    zarr.create_group(store, path="a/b", attributes={"t": 1}, **options)


def open_group(store, **options):
    zarr.open_group(store, "a", path="a/b", attributes={"t": 1}, **options)


def save(store):
    zarr.save(store, VALUES, path="a/b/x")


def save_group(store):
    zarr.save(store, VALUES, path="a/b", one=VALUES, two=VALUES)


def notes_of(error):
    return "\n".join(getattr(error, "__notes__", ()))


def contents_of(store):
    return {key: bytes(store.get(key)) for key in store.list()}


def failures(work, before, **options):
    """The error and the remaining keys, for each failing call of the store."""
    counted = FailingStore(zarr.MemoryStore(dict(before)))
    work(counted, **options)
    for number in range(1, len(counted.calls) + 1):
        for when in ("before", "after"):
            inner = zarr.MemoryStore(dict(before))
            try:
                work(FailingStore(inner, fail_at=number, when=when), **options)
            except ZarrError as error:
                yield error, contents_of(inner)


def check_failures(work, before, **options):
    seen = 0
    for error, left in failures(work, before, **options):
        seen += 1
        notes = notes_of(error)
        assert before.items() <= left.items(), notes
        for key in left.keys() - before.keys():
            node = "/" + key.rpartition("/")[0]
            assert repr(key) in notes or repr(node) in notes, (key, notes)
    return seen


@pytest.mark.parametrize("before", [{}, EXISTING], ids=["empty", "existing"])
@pytest.mark.parametrize(
    "work", [create_array, create_empty_array, create_group, open_group, save, save_group]
)
def test_nothing_is_left_unless_a_note_names_it(work, before):
    assert check_failures(work, before) > 5


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("work", [create_array, create_empty_array, create_group])
def test_nothing_is_left_in_any_format_unless_a_note_names_it(work, zarr_format):
    assert check_failures(work, {}, zarr_format=zarr_format) > 5


DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


class FullStore(FailingStore):
    """A store without space for chunks."""

    def set(self, key, value):
        if key.rpartition("/")[2] not in DOCUMENTS:
            raise StoreError("no space left on device", self, key)
        super().set(key, value)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_whose_values_cannot_be_stored_is_removed_with_its_groups(zarr_format):
    store = zarr.MemoryStore(dict(EXISTING) if zarr_format == 3 else {})
    before = contents_of(store)
    with pytest.raises(StoreError, match="no space left") as info:
        create_array(FullStore(store), zarr_format=zarr_format)
    assert contents_of(store) == before
    assert notes_of(info.value) == ""
    create_array(store, zarr_format=zarr_format)
    assert np.array_equal(zarr.open_array(store, path="a/b/x")[...], VALUES)


def test_other_keys_next_to_a_new_array_are_kept():
    store = zarr.MemoryStore({"notes.txt": b"mine", "c/readme": b"mine", "sub/zarr.json": b"{}"})
    before = contents_of(store)
    with pytest.raises(StoreError):
        zarr.create_array(FullStore(store), data=VALUES, chunks=(2, 2))
    assert contents_of(store) == before


def test_groups_that_others_use_by_now_are_kept_and_named():
    store = zarr.MemoryStore()

    class Shared(FullStore):
        def set(self, key, value):
            if key == "a/b/x/c/0/0":
                zarr.create_array(store, path="a/other", data=VALUES)
            super().set(key, value)

    with pytest.raises(StoreError) as info:
        create_array(Shared(store))
    assert [path for path, _ in zarr.open_group(store).members(max_depth=None)] == ["a", "a/other"]
    notes = notes_of(info.value)
    assert "'/a': this new group is kept" in notes
    assert "'/a/b'" not in notes


def test_error_names_what_overwrite_removed():
    store = zarr.MemoryStore(dict(EXISTING))
    with pytest.raises(StoreError) as info:
        zarr.create_array(FullStore(store), path="a/other", data=VALUES, overwrite=True)
    assert "'/a/other': the previous node has been removed (overwrite)" in notes_of(info.value)
    assert list(zarr.open_group(store, path="a")) == []
    with pytest.raises(StoreError) as info:
        zarr.create_array(FullStore(store), path="a/new", data=VALUES, overwrite=True)
    assert notes_of(info.value) == ""


def test_failed_removal_names_remaining_keys():
    class Stuck(FullStore):
        def erase(self, key):
            raise StoreError("permission denied", self, key)

    store = zarr.MemoryStore()
    with pytest.raises(StoreError, match="no space left") as info:
        create_array(Stuck(store))
    notes = notes_of(info.value)
    for node, kind in {"/a/b/x": "array", "/a/b": "group", "/a": "group", "/": "group"}.items():
        text = "this incomplete array remains" if kind == "array" else "this new group is kept"
        assert f"{node!r}: {text}" in notes
    assert "permission denied" in notes


def test_interrupts_are_undone_too():
    class Interrupted(FailingStore):
        def set(self, key, value):
            super().set(key, value)
            if key.endswith(("x/c/1/1", "two/c/0/0")):
                raise KeyboardInterrupt

    store = zarr.MemoryStore()
    with pytest.raises(KeyboardInterrupt):
        create_array(Interrupted(store))
    assert list(store.list()) == []
    with pytest.raises(KeyboardInterrupt):
        zarr.save(Interrupted(store), one=VALUES, two=VALUES)
    assert list(store.list()) == []


def test_data_that_cannot_be_read_leave_nothing():
    class Broken:
        shape, dtype, chunks, ndim = (4, 4), np.dtype("int32"), (2, 2), 2

        def __getitem__(self, selection):
            raise RuntimeError("a damaged file")

        def __array__(self, *_, **__):
            raise RuntimeError("a damaged file")

    store = zarr.MemoryStore()
    with pytest.raises(RuntimeError, match="a damaged file"):
        zarr.create_array(store, path="a/x", data=Broken(), chunks=(2, 2))
    assert list(store.list()) == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_lose_what_was_removed(zarr_format):
    store = zarr.MemoryStore()
    zarr.create_array(store, path="a/old", data=VALUES, zarr_format=zarr_format)
    root = zarr.consolidate_metadata(FullStore(store))
    for name, overwrite in (("a/b/x", False), ("a/old", True)):
        with pytest.raises(StoreError):
            root.create_array(name, data=VALUES, overwrite=overwrite)
        zarr.check_consolidated(zarr.open_group(store))
    assert list(zarr.open_group(store, use_consolidated=True)["a"]) == []


def test_values_in_a_store_that_cannot_list():
    class Unlisted(FullStore):
        def __init__(self, inner):
            super().__init__(inner)
            self.supports_listing = False

        def list_prefix(self, prefix):
            raise StoreError("cannot list", self)

    store = zarr.MemoryStore()
    with pytest.raises(StoreError, match="no space") as info:
        create_array(Unlisted(store))
    assert not store.exists("a/b/x/zarr.json")
    notes = notes_of(info.value)
    assert "'/a/b/x': chunks may remain" in notes
    assert "'/a/b': this new group is kept" in notes


# --- the mechanism ---


def test_rollbacks_nest():
    store, v3 = zarr.MemoryStore(), format_named(3)
    metadata = zarr.create_array(shape=3).metadata

    def work(outer):
        with outer.nested():
            zarr.create_array(store, path="a/x", data=[1, 2])
            with pytest.raises(NodeExistsError):
                zarr.create_group(store, path="a/x")
        zarr.create_array(store, path="mine", data=[1, 2])
        assert outer.create(store, "y", v3, metadata)
        assert not outer.create(store, "mine", v3, metadata)
        raise ValueError("later")

    with pytest.raises(ValueError, match="later"), Rollback() as rollback:
        work(rollback)
    assert [path for path, _ in zarr.open_group(store).members()] == ["mine"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_document_that_may_be_of_another_writer_is_kept_and_named_if_it_is_stored(when):
    failing = FailingStore(store := zarr.MemoryStore(), fail_at=1, when=when)
    with pytest.raises(StoreError) as info, Rollback() as rollback:
        rollback.create(failing, "a", format_named(3), zarr.create_group().metadata)
    is_named = "this attempt may have stored 'a/zarr.json'" in notes_of(info.value)
    assert is_named == store.exists("a/zarr.json") == (when == "after")


def test_complete_values_are_kept():
    store, v3 = zarr.MemoryStore(), format_named(3)
    metadata = zarr.create_array(shape=3).metadata

    def work(rollback):
        rollback.create(store, "x", v3, metadata)
        rollback.complete()
        raise ValueError("later")

    with pytest.raises(ValueError, match="later") as info, Rollback() as rollback:
        work(rollback)
    assert store.exists("x/zarr.json")
    assert notes_of(info.value) == ""


# --- a directory ---


@contextmanager
def no_file_above(size):
    """Limit the size of files by the operating system, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_files_that_cannot_be_written(tmp_path, zarr_format):
    place = tmp_path / "x.zarr"
    large = np.random.default_rng(0).integers(0, 255, 100_000, "uint8")
    with no_file_above(20_000), pytest.raises(StoreError, match="File too large") as info:
        zarr.create_array(place, data=large, chunks=50_000, zarr_format=zarr_format)
    assert "old value" not in str(info.value)
    assert not place.exists() or list(place.iterdir()) == []
    array = zarr.create_array(place, data=large, chunks=50_000, zarr_format=zarr_format)
    with no_file_above(20_000), pytest.raises(StoreError, match="the old value is kept"):
        array[...] = large[::-1].copy()
    assert np.array_equal(array[...], large)


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", place]
    if os.geteuid() or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a tmpfs")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk(small_disk):
    large = np.random.default_rng(0).integers(0, 255, (10, 20_000), "uint8")
    kept = zarr.create_array(small_disk / "kept.zarr", data=[1, 2, 3])
    for work in (
        lambda: zarr.create_array(small_disk / "x.zarr", data=large, chunks=(1, 20_000)),
        lambda: zarr.save(small_disk / "x.zarr", one=large[:1], two=large),
        lambda: zarr.create_array(
            small_disk / "x.zarr", path="a/b", data=large, chunks=(1, 20_000)
        ),
    ):
        with pytest.raises(StoreError, match="No space left on device") as info:
            work()
        assert "old value" not in str(info.value)
        place = small_disk / "x.zarr"
        assert not any(path.is_file() for path in place.rglob("*")), notes_of(info.value)
    assert kept[...].tolist() == [1, 2, 3]
    zarr.create_array(small_disk / "x.zarr", data=large[:1], chunks=(1, 20_000))


def test_a_place_that_cannot_be_written_has_no_old_value(tmp_path):
    place = tmp_path / "x.zarr"
    if os.geteuid():
        tmp_path.chmod(0o500)
    elif os.path.isdir("/sys/kernel"):
        place = "/sys/kernel/x.zarr"  # also applies to the superuser
    else:
        pytest.skip("needs a directory that refuses files")
    with pytest.raises(StoreError, match="cannot be changed") as info:
        zarr.create_group(place)
    assert "old value" not in str(info.value)
