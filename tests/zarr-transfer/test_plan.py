"""Plans of reads: their numbers are those of the read."""

import json
import sys
from functools import partial
from math import prod

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import SelectionError
from zarr_core.selection.projection import project
from zarr_transfer import Plan, plan_selection
from zarr_transfer.selection_plan import parse_selection

BIG_ENDIAN = {"name": "bytes", "configuration": {"endian": "big"}}
SHARDS = zarr.codec(
    "sharding_indexed", chunk_shape=(3, 4), codecs=[BIG_ENDIAN], index_location="start"
)
LAYOUTS = {
    "regular": {"chunks": (9, 8), "compressors": "gzip"},
    "uncompressed": {"chunks": (9, 8), "compressors": None},
    "sharded": {"chunks": (3, 4), "shards": (9, 8)},
    "sharded, index first": {"chunks": (9, 8), "serializer": SHARDS, "compressors": None},
    "compressed shards": {"chunks": (9, 8), "serializer": SHARDS, "compressors": "gzip"},
    "nested shards": {
        "chunks": (9, 8), "compressors": None,
        "serializer": zarr.codec("sharding_indexed", chunk_shape=(9, 4), codecs=[SHARDS]),
    },
    "rectilinear": {"chunks": ((2, 10, 5, 6), (17, 2, 11))},
    "version 2, F order": {"chunks": (9, 8), "order": "F", "zarr_format": 2},
}  # fmt: skip
SQUARE = np.zeros((23, 30), bool)
SQUARE[4:14, 20:25] = SQUARE[22, ::7] = True
SELECTIONS = [
    ("basic", ...), ("basic", np.s_[5:20, 3]), ("basic", np.s_[-1, ::7]), ("basic", np.s_[::-4, 9:9]),
    ("orthogonal", np.s_[[22, 3, 3], 4:29:9]), ("orthogonal", np.s_[::11, [8, 7, 1]]),
    ("coordinate", ([22, 3, 4, 3], [0, 29, 8, 7])), ("mask", SQUARE), ("mask", ~SQUARE & False),
    ("block", np.s_[1:, 0]), ("block", np.s_[:1, 1:]), ("fancy", np.s_[[2, 20], [8, 9]]),
    ("fancy", np.s_[[2, 20], ::-5]),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "selection"), SELECTIONS)
@pytest.mark.parametrize("options", LAYOUTS.values(), ids=LAYOUTS)
def test_plans_agree_with_reads(options, kind, selection):
    array = zarr.create_array(None, shape=(23, 30), dtype="i2", **options)
    read = array.__getitem__ if kind == "fancy" else getattr(array, f"get_{kind}_selection")
    plan, result = plan_selection(array, selection, indexing=kind), np.asarray(read(selection))
    assert (plan.shape, plan.nbytes) == (result.shape, result.nbytes)
    selected, stored = parse_selection(array, selection, kind).selection, array.stored
    chunks = [*project(selected, stored.axes)] if plan.nbytes else []
    assert plan.chunks == len(chunks)
    if not stored.codecs.prefers_partial_decode:
        shapes = (
            stored.resolved.grid.chunk_shape(stored.axes, part.chunk_coords) for part in chunks
        )
        assert plan.decoded_nbytes == sum(map(prod, shapes)) * array.dtype.itemsize


def calls(work):
    """Return the number of functions that are called."""
    count = 0

    def called(_, event, __):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("step", [1, 3, 250])
@pytest.mark.parametrize("shards", [None, (1000, 140)])
def test_a_plan_of_ten_million_chunks_takes_as_long_as_of_ten(step, shards):
    few, many = (
        zarr.create_array(
            None, shape=(100 * count, 500), chunks=(100, 70), shards=shards, dtype="f4"
        )
        for count in (10, 10**7)
    )
    plan_selection(few)
    numbers = [calls(partial(plan_selection, array, np.s_[30::step, ::2])) for array in (few, many)]
    assert numbers[1] <= numbers[0] + 20
    plan = plan_selection(many, np.s_[50::step, ::2])
    chunks = plan.chunks if shards is None else plan.inner_chunks
    assert chunks == 8 * min(10**7, -(-(10**9 - 50) // step))
    assert plan.nbytes == prod(plan.shape) * 4


def test_a_plan_is_a_table():
    array = zarr.create_array(None, shape=(40, 60), chunks=(10, 10), dtype="f4")
    plan = plan_selection(array, np.s_[5:25, 12:15])
    assert isinstance(plan, Plan)
    lines = str(plan).splitlines()
    assert lines[0].startswith("read of memory://")
    assert lines[2].split() == ["chunks", "3", "of", "24"]
    assert lines[-1].split() == ["bytes", "selected", "240", "B"]
    assert json.loads(json.dumps(plan.to_dict()))["chunks"] == 3
    assert plan.amplification == 3 * 400 / (20 * 3 * 4)


def test_plans_of_nothing_and_of_one_element():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    nothing = plan_selection(array, slice(2, 2))
    assert (nothing.chunks, nothing.decoded_nbytes, nothing.nbytes) == (0, 0, 0)
    assert nothing.amplification is None
    one = plan_selection(zarr.create_array(None, shape=(), dtype="i8"))
    assert (one.shape, one.chunks, one.decoded_nbytes) == ((), 1, 8)


def test_selections_that_do_not_fit_are_errors():
    array = zarr.create_array(None, shape=(4,), dtype="i8")
    with pytest.raises(ValueError, match="indexing must be one of fancy, .* not 'oindex'"):
        plan_selection(array, ..., indexing="oindex")
    with pytest.raises(SelectionError, match="out of bounds"):
        plan_selection(array, 9)


@pytest.mark.parametrize(
    ("layout", "selection", "expected"),
    [
        ({"chunks": (100, 200)}, np.s_[50:150, 0], 2 * 100 * 200),
        ({"chunks": (400, 400), "compressors": None}, np.s_[50:150, 390:410], 100 * 20),
        ({"chunks": (20, 50), "shards": (400, 400)}, np.s_[50:150, 390:410], 6 * 2 * 20 * 50),
    ],
)
def test_decoded_bytes(layout, selection, expected):
    array = zarr.create_array(None, shape=(800, 800), dtype="f4", **layout)
    assert plan_selection(array, selection).decoded_nbytes == 4 * expected
