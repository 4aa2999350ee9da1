"""Keys in groups of digits, with a limit of entries per directory."""

import pickle

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_grids.fanout import FanoutEncoding


def encoding(**configuration):
    return create_extension("chunk_key_encoding", ExtensionDefinition("fanout", configuration))


@pytest.mark.parametrize(
    ("most", "chunk", "key"),
    [
        # The table of the specification.
        (1000, (), "c"),
        (1000, (0,), "c/0/000"),
        (1000, (12,), "c/0/012"),
        (1000, (1234, 5, 0, 6789012), "c/1/001/234/0/005/0/000/2/006/789/012"),
        (1000, (1234567,), "c/2/001/234/567"),
        (100, (1234567,), "c/3/01/23/45/67"),
        (250, (1234567,), "c/3/01/23/45/67"),
        (10000, (1234567,), "c/1/0123/4567"),
        (10**30, (5,), "c/0/" + "5".zfill(30)),
        (100, (2**63 - 1,), "c/9/09/22/33/72/03/68/54/77/58/07"),
    ],
)
def test_keys_in_both_directions(most, chunk, key):
    made = encoding(max_children=most)
    assert made.encode(chunk) == key
    assert made.decode(key, len(chunk)) == chunk


@settings(max_examples=60)
@given(
    most=st.sampled_from([100, 1000, 10**5]),
    chunks=st.lists(st.tuples(*[st.integers(0, 2**63 - 1)] * 2), min_size=2, max_size=6),
)
def test_keys_sort_as_numbers_do(most, chunks):
    made = encoding(max_children=most)
    keys = [made.encode(chunk) for chunk in chunks]
    assert [made.decode(key, 2) for key in keys] == chunks
    assert [made.decode(key, 2) for key in sorted(keys)] == sorted(chunks)
    assert made.decode(keys[0], 1) is None
    assert made.decode(keys[0], 3) is None


@pytest.mark.parametrize(
    "key",
    [
        "", "c", "c/0", "c/0/00", "c/0/0000", "c/1/000/012", "c/01/012", "c/0/012/", "c/0/012/0",
        "d/0/012", "c/1/012", "c/-1/012", "c/0/+12", "c/0/٠١٢", "c/0//012", "c/" + "9" * 5000,
        "c/9" + "/999" * 10, "zarr.json", "c/0/1e3",
    ],
)  # fmt: skip
def test_other_keys_are_not_chunk_keys(key):
    assert encoding().decode(key, 1) is None


def test_configurations():
    assert encoding() == encoding(max_children=1000) == FanoutEncoding()
    assert encoding(max_children=1999).to_definition().configuration == {"max_children": 1000}
    assert hash(encoding()) == hash(pickle.loads(pickle.dumps(encoding())))
    for refused in (99, 0, -1000, 1000.0, "1000", True, None):
        with pytest.raises(ExtensionConfigurationError, match="/configuration/max_children"):
            encoding(max_children=refused)
        with pytest.raises(ExtensionConfigurationError):
            FanoutEncoding.from_definition(ExtensionDefinition("fanout", {"max_children": refused}))
    with pytest.raises(ExtensionConfigurationError):
        encoding(max_children=1000, separator=".")


def test_an_array(tmp_path):
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=(3000,), chunks=2, dtype="i4",
        chunk_key_encoding={"name": "fanout", "configuration": {"max_children": 250}},
    )  # fmt: skip
    # Implementations that do not round produce the same keys.
    assert array.metadata.chunk_key_encoding.configuration == {"max_children": 100}
    array[:] = np.arange(3000)
    assert (tmp_path / "a.zarr/c/1/14/99").is_file()
    folders = [path for path in (tmp_path / "a.zarr").rglob("*") if path.is_dir()]
    assert max(len(list(folder.iterdir())) for folder in folders) <= 100
    again = zarr.open(tmp_path / "a.zarr")
    assert (again[...] == np.arange(3000)).all()
    assert again.nchunks_initialized == 1500
    empty = zarr.create_array(shape=(), dtype="i4", chunk_key_encoding="fanout")
    empty[...] = 3
    assert sorted(empty.store.list()) == ["c", "zarr.json"]
