"""Warnings show the line of the user, wherever in the library they are issued."""

import json
from itertools import count

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.messages import warn

LENGTHS = count(1)


def of_an_unknown_codec(store):
    zarr.create_array(store, path="x", data=np.arange(3), compressors=None)
    metadata = json.loads(bytes(store.get("x/zarr.json")))
    metadata["codecs"].append({"name": "acme.unknown", "must_understand": False})
    store.set("x/zarr.json", json.dumps(metadata).encode())


def of_nan(store):
    # The warning is issued once for equal metadata.
    zarr.create_array(store, path="x", shape=next(LENGTHS), attributes={"a": 0})
    metadata = json.loads(bytes(store.get("x/zarr.json")))
    metadata["attributes"]["a"] = float("nan")
    store.set("x/zarr.json", json.dumps(metadata).encode())


@pytest.mark.parametrize(
    ("prepare", "text"),
    [
        (of_an_unknown_codec, "'acme.unknown' are ignored"),
        (of_nan, "contains NaN"),
    ],
)
@pytest.mark.parametrize(
    "opening",
    [
        lambda store: zarr.open(store, path="x"),
        lambda store: zarr.open_array(store, "r", path="x", extensions={"codec": {}}),
        lambda store: zarr.load(store, path="x"),
        lambda store: zarr.save(store, np.arange(3), path="y") or zarr.open(store, path="x"),
    ],
)
def test_opening(prepare, text, opening):
    store = zarr.MemoryStore.from_url(f"memory://warnings-{next(LENGTHS)}")
    prepare(store)
    with pytest.warns(UserWarning, match=text) as caught:
        opening(store)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    "creating",
    [
        lambda: zarr.create_group({}, path="__x/y"),
        lambda: zarr.create_group({}).create_array("__x", shape=3),
    ],
)
def test_creating(creating):
    with (
        zarr.config.set(reserved_names="warn"),
        pytest.warns(UserWarning, match="reserves such names") as caught,
    ):
        creating()
    assert [warning.filename for warning in caught] == [__file__]


def test_control_characters_are_escaped():
    with pytest.warns(RuntimeWarning, match=r"a\\x1bb"):
        warn("a\x1bb", RuntimeWarning)
