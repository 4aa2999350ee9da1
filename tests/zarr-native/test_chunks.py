"""Reading and writing arrays: the same elements with and without compiled code, and counted."""

import itertools
import tracemalloc
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import zarr_core as zarr
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ChunkDecodeError, StoreError
from zarr_native import _native, libraries
from zarr_native.executor import Executor
from zarr_stores.cache.lru_cache import LRUCacheStore

SHAPE, CHUNKS, SHARDS = (23, 17), (4, 5), (8, 15)
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
CHAINS = {
    "none": [],
    "zstd": ["zstd"],
    "blosc": ["blosc"],
    "lz4": ["numcodecs.lz4"],
    "gzip": ["gzip"],
    "zlib": ["numcodecs.zlib"],
    "crc32c": ["crc32c"],
    "all": ["numcodecs.shuffle", "zstd", "crc32c"],
    "twice": ["blosc", "gzip", "numcodecs.zlib"],
}
# A linked library can have another version than that of Python.
_USERS = {"zstd": {"zstd", "all"}, "deflate": {"gzip", "twice"}}
_LINKED = [name for name in _USERS if libraries.origins()[name] == "linked"]
SAME_BYTES = [chain for chain in CHAINS if not any(chain in _USERS[name] for name in _LINKED)]
TYPES = ["bool", "int8", "uint16", "float32", "float64", "complex64", "complex128", "r24"]


def data_of(dtype, shape=SHAPE):
    numbers = np.random.default_rng(0).integers(0, 2 if dtype == "bool" else 100, shape)
    if dtype == "r24":
        return np.frombuffer(numbers.astype("V3").tobytes(), "V3").reshape(shape)
    return numbers.astype(dtype)


def created(store, data, dtype, chain, shards=None, **options):
    return zarr.create_array(
        store, shape=data.shape, chunks=CHUNKS, shards=shards, dtype=dtype,
        compressors=CHAINS[chain], **options,
    )  # fmt: skip


def files_in(place):
    return {str(it.relative_to(place)): it.read_bytes() for it in place.rglob("*") if it.is_file()}


def in_python(store):
    with zarr.config.set(native="off"):
        return zarr.open_array(store)[...]


@pytest.mark.parametrize("location", [None, "start", "end"])
@pytest.mark.parametrize("chain", CHAINS)
def test_chains(tmp_path, counted, chain, location):
    shards = {"shape": SHARDS, "index_location": location} if location else None
    data = data_of("float32")
    array = created(tmp_path / "native", data, "float32", chain, shards)
    array[...] = data
    objects = 3 * 2 if location else 6 * 4
    assert counted() == (0, objects)
    with zarr.config.set(native="off"):
        created(tmp_path / "python", data, "float32", chain, shards)[...] = data
    ours, others = (files_in(tmp_path / name) for name in ("native", "python"))
    assert ours == others if chain in SAME_BYTES else ours.keys() == others.keys()
    assert np.array_equal(in_python(tmp_path / "native"), data)
    assert counted() == (0, 0)
    assert np.array_equal(array[...], data)
    assert counted() == (objects, 0)
    memory = zarr.MemoryStore()
    zarr.copy(array, memory)
    copied = zarr.open_array(memory)
    counted()
    assert np.array_equal(copied[...], data)
    assert counted() == (objects, 0)


@pytest.mark.parametrize("shards", [None, SHARDS], ids=["chunks", "shards"])
@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("dtype", TYPES)
def test_data_types(tmp_path, counted, dtype, endian, shards):
    data = data_of(dtype)
    serializer = {"name": "bytes", "configuration": {"endian": endian}}
    array = created(tmp_path, data, dtype, "zstd", shards, serializer=serializer)
    array[...] = data
    assert np.array_equal(in_python(tmp_path), data)
    counted()
    assert np.array_equal(array[...], data)
    assert np.array_equal(array[3:, :9], data[3:, :9])
    assert counted()[0] > 0


def test_times_and_their_fill_value(tmp_path, counted):
    data = np.arange(23).astype("datetime64[s]")
    array = zarr.create_array(
        tmp_path, shape=30, chunks=4, dtype=data.dtype, fill_value=np.datetime64("NaT", "s")
    )
    array[:23] = data
    counted()
    assert np.array_equal(array[:20], data[:20])
    assert np.isnat(array[24:]).all()
    assert counted()[0] == 5 + 2


box = st.tuples(
    *[st.tuples(st.integers(0, n - 1), st.integers(1, n)).map(sorted) for n in SHAPE]
).map(lambda pairs: tuple(slice(low, max(high, low + 1)) for low, high in pairs))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Arrays with all combinations of store, shards and order of the result."""
    found = {}
    with zarr.override_extensions({"native": {"default": Executor}}):
        for kind, shards, chain in itertools.product(
            ["local", "memory"], [None, SHARDS], ["none", "all"]
        ):
            store = tmp_path_factory.mktemp("a") if kind == "local" else zarr.MemoryStore()
            array = created(store, data_of("int32"), "int32", chain, shards, serializer=BIG)
            array[...] = data_of("int32")
            found[kind, shards, chain] = array
    return found


@settings(max_examples=60, deadline=None)
@given(box=box, threads=st.sampled_from([1, 2, 5]), order=st.sampled_from("CF"))
def test_boxes(stored, box, threads, order):
    data = data_of("int32")
    for array in stored.values():
        with zarr.config.set(threads=threads):
            out = np.zeros(data[box].shape, "int32", order=order)
            array.get_basic_selection(box, out=out)
            assert np.array_equal(out, data[box])
            wide = np.zeros((*data[box].shape, 2), "int32")[..., 1]
            array.get_basic_selection(box, out=wide)
            assert np.array_equal(wide, data[box])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, SHAPE[0] - 1), st.integers(0, SHAPE[1] - 1)), min_size=1))
def test_points(stored, points):
    index = tuple(np.array(points).T)
    for array in stored.values():
        before = zarr_counts()
        assert np.array_equal(array.vindex[index], data_of("int32")[index])
        if len(points) > 1:
            assert zarr_counts() > before


def indices_of(length):
    """A slice, perhaps with a step, or indices in any order."""
    return st.one_of(
        st.tuples(st.integers(0, length - 1), st.integers(1, length), st.integers(1, length)).map(
            lambda it: slice(it[0], max(it[1], it[0] + 1), it[2])
        ),
        st.lists(st.integers(0, length - 1), min_size=1, max_size=8).map(np.array),
    )


@settings(max_examples=100, deadline=None)
@given(
    index=st.tuples(*map(indices_of, SHAPE)),
    threads=st.sampled_from([1, 3]),
    order=st.sampled_from("CF"),
)
def test_steps_and_orthogonal_selections(stored, index, threads, order):
    plain = tuple(np.arange(n)[it] for it, n in zip(index, SHAPE, strict=True))
    expected = data_of("int32")[np.ix_(*plain)]
    for array in stored.values():
        before = zarr_counts()
        with zarr.config.set(threads=threads):
            out = np.zeros(expected.shape, "int32", order=order)
            array.get_orthogonal_selection(index, out=out)
        assert np.array_equal(out, expected)
        assert zarr_counts() > before


@pytest.mark.parametrize("shape", [(6,), (7, 5), (4, 5, 6), (3, 4, 5, 2)], ids=len)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float64", "complex128", "r24"])
def test_selections_of_several_dimensions(tmp_path, counted, shape, dtype, rng):
    data = data_of(dtype, shape)
    array = zarr.create_array(
        tmp_path, data=data, dtype=dtype, chunks=2, shards=tuple(2 * (n // 2) for n in shape)
    )
    counted()
    for _ in range(10):
        lists = [rng.integers(0, n, rng.integers(1, 2 * n)) for n in shape]
        index = tuple(it if rng.integers(2) else slice(None, None, 2) for it in lists)
        plain = [np.arange(n)[it] for it, n in zip(index, shape, strict=True)]
        assert np.array_equal(array.oindex[index], data[np.ix_(*plain)])
        assert counted()[0] > 0


@pytest.mark.parametrize("dtype", ["int8", "float32", "r24"])
@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("shards", [None, (8, 15, 4)], ids=["chunks", "shards"])
@pytest.mark.parametrize("order", [(2, 1, 0), (1, 2, 0), (0, 2, 1)], ids=str)
def test_transposed_chunks(tmp_path, counted, order, shards, endian, dtype):
    data = data_of(dtype, (9, 17, 5))
    transpose = {"name": "transpose", "configuration": {"order": order}}
    found = []
    for native in ("auto", "off"):
        place = tmp_path / native
        with zarr.config.set(native=native):
            array = zarr.create_array(
                place, shape=data.shape, chunks=(4, 5, 2), shards=shards, dtype=dtype,
                filters=[transpose], compressors=["blosc"],
                serializer={"name": "bytes", "configuration": {"endian": endian}},
            )  # fmt: skip
            array[...] = np.asarray(data, order="F")
            assert np.array_equal(in_python(place), data)
            read = zarr.open_array(place)
            assert np.array_equal(read[1:, 3:16:4], data[1:, 3:16:4])
            out = np.empty(data.shape, data.dtype, order="F")
            read.get_basic_selection(..., out=out)
            assert np.array_equal(out, data)
            points = tuple(np.array([[0, 8, 3], [16, 0, 7], [4, 1, 1]]))
            assert np.array_equal(read.vindex[points], data[points])
            assert all(counted()) is (native == "auto")
        found.append(files_in(place))
    assert found[0] == found[1]


def test_values_of_remote_stores_are_decoded_natively(counted):
    data = data_of("int32")
    store = zarr.MemoryStore({})
    store.max_concurrency = 3
    array = created(store, data, "int32", "zstd", fill_value=4)
    array[...] = data
    assert array.info["Native"] == "yes"
    array.store.erase("c/1/1")
    data[4:8, 5:10] = 4
    counted()
    assert np.array_equal(array[...], data)
    assert counted() == (24, 0)
    assert np.array_equal(array[2:20:5, 3], data[2:20:5, 3])
    assert counted() == (4, 0)
    assert array[9, 2] == data[9, 2]
    store.set("c/0/0", b"damaged")
    with pytest.raises(ChunkDecodeError, match="c/0/0"):
        array[...]
    assert np.array_equal(array[4:], data[4:])


class Counting(zarr.MemoryStore):
    """A remote store that records the keys of its chunks that are requested."""

    def __init__(self, mapping):
        super().__init__(mapping)
        self.max_concurrency = 3
        self.requested = []

    def get(self, key):
        self.requested.append(key)
        return super().get(key)


@pytest.mark.parametrize("dtype", ["int32", "datetime64[s]"])
def test_remote_values_that_are_left_to_python_are_requested_once(counted, dtype):
    data = data_of(dtype)
    mapping = {}
    store = Counting(mapping)
    created(store, data, dtype, "zstd", fill_value=None)[...] = data
    for key in [key for key in mapping if key.startswith("c/")]:  # without content sizes
        stream = zstandard.ZstdCompressor(write_content_size=False).compressobj()
        content = zstandard.ZstdDecompressor().decompress(mapping[key])
        mapping[key] = stream.compress(content) + stream.flush()
    array = zarr.open_array(store)
    assert array.info["Native"] == "yes"
    store.requested.clear()
    counted()
    assert np.array_equal(array[1:], data[1:])
    assert counted() == (0, 0)
    assert len(store.requested) == len(set(store.requested)) == 24


@pytest.mark.parametrize(
    "options", [{"compressors": []}, {"shards": (8, 8)}], ids=["uncompressed", "shards"]
)
def test_remote_values_that_python_reads_in_part_have_no_plan(options):
    store = zarr.MemoryStore({})
    store.max_concurrency = 3
    shape = (1024, 512)
    options = {"chunks": (4, 4), **options} if "shards" in options else {"chunks": shape, **options}
    array = zarr.create_array(store, shape=shape, dtype="int8", **options)
    assert "in a remote store" in array.info["Native"]


def zarr_counts():
    from zarr_native import processed_chunks

    return processed_chunks()[0]


@settings(max_examples=100, deadline=None)
@given(
    in_memory=st.booleans(),
    box=box,
    order=st.sampled_from("CF"),
    chain=st.sampled_from(SAME_BYTES),
    shards=st.sampled_from([None, SHARDS]),
    threads=st.sampled_from([1, 3]),
    write_empty=st.booleans(),
    endian=st.sampled_from([None, BIG]),
)
def test_writes_store_the_same_bytes(
    tmp_path_factory, in_memory, box, order, chain, shards, threads, write_empty, endian
):
    values = np.asarray(data_of("uint16")[box], order=order)
    values[:3] = 0  # some inner chunks are empty
    found = []
    for native in ("auto", "off"):
        place = {} if in_memory else tmp_path_factory.mktemp("w")
        with (
            zarr.override_extensions({"native": {"default": Executor}}),
            zarr.config.set(native=native, threads=threads),
        ):
            array = created(
                zarr.MemoryStore(place) if in_memory else place, data_of("uint16"), "uint16", chain,
                shards, serializer=endian, config={"write_empty_chunks": write_empty},
            )  # fmt: skip
            array[...] = 5
            array[box] = values
            array[:4, :5] = 0  # removes a chunk
        found.append(place if in_memory else files_in(place))
    assert found[0] == found[1]
    assert all(type(value) is bytes for value in found[0].values())


@pytest.mark.parametrize("kind", ["memory", "local"])
@pytest.mark.parametrize("chain", CHAINS)
def test_complete_chunks_are_written_natively_and_others_in_python(tmp_path, counted, chain, kind):
    data = data_of("float64")
    array = created(zarr.MemoryStore() if kind == "memory" else tmp_path, data, "float64", chain)
    array[...] = data
    assert counted() == (0, 24)
    array[1:, 1:] = data[1:, 1:]
    assert counted()[1] == 5 * 3  # without the first row and column of chunks
    assert np.array_equal(in_python(array.store), data)


def test_small_compressed_inner_chunks_are_written_to_memory(counted):
    data = data_of("float64")
    array = created(zarr.MemoryStore(), data, "float64", "zstd", SHARDS)
    array[...] = data
    assert counted() == (0, 6)
    assert np.array_equal(in_python(array.store), data)
    array = created(zarr.MemoryStore(), data, "float64", "none", SHARDS)
    array[...] = data
    assert counted() == (0, 0)  # Python copies less


@pytest.mark.parametrize("chain", ["none", "blosc"])
def test_large_values_are_written_to_memory_in_batches(counted, chain):
    data = np.random.default_rng(0).integers(0, 9, (80, 1 << 20), "uint8")
    array = zarr.create_array(
        zarr.MemoryStore(), shape=data.shape, chunks=(1, 1 << 20), dtype="uint8",
        compressors=CHAINS[chain],
    )  # fmt: skip
    array[...] = data
    assert counted() == (0, 80)
    assert np.array_equal(array[...], data)


class ReadAnew(UserDict):
    """A mapping that returns a new object for each access, as one that reads from files."""

    def __getitem__(self, key):
        return b"".join([self.data[key][:1], self.data[key][1:]])


@pytest.mark.parametrize("shards", [None, (2, 1 << 20)], ids=["chunks", "shards"])
def test_values_of_a_slow_mapping_are_not_in_memory_at_once(counted, shards):
    mapping, data = {}, np.random.default_rng(0).integers(0, 255, (100, 1 << 20), "uint8")
    zarr.create_array(
        mapping, data=data, chunks=(1, 1 << 20), shards=shards, compressors=["crc32c"]
    )
    stored = len(data) // 2 if shards else len(data)
    array = zarr.open(ReadAnew(mapping))
    rows = np.arange(99, -1, -1)
    with zarr.config.set(threads=1):
        for index in (np.s_[:, 5], np.s_[::-1, 5], (rows, np.full(100, 5)), (rows, slice(5, 6))):
            counted()
            tracemalloc.start()
            result = array[index]
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert np.array_equal(result, data[index])
            assert counted()[0] == stored
            assert peak < 40 << 20


def test_any_number_of_threads_is_possible(tmp_path):
    zarr.create_array(tmp_path, data=data_of("int16"), chunks=CHUNKS, shards=SHARDS)
    with zarr.config.set(threads=2**30):
        assert np.array_equal(zarr.open_array(tmp_path)[...], data_of("int16"))


@pytest.mark.parametrize("kind", ["memory", "local"])
def test_an_index_within_one_chunk_is_read_at_once(tmp_path, counted, kind):
    data = data_of("int32")
    store = tmp_path if kind == "local" else zarr.MemoryStore()
    array = created(store, data, "int32", "zstd")
    array[...] = data
    array[0]  # a plan is created by the first call
    plan = array.stored.native
    counted()
    for index in (
        (3, 4),
        (slice(4, 8), slice(5, 10)),
        (-1, -1),
        (slice(1, 4, 2), 0),
        (0, slice(4)),
    ):
        found = plan.read_index(array.stored, index)
        assert np.array_equal(found, data[index])
        assert counted() == (1, 0)
    for index in (0, (slice(3, 5), 0), ..., (0, 4, None), (0, [1])):
        assert plan.read_index(array.stored, index) is None
    key = "c/0/0"
    array.store.set(key, b"damaged")
    assert plan.read_index(array.stored, (0, 0)) is None
    with pytest.raises(ChunkDecodeError, match=key):
        array[0, 0]


@pytest.mark.parametrize("endian", ["little", "big"])
@pytest.mark.parametrize("shards", [None, (64, 80, 64)], ids=["chunks", "shards"])
def test_parts_of_large_uncompressed_chunks(tmp_path, counted, shards, endian):
    data = np.random.default_rng(0).integers(0, 1000, (64, 75, 100), "int32")
    array = zarr.create_array(
        tmp_path, shape=data.shape, chunks=(32, 40, 64), shards=shards, dtype="int32",
        compressors=None, serializer={"name": "bytes", "configuration": {"endian": endian}},
    )  # fmt: skip
    array[...] = data
    counted()
    whole = slice(None)
    for index in (
        (5,), (whole, 41), (whole, whole, 99), (slice(3, 50, 7), slice(0, 70, 3), slice(1, 99, 5)),
        (slice(30, 34), slice(39, 41), slice(60, 70)), (0, 0, 0), (whole, 3, slice(0, 64)), (...,),
        (slice(0, 32), slice(0, 39), slice(0, 64)), (slice(0, 64, 33), whole, whole),
    ):  # fmt: skip
        assert np.array_equal(array[index], data[index])
        assert counted()[0] > 0, index
        out = np.empty(data[index].shape[::-1], "int32").T
        if out.ndim:
            array.get_basic_selection(index, out=out)
            assert np.array_equal(out, data[index])
            assert counted()[0] > 0, index
    for count in (3, 5000):  # single elements, and whole chunks
        points = tuple(np.random.default_rng(1).integers(0, n, count) for n in data.shape)
        assert np.array_equal(array.vindex[points], data[points])
        assert counted()[0] > 0
    rows = np.array([40, 2, 2])
    assert np.array_equal(array.oindex[rows], data[rows])  # Python reads them
    key = next(key for key in array.store.list() if key.startswith("c/0/0/0"))
    array.store.set(key, array.store.get(key)[:-4])
    with pytest.raises(ChunkDecodeError, match=key):
        array[5, :30, :30]


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="the system does not count bytes")
def test_a_thin_slab_of_large_uncompressed_chunks_reads_little(tmp_path, counted):
    def bytes_read():
        return int(Path("/proc/self/io").read_text().split()[1])

    data = np.arange(512 * 1024, dtype="f4").reshape(512, 1024)
    array = zarr.create_array(tmp_path, data=data, chunks=(256, 512), compressors=None)
    array[0]
    counted()
    before = bytes_read()
    assert np.array_equal(array[300], data[300])
    assert bytes_read() - before < 1 << 14  # a chunk has 512 KiB
    assert counted() == (2, 0)


def test_results_in_fortran_order(tmp_path):
    data = data_of("int32")
    created(tmp_path, data, "int32", "zstd")[...] = data
    array = zarr.open_array(tmp_path, config={"order": "F"})
    array[0]
    found = array[:4, :5]
    assert np.array_equal(found, data[:4, :5])
    assert found.flags.f_contiguous


def test_the_number_of_threads_is_asked_for_several_chunks_only(tmp_path):
    data = data_of("int32")
    array = created(tmp_path, data, "int32", "zstd", SHARDS)
    array[...] = data
    array[0]
    plan = array.stored.native._plan
    asked = []

    def threads():
        asked.append(None)
        return 2

    out = np.empty((4, 5), "int32")
    assert _native.read_box(plan, (slice(0, 4), slice(0, 5)), out, threads) == []
    points = (np.array([1, 3, 0]), np.array([0, 1, 4]))
    assert _native.read_points(plan, points, np.empty(3, "int32"), threads) == []
    assert not asked
    assert _native.read_box(plan, (slice(1, 5), slice(0, 5)), out, threads) == []
    assert np.array_equal(out, data[1:5, :5])
    points = (np.array([1, 3, 4]), np.array([0, 1, 4]))
    assert _native.read_points(plan, points, np.empty(3, "int32"), threads) == []
    assert len(asked) == 2
    with pytest.raises(ZeroDivisionError):
        _native.read_box(plan, (slice(1, 5), slice(0, 5)), out, lambda: 1 // 0)


def test_memory_that_is_used_again_belongs_to_one_thread_at_a_time(tmp_path):
    data = np.arange(48 * 2**14, dtype="int64").reshape(48, 2**14)
    array = zarr.create_array(
        tmp_path, data=data, chunks=(1, 2**14), compressors=CHAINS["all"]
    )  # chunks of 128 KiB
    array[0, 0]

    def read(row):
        return all(np.array_equal(array[at, ::2], data[at, ::2]) for at in range(row, 48, 8))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(8)))


def test_errors_of_the_mapping_are_raised():
    class Full(dict):
        def __setitem__(self, key, value):
            if key == "c/2/1":
                raise OSError("full")
            super().__setitem__(key, value)

    data = data_of("int32")
    array = created(zarr.MemoryStore(Full()), data, "int32", "zstd")
    with pytest.raises(StoreError, match=r"c/2/1.*OSError: full"):
        array[...] = data
    assert np.array_equal(in_python(array.store)[:8], data[:8])


def test_caches_are_written_by_python(counted):
    data = data_of("int32")
    array = created(LRUCacheStore(zarr.MemoryStore(), 10**6), data, "int32", "zstd")
    array[...] = data
    assert counted() == (0, 0)
    assert np.array_equal(array[...], data)


def test_a_shard_that_becomes_empty_is_removed_by_python(tmp_path, counted):
    array = created(tmp_path, data_of("int32"), "int32", "zstd", SHARDS)
    array[...] = data_of("int32")
    counted()
    array[...] = np.zeros(SHAPE, "int32", order="F")
    assert counted() == (0, 0)
    assert not [it for it in (tmp_path / "c").rglob("*") if it.is_file()]


def test_large_chunks_by_several_threads(tmp_path, counted):
    data = np.random.default_rng(0).integers(0, 99, (8, 300, 300))
    for shards in (None, (4, 300, 300)):
        place = tmp_path / str(shards)
        array = zarr.create_array(
            place, shape=data.shape, chunks=(1, 300, 300), shards=shards, dtype="int64"
        )
        with zarr.config.set(threads=3):
            array[...] = data
            counted()
            assert np.array_equal(array[...], data)
            assert counted()[0] == (8 if shards is None else 2)
