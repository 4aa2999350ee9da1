import json

import numpy as np
import pytest
import zarr_core as zarr
from zarr_codecs.transpose import TransposeCodec
from zarr_core.extension import ArrayRepresentation, BasicIndexer

SHAPE = (2, 3, 4)
ARRAY = np.arange(24).reshape(SHAPE)


def test_never_copies():
    codec = TransposeCodec([2, 0, 1])
    encoded = codec.encode(ARRAY, None)
    assert np.shares_memory(encoded, ARRAY)
    assert np.shares_memory(codec.decode(encoded, None), ARRAY)


def test_no_dimensions():
    codec = TransposeCodec([])
    assert codec.encode(np.array(7), None) == 7
    assert codec.encoded_part(BasicIndexer(()), np.array(7))[0] == BasicIndexer(())


def test_keeps_the_rest_of_the_representation():
    fill_value = np.array(7)
    decoded = ArrayRepresentation(SHAPE, "type", fill_value, write_empty_chunks=True)
    encoded = TransposeCodec([0, 2, 1]).encoded_representation(decoded)
    assert (encoded.data_type, encoded.write_empty_chunks) == ("type", True)
    assert encoded.fill_value is fill_value


@pytest.mark.parametrize(("letter", "order"), [("C", [0, 1, 2]), ("F", [2, 1, 0])])
def test_letters_are_read_and_kept(letter, order):
    store = {}
    written = zarr.create_array(store, data=ARRAY, filters=[TransposeCodec(order)])
    document = json.loads(bytes(store["zarr.json"]))
    document["codecs"][0]["configuration"]["order"] = letter
    store["zarr.json"] = json.dumps(document).encode()
    array = zarr.open_array(store, mode="r+")
    assert array.order == written.order
    assert (array[...] == ARRAY).all()
    assert array[1, ::2, 3].tolist() == ARRAY[1, ::2, 3].tolist()
    assert array.vindex[[0, 1], [2, 0], [3, 3]].tolist() == [ARRAY[0, 2, 3], ARRAY[1, 0, 3]]
    array[:, 1] = -1
    array.attrs["changed"] = True
    stored = json.loads(bytes(store["zarr.json"]))
    assert stored["codecs"][0]["configuration"] == {"order": letter}
    assert (zarr.open_array(store)[:, 1] == -1).all()


@pytest.mark.parametrize("letter", ["C", "F"])
def test_tensorstore_reads_letters_in_the_same_way(letter, tmp_path):
    ts = pytest.importorskip("tensorstore")
    order = [*reversed(range(3))] if letter == "F" else [*range(3)]
    zarr.create_array(tmp_path, data=ARRAY, filters=[TransposeCodec(order)], compressors=None)
    path = tmp_path / "zarr.json"
    document = json.loads(path.read_bytes())
    document["codecs"][0]["configuration"]["order"] = letter
    path.write_text(json.dumps(document))
    theirs = ts.open({"driver": "zarr3", "kvstore": f"file://{tmp_path}/"}).result().read().result()
    assert (theirs == zarr.open_array(tmp_path)[...]).all()


@pytest.mark.parametrize("letter", ["C", "F"])
def test_new_arrays_store_a_list(letter):
    transpose = {"name": "transpose", "configuration": {"order": letter}}
    for options in ({}, {"shards": (4, 6, 8)}):
        store = {}
        zarr.create_array(
            store, shape=(4, 6, 8), chunks=SHAPE, dtype="i4", filters=[transpose], **options
        )
        assert f'"{letter}"' not in bytes(store["zarr.json"]).decode()


@pytest.mark.parametrize("order", ["f", "", "K", "10"])
def test_other_letters_raise(order):
    with pytest.raises(ValueError, match='"C" or "F"'):
        TransposeCodec(order)
