"""The cache of limited size."""

from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from zarr_core.cache import Cache


@given(st.integers(1, 6), st.lists(st.integers(0, 12)))
def test_the_values_used_last_are_kept(limit, keys):
    cache = Cache(limit)
    used = OrderedDict()
    for key in keys:
        found = cache.get(key)
        if key in used:
            assert found == str(key)
        if found is None:
            cache.put(key, str(key))
        used[key] = None
        used.move_to_end(key)
        while len(used) > limit:
            used.popitem(last=False)
        assert len(cache) + len(cache._older) <= 2 * limit


def test_large_values_are_not_kept():
    cache = Cache(10, largest=4)
    assert cache.put("a", 1, 5) == 1
    assert cache.get("a") is None
    cache.put("b", 2, 4)
    assert cache.get("b") == 2


def test_sizes_are_limited():
    cache = Cache(10)
    for key in range(20):
        cache.put(key, key, 5)
    assert len(cache) + len(cache._older) == 4
    assert [key for key in range(20) if key in cache] == [18, 19]


def test_threads_get_the_values_of_their_keys():
    cache = Cache(8)

    def use(number):
        for step in range(2000):
            key = (number * step) % 24
            found = cache.get(key)
            assert found is None or found == -key - 1
            cache.put(key, -key - 1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(8)))
    assert len(cache) + len(cache._older) <= 2 * 16
