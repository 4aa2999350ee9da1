"""Scratch memory, and chunks that contain only the fill value."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from zarr_core.engine import scratch as module
from zarr_core.engine.fill_value import fill_test
from zarr_core.engine.scratch import Scratch
from zarr_core.threads import thread_count


def address(memory):
    return np.frombuffer(memory, np.uint8).ctypes.data


def test_memory_is_used_again():
    with Scratch(1000) as first:
        where = address(first)
        assert len(first) == 1000
        assert not first.readonly
    with Scratch(2000) as second:
        assert address(second) == where


def test_blocks_within_blocks_get_other_memory():
    with Scratch(100) as outer, Scratch(100) as inner:
        outer[:] = b"a" * 100
        inner[:] = b"b" * 100
        assert bytes(outer) == b"a" * 100


def test_threads_do_not_share():
    places = []
    with Scratch(100) as memory:
        places.append(address(memory))

        def other():
            with Scratch(100) as memory:
                places.append(address(memory))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(set(places)) == 2


def test_large_memory_is_shared_and_limited():
    most = module._KEPT_BYTES * thread_count()
    with Scratch(most + 1):
        pass
    assert sum(map(len, module._large)) <= most
    with Scratch(module._LARGE) as memory:
        place = address(memory)
    with ThreadPoolExecutor(1) as pool, Scratch(module._LARGE) as memory:
        assert address(memory) == place
        assert pool.submit(lambda: Scratch(module._LARGE).__enter__()).result() is not memory
    assert all(len(kept) < module._LARGE for kept in module._small)


DTYPES = [
    "U2",
    "S3",
    "M8[s]",
    [("a", "i2"), ("b", "V3")],
    "?",
    "i1",
    "u2",
    "f2",
    "i4",
    "f4",
    "f8",
    "c8",
    "c16",
    "V3",
    "V16",
]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), name=st.sampled_from(DTYPES))
def test_only_the_bits_of_the_fill_value_count(data, name):
    dtype = np.dtype(name)
    shape = data.draw(arrays.array_shapes(min_dims=0, max_dims=3, max_side=5))
    bits = data.draw(st.binary(min_size=16, max_size=16))[: dtype.itemsize]
    fill = np.frombuffer(bits, dtype).reshape(())
    test = fill_test(fill)
    array = np.broadcast_to(fill, shape).copy()
    assert test(array)
    assert test(np.broadcast_to(fill, shape))
    octets = array.reshape(-1).view(np.uint8)
    place = data.draw(st.integers(0, len(octets) - 1))
    octets[place] ^= 1
    assert not test(array)
    assert not test(array.T)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
def test_negative_zero_is_not_zero(dtype):
    test = fill_test(np.zeros((), dtype))
    assert test(np.zeros(4, dtype))
    assert not test(-np.zeros(4, dtype))


def test_a_nan_with_another_payload_is_another_value():
    plain = np.full(3, np.nan, "f4")
    other = plain.copy()
    other.view("u4")[1] += 1
    test = fill_test(plain[0:1].reshape(()))
    assert test(plain)
    assert not test(other)


def test_nothing_is_nothing_but_fill():
    assert fill_test(np.zeros((), "i4"))(np.empty((0, 3), "i4"))


def objects(*items):
    array = np.empty(len(items), object)
    for number, item in enumerate(items):
        array[number] = item
    return array


def test_objects_are_compared_as_such():
    test = fill_test(np.array("", object))
    assert test(np.array(["", ""], object))
    assert not test(np.array(["", "a"], object))
    assert test(np.full((2, 2), "", object))
    assert fill_test(np.array(-0.0, object))(objects(-0.0))
    assert fill_test(np.array(None, object))(objects(None, None))
    assert fill_test(np.array(b"a", object))(objects(b"a", bytes([97])))


@pytest.mark.parametrize("fill", ["", 0, 0.0, b"", None, False])
@pytest.mark.parametrize(
    "other",
    [0, False, -0.0, "", b"", None, np.nan, [], [1, 2], np.zeros(2), np.zeros(0), {"a": 1}, ...],
)
def test_objects_of_another_kind_are_not_a_fill(fill, other):
    if type(fill) is not type(other) or repr(fill) != repr(other):
        # As the first and as the last: comparing arrays would be ambiguous, lists have another length.
        assert not fill_test(np.array(fill, object))(objects(fill, other))
        assert not fill_test(np.array(fill, object))(objects(other, fill))


@pytest.mark.parametrize("fill", [[], {}, np.zeros(2), np.float32(0), ("a",)])
def test_objects_that_may_change_are_never_taken_for_the_fill_value(fill):
    value = np.empty((), object)
    value[()] = fill
    assert not fill_test(value)(objects(fill, fill))
    assert fill_test(value)(np.empty((0, 2), object))


def test_strings_of_any_length():
    dtype = np.dtypes.StringDType()
    test = fill_test(np.array("ä", dtype))
    assert test(np.array(["ä", "ä"], dtype))
    assert test(np.array("ä", dtype))
    assert test(np.empty((0, 2), dtype))
    assert not test(np.array(["ä", "a" * 100], dtype))
