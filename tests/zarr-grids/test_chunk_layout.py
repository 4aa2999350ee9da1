"""Chunk layouts."""

import time
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.normalize.chunk_shapes import CHUNK_BYTES, SHARD_BYTES, chunk_and_shard_shape
from zarr_grids.chunk_layout import ChunkLayout

SHAPES = st.lists(st.integers(1, 3000), min_size=1, max_size=4).map(tuple)
SIZES = st.sampled_from([1, 4, 16])
RATIOS = st.sampled_from([0.5, 1, 2, 3.7])


@st.composite
def layouts(draw, ndim, limit=40):
    """Layouts with some lengths."""
    lengths = st.one_of(st.integers(1, limit), st.sampled_from(["auto", None, -1]))
    return ChunkLayout(
        shape=draw(st.one_of(st.just("auto"), st.tuples(*[lengths] * ndim))),
        elements=draw(st.one_of(st.none(), st.integers(1, 10**6))),
        aspect_ratio=draw(st.one_of(st.none(), st.tuples(*[RATIOS] * ndim))),
        soft=draw(st.booleans()),
    )


@settings(max_examples=200, deadline=None)
@given(data=st.data(), shape=SHAPES, size=SIZES)
def test_chunks_fill_the_number_of_elements(data, shape, size):
    layout = data.draw(layouts(len(shape)))
    chunks, shards = chunk_and_shard_shape(shape, size, layout)
    assert shards is None
    elements = layout.elements or CHUNK_BYTES // size
    lengths = layout.shape if layout.shape != "auto" else ("auto",) * len(shape)
    ratios = layout.aspect_ratio or (1,) * len(shape)
    free = []
    for length, given_, whole, ratio in zip(chunks, lengths, shape, ratios, strict=True):
        if given_ == "auto":
            assert 1 <= length <= whole
            free.append((length, whole, ratio))
        else:
            assert length == (whole if given_ in (None, -1) else given_)
    smallest = prod(1 if b == "auto" else a for a, b in zip(chunks, lengths, strict=True))
    assert prod(chunks) <= max(elements, smallest)
    growing = [item for item in free if item[0] < item[1]]
    if prod(chunks) > smallest and growing:
        # The lengths belong to one factor, and the next larger one has too many elements.
        lowest = max((a / r for a, _, r in growing if a > 1), default=0)
        assert lowest < min((a + 1) / r for a, _, r in growing) * 1.001
        factor = min((length + 1) / ratio for length, _, ratio in growing) * 1.000001
        larger = [max(1, min(whole, int(factor * ratio))) for _, whole, ratio in free]
        fixed = smallest
        assert prod(larger) * fixed > elements


@settings(max_examples=200, deadline=None)
@given(data=st.data(), shape=SHAPES, size=SIZES)
def test_shards_contain_whole_chunks(data, shape, size):
    inner = data.draw(layouts(len(shape)))
    outer = data.draw(layouts(len(shape), limit=400))
    try:
        chunks, shards = chunk_and_shard_shape(shape, size, inner, outer)
    except ValueError as error:
        assert "not multiples" in str(error)  # noqa: PT017 - otherwise the rest is checked
        assert not inner.soft
        assert not outer.soft
        return
    if shards is None:
        return
    assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))
    for layout, found in ((inner, chunks), (outer, shards)):
        if layout.shape != "auto" and not layout.soft:
            for length, given_, whole in zip(found, layout.shape, shape, strict=True):
                if given_ != "auto":
                    assert length == (whole if given_ in (None, -1) else given_)
    if outer.shape == "auto":
        elements = outer.elements or SHARD_BYTES // size
        assert prod(shards) <= max(elements, prod(chunks))
        assert all(
            shard < whole + chunk
            for shard, whole, chunk in zip(shards, shape, chunks, strict=True)
            if shard > chunk
        )


EXAMPLES = [
    # shape, chunks, shards
    ((1000, 2000, 3000), {"elements": 2**20}, None),
    ((1000, 2000, 30), {"elements": 2**20}, None),
    ((1000, 2000, 3000), {"elements": 1000}, None),
    ((1000, 2000), {"elements": 12345, "aspect_ratio": (3, 1)}, None),
    ((10, 20, 30), {"elements": 5}, None),
    (
        (1000, 2000, 3000),
        {"elements": 2_000_000, "aspect_ratio": (2, 1, 1)},
        {"elements": 10**9, "aspect_ratio": (2, 1, 1)},
    ),
    ((1000, 2000, 3000), {"shape": (64, 64, 64)}, {"shape": (512, 512, 512)}),
    ((1000, 2000, 3000), {"elements": 2**20}, {"shape": (512, 512, 512)}),
    ((1000, 2000, 3000), {"elements": 20000}, {"shape": (500, 500, 500)}),
    ((10, 2000, 3000), {"elements": 2**20, "shape": ("auto", 100, "auto")}, None),
    ((10, 2000, 3000), {"elements": 2**20, "shape": ("auto", None, "auto")}, None),
    ((1000, 2000), {"shape": (64, 64)}, {"shape": (97, 100), "soft": True}),
    ((1000, 2000), {"shape": (64, 64)}, {"shape": (96, 129), "soft": True}),
    ((1000, 2000), {"shape": (40, 30), "soft": True}, {"shape": (100, 100)}),
    ((1000, 2000), {"shape": (40, 30), "soft": True}, {"shape": (100, 100), "soft": True}),
]


def of_tensorstore(prefix, layout):
    """The constraints of a layout in TensorStore's words: 0 is free, -1 the whole dimension."""
    words = {key: value for key, value in (layout or {}).items() if key not in ("shape", "soft")}
    if "shape" in (layout or {}):
        lengths = [{"auto": 0, None: -1}.get(length, length) for length in layout["shape"]]
        words["shape_soft_constraint" if layout.get("soft") else "shape"] = lengths
    return {f"{prefix}_chunk_{word}": value for word, value in words.items()}


@pytest.mark.parametrize(("shape", "chunks", "shards"), EXAMPLES)
def test_tensorstore_chooses_the_same(shape, chunks, shards):
    ts = pytest.importorskip("tensorstore")
    constraints = of_tensorstore("read", chunks) | of_tensorstore("write", shards)
    if shards is None:
        constraints = {key.removeprefix("read_"): value for key, value in constraints.items()}
    theirs = ts.open(
        {"driver": "zarr3", "kvstore": "memory://"}, create=True, dtype=ts.uint16, shape=shape,
        chunk_layout=ts.ChunkLayout(**constraints),
    ).result().chunk_layout  # fmt: skip
    array = zarr.create_array(
        shape=shape, dtype="uint16", chunks=ChunkLayout(**chunks),
        shards=None if shards is None else ChunkLayout(**shards),
    )  # fmt: skip
    assert array.chunks == theirs.read_chunk.shape
    assert (array.shards or array.chunks) == theirs.write_chunk.shape


@pytest.mark.parametrize(
    ("chunks", "shards", "expected"),
    [
        ("auto", ChunkLayout(shape=(512, 512)), ((512, 512), None)),
        ("auto", ChunkLayout(shape=(4096, 512)), ((2048, 512), (4096, 512))),
        (ChunkLayout(elements=100), "auto", ((10, 10), (5790, 5790))),
        (ChunkLayout(elements=100), True, ((10, 10), (5790, 5790))),
        (ChunkLayout(elements=100), False, ((10, 10), None)),
        (ChunkLayout(elements=100), ChunkLayout(elements=900), ((10, 10), (30, 30))),
        (ChunkLayout(shape=8), None, ((8, 8), None)),
        ((7, "auto"), ChunkLayout(elements=10**6), ((7, 20000), (49, 20000))),
    ],
)
def test_one_of_two_arguments_is_a_layout(chunks, shards, expected):
    assert chunk_and_shard_shape((10000, 20000), 1, chunks, shards) == expected


@pytest.mark.parametrize(
    ("chunks", "shards", "expected"),
    [
        (("auto", 100, 100), None, ((15, 100, 100), None)),
        ((1, "auto", None), None, ((1, 181, 1440), None)),
        (("auto", "auto", "auto"), None, ((58, 46, 90), None)),
        ((10, 10, 10), ("auto", 100, None), ((10, 10, 10), (40, 100, 1440))),
        (("auto", 50, 50), ("auto", 100, 100), ((58, 50, 50), (464, 100, 100))),
        (("auto", "auto", 1440), (365, 90, 1440), ((5, 30, 1440), (365, 90, 1440))),
        # The shard is larger than 32 MiB, because it has at least one chunk along a dimension.
        ("auto", (365, "auto", 1440), ((73, 46, 72), (365, 46, 1440))),
        ((5, "auto", 1440), [[3000, 650], 721, 1440], ((5, 7, 1440), ((3000, 650), 721, 1440))),
    ],
)
def test_single_dimensions_are_chosen(chunks, shards, expected):
    assert chunk_and_shard_shape((3650, 721, 1440), 4, chunks, shards) == expected


@pytest.mark.parametrize(
    ("chunks", "shards", "message"),
    [
        ({"elements": 0}, None, "positive number of elements"),
        ({"elements": 2.5}, None, "positive number of elements"),
        ({"aspect_ratio": (1, 0)}, None, "a ratio is a positive number"),
        ({"aspect_ratio": (1, float("inf"))}, None, "a ratio is a positive number"),
        ({"aspect_ratio": ("a", 1)}, None, "a ratio is a positive number"),
        ({"aspect_ratio": (1, 1, 1)}, None, r"chunks: aspect_ratio=.* 3 numbers for 2"),
        ({}, {"aspect_ratio": (1,)}, r"shards: aspect_ratio=.* 1 numbers for 2"),
        ({"shape": (1, 2, 3)}, None, "3 lengths for 2"),
        ({"shape": (0, 2)}, None, "at least 1"),
        ({"shape": [[5, 5], 2]}, None, "different lengths along a dimension"),
        ({"shape": 7}, {"shape": 10}, "not multiples of chunks"),
        ({"shape": 7}, 10, "With soft=True"),
    ],
)
def test_layouts_that_do_not_fit_are_rejected(chunks, shards, message):
    def create():
        outer = ChunkLayout(**shards) if isinstance(shards, dict) else shards
        zarr.create_array(shape=(10, 10), chunks=ChunkLayout(**chunks), shards=outer)

    with pytest.raises(ValueError, match=message):
        create()


def test_prime_lengths_take_no_longer():
    started = time.process_time()
    prime = 2**61 - 1
    chunks, shards = chunk_and_shard_shape((prime,), 8, ChunkLayout(), ChunkLayout(shape=(prime,)))
    assert (chunks, shards) == ((1,), (prime,))
    soft = ChunkLayout(shape=(10**9,), soft=True)
    assert chunk_and_shard_shape((prime,), 8, soft, (prime,))[0] == (1,)
    assert time.process_time() - started < 5


def test_layouts_are_accepted_wherever_chunks_are():
    layout = ChunkLayout(elements=100)
    group = zarr.create_group()
    array = group.create_array("a", data=np.arange(400).reshape(20, 20), chunks=layout)
    assert array.chunks == (10, 10)
    assert group.full("b", 3, shape=(20, 20), chunks=layout, shards="auto").shards == (20, 20)
    assert zarr.zeros_like(array, chunks=ChunkLayout(elements=25)).chunks == (5, 5)
    shards = {"shape": ChunkLayout(elements=400), "index_location": "start"}
    assert zarr.create_array(shape=(80, 80), chunks=layout, shards=shards).shards == (20, 20)
    copied = zarr.copy(array, zarr.MemoryStore(), chunks=ChunkLayout(elements=64))
    assert copied.chunks == (8, 8)
    assert np.array_equal(copied[...], array[...])
