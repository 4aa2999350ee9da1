"""Arrays in buckets, compared with NumPy, and exchanged with zarr-python and tensorstore."""

from uuid import uuid4

import numpy as np
import pytest
import zarr_core
from object_stores import s3_environment, s3_options, s3_store
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
VALUES = np.arange(2400, dtype="int32").reshape(40, 60)
LAYOUTS = {"plain": {}, "sharded": {"shards": (20, 60)}}
ALL_LAYOUTS = {
    "plain": {"chunks": (7, 5)},
    "raw": {"chunks": (7, 5), "compressors": None},
    "sharded": {"chunks": (5, 5), "shards": (20, 15)},
    "raw shards": {"chunks": (5, 5), "shards": (20, 15), "compressors": None},
    "large shards": {"chunks": (100, 150), "shards": (200, 300), "compressors": None},
    "v2": {"chunks": (7, 5), "zarr_format": 2},
    "n5": {"chunks": (7, 5), "zarr_format": "n5"},
}


@pytest.fixture
def place(s3_server):
    """A prefix of the bucket, as its URL."""
    return f"s3://{s3_server.bucket}/{uuid4()}"


@pytest.fixture
def options(s3_server):
    return s3_options(s3_server)


@pytest.mark.parametrize("layout", ALL_LAYOUTS)
def test_parts_are_read_and_written(s3_server, layout):
    store = s3_store(s3_server)
    draw = np.random.default_rng(len(layout))
    large = layout.startswith("large")
    shape = (400, 500) if large else (40, 50)
    expected = draw.integers(0, 9, shape).astype("int32")
    options = dict(ALL_LAYOUTS[layout])
    array = zarr_core.create_array(store, shape=shape, dtype="int32", fill_value=0, **options)
    array[...] = expected
    again = zarr_core.open_array(store)
    for number in range(8):
        ranges = [np.sort(draw.integers(0, length + 1, 2)) for length in shape]
        part = tuple(slice(*map(int, pair), int(draw.integers(1, 4))) for pair in ranges)
        new = draw.integers(0, 9, expected[part].shape).astype("int32") * (number % 4 != 0)
        again[part] = expected[part] = new
        assert np.array_equal(array[part], expected[part])
        rows = draw.integers(0, shape[0], 5)
        assert np.array_equal(array.oindex[rows, part[1]], expected[rows, part[1]])
        columns = draw.integers(0, shape[1], 5)
        assert np.array_equal(array.vindex[rows, columns], expected[rows, columns])
    assert np.array_equal(array[...], expected)
    array[...] = 0
    assert [key for key in store.list() if "json" not in key and not key.startswith(".z")] == []


def zarr_python(kind, server, place):
    """The bucket as one of the stores of zarr-python."""
    pytest.importorskip("zarr", minversion="3")
    import zarr.storage

    if kind == "ObjectStore":
        store = ObjectStore.from_url(place, **s3_options(server)).store
        return zarr.storage.ObjectStore(store)
    pytest.importorskip("s3fs")
    return zarr.storage.FsspecStore.from_url(
        place,
        storage_options={
            "key": server.access_key,
            "secret": server.secret_key,
            "endpoint_url": server.url,
            "client_kwargs": {"region_name": server.region},
            "use_listings_cache": False,
        },
    )


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["ObjectStore", "FsspecStore"])
def test_zarr_python(s3_server, place, options, kind, zarr_format):
    import zarr

    layouts = LAYOUTS if zarr_format == 3 else {"plain": {}}
    theirs = zarr_python(kind, s3_server, place)
    root = zarr.create_group(theirs, path="theirs", zarr_format=zarr_format)
    root.attrs["title"] = "by them"
    for name, layout in layouts.items():
        array = root.create_array(
            name, shape=VALUES.shape, chunks=(10, 20), dtype="int32", **layout
        )
        array[...] = VALUES
    read = zarr_core.open_group(f"{place}/theirs", storage_options=options)
    assert read.attrs["title"] == "by them"
    assert sorted(name for name, _ in read.members()) == sorted(layouts)
    for name in layouts:
        assert np.array_equal(read[name][...], VALUES)
        assert np.array_equal(read[name][3:33, 7], VALUES[3:33, 7])
        read[name][5:15, 7:9] = -1

    root = zarr_core.create_group(f"{place}/ours", storage_options=options, zarr_format=zarr_format)
    for name, layout in layouts.items():
        root.create_array(name, data=VALUES, chunks=(10, 20), **layout)
    changed = VALUES.copy()
    changed[5:15, 7:9] = -1
    for path, expected in (("theirs", changed), ("ours", VALUES)):
        group = zarr.open_group(theirs, path=path, mode="r", use_consolidated=False)
        assert sorted(name for name, _ in group.members()) == sorted(layouts)
        for name in layouts:
            assert np.array_equal(group[name][...], expected)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_tensorstore(s3_server, place, options, layout, monkeypatch):
    tensorstore = pytest.importorskip("tensorstore")
    for name, value in s3_environment(s3_server).items():
        monkeypatch.setenv(name, value)
    bucket, _, prefix = place.removeprefix("s3://").partition("/")

    def theirs(name):
        spec = {
            "driver": "zarr3",
            "kvstore": {
                "driver": "s3",
                "bucket": bucket,
                "endpoint": s3_server.url,
                "aws_region": s3_server.region,
                "aws_credentials": {"type": "environment"},
                "path": f"{prefix}/{name}/",
            },
        }
        return tensorstore.open(spec, read=True, write=True).result()

    for name in ("one", "two"):
        zarr_core.create_array(
            f"{place}/{name}", shape=VALUES.shape, dtype="int32", chunks=(10, 20),
            storage_options=options, **LAYOUTS[layout],
        )  # fmt: skip
    ours = zarr_core.open_array(f"{place}/one", storage_options=options)
    ours[...] = VALUES
    assert np.array_equal(theirs("one").read().result(), VALUES)
    theirs("two").write(VALUES).result()
    theirs("two")[3:5, :7].write(0).result()
    expected = VALUES.copy()
    expected[3:5, :7] = 0
    read = zarr_core.open_array(f"{place}/two", storage_options=options)
    assert np.array_equal(read[...], expected)
    assert np.array_equal(read[4, ::3], expected[4, ::3])


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_azure_by_zarr_python(azure_server, monkeypatch):
    """Both libraries use obstore, which zarr-python requires for Azure."""
    pytest.importorskip("zarr", minversion="3")
    import zarr
    from object_stores import azure_environment

    for name, value in azure_environment(azure_server).items():
        monkeypatch.setenv(name, value)
    place = f"az://{azure_server.container}/{uuid4()}"
    zarr_core.create_array(place, data=VALUES, chunks=(10, 20), shards=(20, 60))
    named = ObjectStore.from_url(
        place, account_name=azure_server.account
    )  # otherwise its repr raises an error
    store = zarr.storage.ObjectStore(named.store)
    array = zarr.open_array(store, mode="r+")
    assert np.array_equal(array[...], VALUES)
    array[3] = 0
    expected = VALUES.copy()
    expected[3] = 0
    assert np.array_equal(zarr_core.open_array(place)[...], expected)
