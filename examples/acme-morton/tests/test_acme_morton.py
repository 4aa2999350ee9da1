"""The conformance tests; the order; the layout of the draft of 2022."""

import json

import numpy as np
import pytest
import zarr_core as zarr
from acme_morton import MortonCodec
from acme_morton.layout import URI, MortonLayout
from zarr_conformance.kit import ArrayToArrayCodecTests, ChunkMemoryLayoutTests

LAYOUT = {"extension": URI, "type": "morton"}


class TestMorton(ArrayToArrayCodecTests):
    name = "acme.morton"


class TestMortonLayout(ChunkMemoryLayoutTests):
    name = URI
    configurations = [{"type": "morton"}]
    bad_configurations = [{"type": "morton", "curve": "hilbert"}]


@pytest.mark.parametrize(
    ("shape", "order"),
    [
        ((2, 2), [0, 2, 1, 3]),
        ((3, 2), [0, 2, 1, 3, 4, 5]),
        ((1, 3), [0, 1, 2]),
        ((4,), [0, 1, 2, 3]),
        ((), [0]),
    ],
)
def test_the_order_never_changes(shape, order):
    chunk = np.arange(len(order)).reshape(shape)
    assert MortonCodec().encode(chunk, None).ravel().tolist() == order


def test_the_elements_of_a_cube_are_contiguous():
    cube = np.arange(8**3).reshape(8, 8, 8)
    stored = MortonCodec().encode(cube, None).reshape(8, 64)
    assert sorted(stored[0]) == sorted(cube[:4, :4, :4].ravel())


def draft(layout, shape=(4, 6)):
    """An array in a hierarchy of the draft with a layout."""
    store = zarr.MemoryStore()
    array = zarr.create_array(
        store, path="a", shape=shape, chunks=shape, dtype="uint8", zarr_format="draft",
        compressors=None,
    )  # fmt: skip
    (key,) = (key for key in store.list() if key.endswith("a.array.json"))
    document = json.loads(bytes(store.get(key))) | {"chunk_memory_layout": layout}
    store.set(key, json.dumps(document).encode())
    return zarr.open_array(array.store, path="a", mode="r+"), key


def test_the_layout_uses_the_codec():
    array, key = draft(LAYOUT)
    values = np.arange(24, dtype="uint8").reshape(4, 6)
    array[...] = values
    assert np.array_equal(zarr.open_array(array.store, path="a")[1:3, ::2], values[1:3, ::2])
    (chunk,) = (key for key in array.store.list() if key.startswith("data/"))
    assert bytes(array.store.get(chunk)) == MortonCodec().encode(values, None).tobytes()
    array.attrs["title"] = "kept"
    assert json.loads(bytes(array.store.get(key)))["chunk_memory_layout"] == LAYOUT


def test_one_dimension_needs_no_codec():
    array, _ = draft(LAYOUT, (5,))
    array[...] = np.arange(5)
    assert MortonLayout().codec(1) is None
    assert array[...].tolist() == [0, 1, 2, 3, 4]
