"""Filters in the draft of 2021, which stores them in the attributes."""

import json

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import DIALECT, SPEC, array_store, document_of, open_a, ramp, store_of
from zarr_core.errors import MetadataError, MetadataValidationError
from zarr_core.extension import ExtensionDefinition

KEY = "meta/root/a.array.json"
GZIP = {"codec": f"{SPEC}codec/gzip/1.0", "configuration": {"level": 1}}


def store_2021(**changes):
    return array_store(DIALECT, **changes)


def made(**options):
    """A new array, and its metadata document."""
    store = store_of({}, None)
    options = {"data": ramp((4, 6)), "chunks": (2, 3), **options}
    array = zarr.create_array(store, path="a", zarr_format="draft-2021", **options)
    return array, document_of(store, KEY)


FILTERS = [{"id": "delta", "dtype": "<i4", "astype": "<i4"}, {"id": "shuffle", "elementsize": 4}]


def test_filters_stand_in_the_attributes():
    store = store_2021(attributes={"filters": FILTERS, "x": 1}, compressor=GZIP)
    chunk = ramp((2, 3)) + 1
    for config in (*FILTERS, {"id": "gzip"}):
        chunk = numcodecs.get_codec(dict(config)).encode(chunk)
    store.set("data/root/a/c1/1", bytes(chunk))
    array = open_a(store)
    assert dict(array.attrs) == {"x": 1}
    assert array[...].sum() == 21
    array.attrs.put({"y": 2})
    assert document_of(store, KEY)["attributes"] == {"filters": FILTERS, "y": 2}
    array[...] = ramp((4, 6))
    assert open_a(store)[...].tolist() == ramp((4, 6)).tolist()


def test_filters_are_written_there():
    filters = [ExtensionDefinition("numcodecs.delta", {"dtype": "<i4", "astype": "<i4"})]
    array, document = made(
        filters=filters, compressors=[{"name": "numcodecs.shuffle"}], attributes={"x": 1}
    )
    assert document["attributes"]["filters"] == [
        {"id": "delta", "dtype": "<i4", "astype": "<i4"},
        document["attributes"]["filters"][1],
    ]
    assert document["attributes"]["filters"][1]["id"] == "shuffle"
    assert "compressor" not in document, "it has no URI for this one"
    assert open_a(array.store)[...].tolist() == ramp((4, 6)).tolist()
    assert dict(array.attrs) == {"x": 1}


@pytest.mark.parametrize("value", [None, [], "butterworth", {"id": "delta"}, ["delta"], 5])
def test_an_attribute_of_that_name_that_is_not_a_list_of_codecs(value):
    store = store_2021(attributes={"filters": value})
    array = open_a(store)
    assert array.attrs["filters"] == value
    array.attrs["x"] = 1
    assert document_of(store, KEY)["attributes"] == {"filters": value, "x": 1}
    group = {"attributes": {"filters": FILTERS}}
    opened = open_a(store_of({"meta/root/a.group.json": group}, DIALECT))
    assert opened.attrs["filters"] == FILTERS, "groups have no codecs"


def test_users_cannot_take_the_name():
    array, _ = made()
    before = bytes(array.store.get(KEY))
    with pytest.raises(MetadataError, match="/attributes/filters"):
        array.attrs["filters"] = FILTERS
    assert bytes(array.store.get(KEY)) == before
    with pytest.raises(MetadataError, match="/attributes/filters"):
        made(attributes={"filters": "x"})


def test_codecs_without_id_are_rejected():
    with pytest.raises(MetadataValidationError, match="/attributes/filters/1/id"):
        open_a(store_2021(attributes={"filters": [FILTERS[0], {"dtype": "<i4"}]}))
    with pytest.raises(MetadataValidationError, match="/attributes/filters/0/dtype"):
        open_a(store_2021(attributes={"filters": [{"id": "delta", "dtype": "<f8"}]}))


@pytest.mark.parametrize(
    ("codec", "values"),
    [
        ("vlen-utf8", ["", "ä", "x" * 20, "5"]),
        ("vlen-bytes", [b"", b"\0a", b"x" * 20, b"5"]),
        ("json2", [1, "a", None, [1, {"b": 2}]]),
    ],
)
def test_objects(codec, values):
    described = {"extension": "TODO: object array protocol URL", "type": "|O", "fallback": None}
    config = numcodecs.get_codec({"id": codec}).get_config()
    grid = {"type": "regular", "chunk_shape": [4], "separator": "/"}
    store = store_2021(
        data_type=described, shape=[4], chunk_grid=grid, fill_value=None, compressor=GZIP,
        attributes={"filters": [config]},
    )  # fmt: skip
    elements = np.empty(4, object)
    elements[:] = values
    encoded = numcodecs.get_codec(dict(config)).encode(elements)
    store.set("data/root/a/c0", numcodecs.GZip(1).encode(encoded))
    array = open_a(store)
    assert array[...].tolist() == values
    array[...] = elements[::-1]
    assert open_a(store)[...].tolist() == values[::-1]
    array.attrs["x"] = 1
    written = document_of(store, KEY)
    assert written["attributes"] == json.loads(json.dumps({"filters": [config], "x": 1}))
    assert written["data_type"] == described


def test_texts_are_written_as_objects():
    values = np.array(["", "ä", "xyz"], np.dtypes.StringDType())
    array, document = made(data=values, chunks=3)
    assert document["data_type"]["type"] == "|O"
    assert document["attributes"]["filters"] == [{"id": "vlen-utf8"}]
    assert open_a(array.store)[...].tolist() == values.tolist()
