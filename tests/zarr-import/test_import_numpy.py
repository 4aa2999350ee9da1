"""Import and export of NumPy files."""

import tracemalloc

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from zarr_core.errors import NodeExistsError
from zarr_import import export_numpy, import_numpy

RECORDS = np.array(
    [(1, 2.5, "a"), (3, np.nan, "é")],
    np.dtype({"names": ["a", "b", "c"], "formats": ["i1", ">f8", "U2"], "offsets": [0, 8, 16], "itemsize": 32}),
)  # fmt: skip


def test_round_trip(tmp_path):
    values = np.asfortranarray(np.arange(24, dtype=">i2").reshape(4, 6))
    np.save(tmp_path / "a.npy", values)
    report = import_numpy(
        tmp_path / "a.npy", tmp_path / "a.zarr", chunks=(3, 2), shards=(6, 4),
        attributes={"units": "m"}, dimension_names=("y", "x"), fill_value=-1,
    )  # fmt: skip
    array = zarr.open(tmp_path / "a.zarr")
    assert np.array_equal(array[...], values)
    assert (array.chunks, array.shards, array.fill_value) == ((3, 2), (6, 4), -1)
    assert (array.attrs["units"], array.dimension_names) == ("m", ("y", "x"))
    assert report[""].source == str(tmp_path / "a.npy")
    export_numpy(array, tmp_path / "b.npy")
    assert np.array_equal(np.load(tmp_path / "b.npy"), values)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        export_numpy(array, tmp_path / "b.npy")
    with pytest.raises(NodeExistsError):
        import_numpy(values, tmp_path / "a.zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npy", "a.zarr", "b.npy"]


def test_import_into_group_uses_file_name(tmp_path):
    np.save(tmp_path / "records.npy", RECORDS)
    group = zarr.create_group()
    import_numpy(tmp_path / "records.npy", group)
    import_numpy([1.5, 2.5], group, path="more/of/it")
    assert [path for path, _ in group.members(max_depth=None)] == [
        "more", "more/of", "more/of/it", "records",
    ]  # fmt: skip
    assert group["records"][...].tolist()[0] == (1, 2.5, "a")
    assert group["records"].dtype.itemsize == 17


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives(tmp_path, save):
    arrays = {
        "a": np.arange(6).reshape(2, 3),
        "deep/b": np.array("text"),
        "empty": np.zeros((0, 2)),
    }
    save(tmp_path / "a.npz", **arrays)
    import_numpy(tmp_path / "a.npz", tmp_path / "a.zarr", attributes={"title": "all"})
    group = zarr.open(tmp_path / "a.zarr")
    assert group.attrs == {"title": "all"}
    export_numpy(group, tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as found:
        assert {name: values.tolist() for name, values in found.items()} == {
            name: values.tolist() for name, values in arrays.items()
        }
    store = zarr.MemoryStore()
    import_numpy(arrays, store)
    assert zarr.open(store)["deep/b"][...] == "text"


def test_python_objects_are_not_supported(tmp_path):
    objects = np.array([{"a": 1}, None])
    np.save(tmp_path / "o.npy", objects)
    (tmp_path / "text.npy").write_text("no array")
    store = zarr.MemoryStore()
    for source, message in (
        (tmp_path / "o.npy", "o.npy: .*Python objects are not supported"),
        (tmp_path / "text.npy", "text.npy: .*is not a complete .npy file"),
        (objects, "elements are Python objects; convert"),
        ({"x": np.ones(2), "y": np.longdouble(1)}, "y: .*is not supported; convert"),
    ):
        with pytest.raises(ValueError, match=message):
            import_numpy(source, store)
    with pytest.raises(ValueError, match="single array only"):
        import_numpy({"x": [1]}, store, dimension_names=("x",))
    assert not list(store.list())
    texts = zarr.create_array(data=np.array(["a", "bc"], np.dtypes.StringDType()))
    with pytest.raises(ValueError, match="no fixed size"):
        export_numpy(texts, tmp_path / "t.npy")
    assert not (tmp_path / "t.npy").exists()


def test_memory_is_bounded_for_import_and_export(tmp_path):
    values = np.random.default_rng(0).normal(size=(1000, 1000))  # 8 MB
    np.savez_compressed(tmp_path / "a.npz", a=values)
    tracemalloc.start()
    import_numpy(tmp_path / "a.npz", tmp_path / "a.zarr", chunks=(100, 100), max_memory=1_000_000)
    export_numpy(zarr.open(tmp_path / "a.zarr"), tmp_path / "b.npz", max_memory=1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000  # including the decompressed part
    with np.load(tmp_path / "b.npz") as found:
        assert np.array_equal(found["a"], values)


@settings(max_examples=30)
@given(data=st.data())
def test_any_array_round_trips(tmp_path_factory, data):
    dtypes = st.one_of(
        npst.integer_dtypes(endianness="?"), npst.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
        npst.complex_number_dtypes(endianness="?"), npst.boolean_dtypes(),
        npst.unicode_string_dtypes(min_len=1, max_len=3), npst.datetime64_dtypes(max_period="s"),
    )  # fmt: skip
    shape = npst.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=5)
    values = data.draw(npst.arrays(data.draw(dtypes), data.draw(shape)))
    folder = tmp_path_factory.mktemp("any")
    np.save(folder / "a.npy", values)
    import_numpy(folder / "a.npy", folder / "a.zarr", codecs=None)
    export_numpy(zarr.open(folder / "a.zarr"), folder / "b.npy")
    found = np.load(folder / "b.npy")
    assert found.shape == values.shape
    assert found.tobytes() == values.astype(found.dtype).tobytes()
