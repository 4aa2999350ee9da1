"""Plans of conversions, which write nothing."""

import numpy as np
import pytest
import zarr_core as zarr
from counting_store import CountingStore
from zarr_core.errors import NodeExistsError, NodeNotFoundError, UnknownExtensionError
from zarr_core.extension import BytesToBytesCodec, MetadataValidationError
from zarr_transfer import ConversionError, convert, plan_conversion

WRITES = ("set", "update", "erase", "erase_values", "erase_prefix")


def hierarchy(zarr_format=3):
    root = zarr.create_group(zarr.MemoryStore(), zarr_format=zarr_format, attributes={"a": 1})
    root.create_array("x", data=np.arange(12).reshape(3, 4), chunks=(2, 2))
    root.create_array("g/y", data=np.arange(5.0), chunks=2)
    return root


def test_a_table_for_people():
    source, dest = hierarchy(), zarr.MemoryStore()
    made = plan_conversion(source, dest)
    assert str(made).splitlines() == [
        f"{source.store} (v3) -> {dest} (v3)",
        "path  kind   cost",
        "/     group  document",
        "/g    group  document",
        "/g/y  array  copy",
        "/x    array  copy",
    ]
    assert made.cost == "copy"
    assert not made.in_place


def test_nothing_is_written():
    source, dest = CountingStore(hierarchy().store), CountingStore(zarr.MemoryStore())
    for asked in ({}, {"chunks": 1}, {"zarr_format": 2}, {"overwrite": True}):
        plan_conversion(source, dest, **asked)
    plan_conversion(source, zarr_format=2)
    assert source.count(*WRITES) == dest.count(*WRITES) == 0
    assert not [key for key in source.keys("get", "get_limited", "open_value") if "/c/" in key]


def test_all_problems_come_at_once_and_before_anything_is_written():
    source = hierarchy()
    source.create_array("h", shape=3, dtype="r24")
    source.create_array("k", shape=3, dtype="r40")
    dest = CountingStore(zarr.MemoryStore())
    with pytest.raises(ConversionError, match="cannot be converted, 2 problems") as error:
        convert(source, dest, zarr_format="n5")
    assert [problem.pointer for problem in error.value.problems] == [
        "/h#/data_type",
        "/k#/data_type",
    ]
    assert isinstance(error.value, MetadataValidationError)
    assert dest.count(*WRITES) == 0
    done = convert(source, dest, zarr_format="n5", on_error="skip")
    assert [step.path for step in done.steps if step.problems] == ["h", "k"]
    assert set(zarr.open(dest, zarr_format="n5")) == {"x", "g"}
    with pytest.raises(
        ConversionError,
        match="the source is not removed, since some of its nodes cannot be converted",
    ):
        convert(source, zarr.MemoryStore(), zarr_format="n5", on_error="skip", remove_source=True)


def test_existing_nodes_are_not_overwritten_by_default():
    source, dest = hierarchy(), zarr.MemoryStore()
    zarr.create_array(dest, path="x", data=np.zeros(3))
    with pytest.raises(ConversionError, match="/x: another node exists"):
        convert(source, dest)
    assert zarr.open(dest)["x"].shape == (3,)
    convert(source, dest, overwrite=True)
    assert zarr.open(dest)["x"].shape == (3, 4)
    dest.set("notes.txt", b"mine")
    with pytest.raises(ConversionError, match=r"overwriting would remove 'notes.txt'"):
        convert(source, dest, overwrite=True)


def test_the_same_again_is_done_already():
    source, dest = hierarchy(), CountingStore(zarr.MemoryStore())
    convert(source, dest)
    dest.calls.clear()
    again = convert(source, dest)
    assert {step.cost for step in again.steps} == {"nothing"}
    assert dest.count(*WRITES) == 0


def test_group_without_attributes_does_not_block():
    source, dest = hierarchy(), zarr.create_group(zarr.MemoryStore())
    convert(source, dest)
    assert dict(zarr.open(dest.store).attrs) == {"a": 1}
    other = zarr.create_group(zarr.MemoryStore(), attributes={"mine": 1})
    with pytest.raises(ConversionError, match="another node"):
        convert(source, other)


def test_groups_that_lead_to_the_destination_are_created():
    source, dest = hierarchy(), zarr.MemoryStore()
    convert(source["x"], dest, dest_path="far/below/x")
    assert np.array_equal(zarr.open(dest)["far/below/x"][...], source["x"][...])
    assert sorted(path for path, _ in zarr.open(dest).members(max_depth=None)) == [
        "far", "far/below", "far/below/x",
    ]  # fmt: skip
    with pytest.raises(ConversionError, match="which is an array"):
        convert(source["x"], dest, dest_path="far/below/x/y")
    dest.set("far/zarr.json", b"{")
    with pytest.raises(ConversionError, match="'/far' cannot be read"):
        convert(source["x"], dest, dest_path="far/y")


def test_a_group_is_converted_to_a_place_beside_it():
    source = hierarchy()
    convert(source["g"], dest_path="h")
    assert np.array_equal(source["h/y"][...], source["g/y"][...])


def test_chunks_are_neither_decoded_nor_moved_in_place():
    source = hierarchy()
    with pytest.raises(ConversionError, match="not supported in place; pass a dest"):
        convert(source["x"], chunks=1)
    for options in ({"chunk_key_encoding": "v2"}, {"zarr_format": 2}):
        with pytest.raises(ConversionError, match="stored with other keys.*pass a dest"):
            convert(source["x"], **options)
    done = convert(source)
    assert {step.cost for step in done.steps} == {"nothing"}


def test_keys_are_those_that_are_asked_for():
    source, dest = hierarchy(), zarr.MemoryStore()
    done = convert(source["x"], dest, chunk_key_encoding={"name": "v2", "separator": "."})
    assert done.cost == "copy"
    assert {"0.0", "0.1", "1.0", "1.1", "zarr.json"} == set(dest.list())
    assert np.array_equal(zarr.open(dest)[...], source["x"][...])


def test_the_source_is_removed_only_if_asked_and_only_if_it_is_all_known():
    source, dest = hierarchy(), zarr.MemoryStore()
    source.store.set("notes.txt", b"mine")
    with pytest.raises(ConversionError, match=r"would remove 'notes.txt'"):
        convert(source, dest, remove_source=True)
    source.store.erase("notes.txt")
    convert(source, dest, remove_source=True)
    assert list(source.store.list()) == []
    assert zarr.open(dest)["g/y"][4] == 4


def test_consolidated_metadata_are_omitted():
    source, dest = hierarchy(), zarr.MemoryStore()
    zarr.consolidate_metadata(source)
    done = convert(source.store, dest)
    assert done.steps[0].notes == ("consolidated metadata is not copied; consolidate again",)
    assert "consolidated_metadata" not in bytes(dest.get("zarr.json")).decode()


def test_damaged_documents_are_problems_of_their_nodes():
    source = hierarchy()
    source.store.set("g/y/zarr.json", b"{}")
    made = plan_conversion(source.store, zarr.MemoryStore())
    assert [problem.pointer for problem in made.problems] == ["/g/y"]
    dest = zarr.MemoryStore()
    convert(source.store, dest, on_error="skip")
    assert set(zarr.open(dest)) == {"x", "g"}


def test_mistakes_of_the_caller():
    with pytest.raises(NodeNotFoundError):
        convert(zarr.MemoryStore(), zarr.MemoryStore())
    with pytest.raises(UnknownExtensionError):
        convert(hierarchy(), zarr.MemoryStore(), zarr_format="v9")
    with pytest.raises(ValueError, match="on_error"):
        convert(hierarchy(), zarr.MemoryStore(), on_error="ignore")
    for function in (convert, plan_conversion):
        with pytest.raises(TypeError, match="unexpected keyword argument.*chunk\\b"):
            function(hierarchy(), {}, chunk=3)
    readable = hierarchy()
    with pytest.raises(ConversionError, match="reading only"):
        convert(readable, zarr.MemoryStore(read_only=True))


def test_progress_is_reported(capsys):
    told: list[zarr.Progress] = []
    convert(hierarchy(), zarr.MemoryStore(), chunks=1, progress=told.append)
    assert (told[-1].node, told[-1].nodes) == (4, 4)
    assert [item.done for item in told if item.path == "x"][-1] == 12
    assert {item.unit for item in told} == {"elements", "documents"}
    assert capsys.readouterr().err == ""
    convert(hierarchy(), zarr.MemoryStore(), progress=True)
    line = capsys.readouterr().err
    assert line.startswith("\r")
    assert line.endswith("100% \n")
    assert line.count("\n") == 1


def test_numbers_that_json_does_not_have_become_strings():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    zarr.create_array(source, path="x", data=np.zeros(2), zarr_format=2)
    source.set("x/.zattrs", b'{"missing": NaN, "range": [-Infinity, 1], "units": "m"}')
    source.set(".zattrs", b'{"most": Infinity}')
    done = convert(source, dest)
    assert dict(zarr.open(dest).attrs) == {"most": "Infinity"}
    assert dict(zarr.open(dest)["x"].attrs) == {
        "missing": "NaN", "range": ["-Infinity", 1], "units": "m",
    }  # fmt: skip
    note = "numbers in attributes that JSON does not have become strings"
    assert [step.notes for step in done.steps] == [
        (f"{note}: /most",), (f"{note}: /missing, /range/0",),
    ]  # fmt: skip


def test_nothing_is_put_below_a_group_that_is_omitted():
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    root = zarr.create_group(source, zarr_format=3)
    root.create_array("fine", data=np.zeros(2))
    # In N5, a node with all of these is an array.
    attributes = {"dimensions": [1], "blockSize": [1], "dataType": "int8", "compression": {}}
    root.create_group("left", attributes=attributes).create_array("below", data=np.zeros(2))
    done = convert(source, dest, zarr_format="n5", on_error="skip")
    assert [step.path for step in done.steps if step.problems] == ["left"]
    assert {key.partition("/")[0] for key in dest.list()} == {"attributes.json", "fine"}


def test_filters_that_change_elements_are_not_dropped_silently():
    source = zarr.MemoryStore()
    filters = [{"name": "numcodecs.bitround", "configuration": {"keepbits": 3}}]
    zarr.create_array(source, data=np.linspace(0, 1, 8).astype("f4"), filters=filters)
    made = plan_conversion(source, zarr.MemoryStore(), zarr_format="n5")
    assert made.cost == "recode"
    assert any("filters are removed" in note for note in made.steps[0].notes)
    occupied = zarr.create_group(zarr_format="n5", attributes={"mine": 1}).store
    impossible = plan_conversion(source, occupied, zarr_format="n5").steps[0]
    assert impossible.problems
    assert (impossible.cost, impossible.notes) == ("recode", made.steps[0].notes)
    dest = zarr.MemoryStore()
    convert(source, dest, zarr_format="n5")
    assert np.array_equal(zarr.open(dest, zarr_format="n5")[...], zarr.open(source)[...])


def test_extensions_of_the_block_decode_the_chunks():
    source, codec = zarr.MemoryStore(), {"codec": {"acme.flip": Flip}}
    values = np.arange(6, dtype="u1")
    zarr.open_array(source, data=values, compressors="acme.flip", mode="w", extensions=codec)
    with pytest.raises(ConversionError, match=r"acme\.flip"):
        convert(source, zarr.MemoryStore(), chunks=2)
    dest = zarr.MemoryStore()
    with zarr.override_extensions(codec):
        assert plan_conversion(source, zarr.MemoryStore(), chunks=2).problems == ()
        convert(source, dest, chunks=2, compressors=None)
    assert np.array_equal(zarr.open(dest)[...], values)


class Flip(BytesToBytesCodec):
    """Inverts all bits."""

    def encode(self, data, decoded_size):
        return bytes(255 - byte for byte in bytes(data))

    def decode(self, data, decoded_size):
        return self.encode(data, decoded_size)


@pytest.mark.parametrize("zarr_format", [2, 3, "n5"])
def test_a_store_that_is_of_another_format_as_a_whole(zarr_format):
    """The draft has one entry point per store: reported before a chunk is copied."""
    root = zarr.create_group(zarr.MemoryStore(), zarr_format=zarr_format)
    root.create_array("x", data=np.arange(4), chunks=2)
    store = root.store
    before = {key: bytes(store.get(key)) for key in store.list_prefix("")}
    for source, dest_path in ((store, None), (hierarchy().store, "sub")):
        with pytest.raises((ConversionError, NodeExistsError), match="conflicts with|in place"):
            convert(source, store, dest_path=dest_path, zarr_format="draft")
        assert {key: bytes(store.get(key)) for key in store.list_prefix("")} == before
