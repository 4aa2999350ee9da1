import inspect
from inspect import getattr_static

import pytest
from store_contract import LocalWrapperContract, WrapperContract, get_into
from zarr_core.extension import (
    Store,
    StoreError,
    StoreKeyError,
    StoreReadOnlyError,
    StoreTraits,
    WrapperStore,
    check_key,
    check_prefix,
)
from zarr_core.stores.local import LocalStore
from zarr_core.stores.memory import MemoryStore
from zarr_stores.cache.lru_cache import LRUCacheStore
from zarr_stores.wrappers.prefix import PrefixStore
from zarr_stores.wrappers.read_only import ReadOnlyStore

CHANGES = {
    "set", "set_values", "set_partial_values", "update", "erase", "erase_values", "erase_prefix",
}  # fmt: skip


def public(kind):
    return {name for name in dir(Store) if name[0] != "_" and kind(getattr_static(Store, name))}


# Store defines them by operations that are passed on.
NOT_PASSED_ON = {"list", "set_partial_values"}


def test_the_files_of_a_wrapped_store_are_not_accessible(tmp_path):
    store = LocalStore(tmp_path)
    assert store.traits.files is not None
    assert WrapperStore(store).traits.files is None


def test_every_operation_reaches_the_inner_store_as_it_is():
    class Inner(MemoryStore):
        pass

    said = []
    for name in public(inspect.isfunction):
        setattr(Inner, name, lambda _, *given, name=name: said.append((name, given)) or name)
    store = WrapperStore(Inner())
    for name in public(inspect.isfunction) - NOT_PASSED_ON:
        taken = len(inspect.signature(getattr(Store, name)).parameters) - 1
        given = tuple(object() for _ in range(taken))
        answer = getattr(store, name)(*given)
        assert said.pop() == (name, given)
        assert answer == name or name in CHANGES | {"close", "discard_cached"}


def test_capabilities_are_those_of_the_inner_store():
    class Odd(MemoryStore):
        supports_listing = False
        max_concurrency = 77
        traits = StoreTraits(supports_erasing=False, metadata_first=True, endpoint="elsewhere")

    names = public(lambda member: member is None or isinstance(member, (bool, StoreTraits)))
    assert names >= {"read_only", "max_concurrency", "in_memory", "traits"}
    store = WrapperStore(Odd(read_only=True))
    for name in names:
        assert getattr(store, name) == getattr(store.inner, name), name
        assert getattr(store, name) != getattr(Store, name), name


class TestWrapperStore(WrapperContract):
    def wrap(self, store):
        return WrapperStore(store)


class Reversed(WrapperStore):
    """A wrapper with its own values and keys, which overrides what has no default."""

    def get(self, key):
        value = self.inner.get(check_key(key)[::-1])
        return None if value is None else bytes(value)[:-1]

    def set(self, key, value):
        parts = value if isinstance(value, list | tuple) else [value]
        self.inner.set(check_key(key)[::-1], [*parts, b"!"])

    def erase(self, key):
        self.inner.erase(check_key(key)[::-1])

    def list_prefix(self, prefix):
        check_prefix(prefix)
        keys = (key[::-1] for key in self.inner.list())
        return (key for key in keys if key.startswith(prefix))


class TestReversed(WrapperContract):
    def wrap(self, store):
        return Reversed(store)


def test_a_wrapper_that_overrides_one_operation_of_a_kind_changes_all():
    store = Reversed(MemoryStore())
    store.set_values([("a/b", b"12")])
    store.set_partial_values([("a/b", 2, b"345")])
    assert store.inner.get("b/a") == b"12345!"
    assert dict(store.list_sizes("")) == {"a/b": 5} == {"a/b": store.getsize("a/b")}
    assert store.list_dir("") == ([], ["a/"])
    assert get_into(store, "a/b", memoryview(bytearray(5))) == 5
    assert store.open_value("a/b").size == 5
    store.erase_prefix("a/")
    assert list(store.inner.list()) == []


def test_a_subclass_of_a_wrapper_keeps_its_operations():
    class Cache(LRUCacheStore):
        def get(self, key):
            return super().get(key)

    assert Cache.open_value is LRUCacheStore.open_value
    assert Cache.list_dir is LRUCacheStore.list_dir


class TestPrefixStore(WrapperContract):
    def wrap(self, store):
        return PrefixStore(store, "deep/down")


class TestLRUCacheStore(WrapperContract):
    def wrap(self, store):
        return LRUCacheStore(store, 1000)


class TestStack(WrapperContract):
    def wrap(self, store):
        return LRUCacheStore(PrefixStore(LRUCacheStore(WrapperStore(store), None), "p/"), 10_000)


class TestStackOfLocalStore(LocalWrapperContract):
    def wrap(self, store):
        return LRUCacheStore(PrefixStore(store, "p"), 4000)


class TestReadOnlyStore(LocalWrapperContract):
    def wrap(self, store):
        return WrapperStore(store)

    def again(self, store, *, read_only):
        return (ReadOnlyStore if read_only else WrapperStore)(store.inner)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set", ("k", b"")),
        ("set_values", ([("k", b"")],)),
        ("set_partial_values", ([("k", 0, b"")],)),
        ("update", ("k", lambda reader: reader)),
        ("erase", ("none",)),
        ("erase_values", (["k"],)),
        ("erase_prefix", ("",)),
    ],
)
def test_read_only_rejects_all_changes(name, arguments):
    with pytest.raises(StoreReadOnlyError):
        getattr(ReadOnlyStore(MemoryStore({"k": b"v"})), name)(*arguments)


class TestPrefix:
    def test_keys_are_translated_both_ways(self):
        inner = MemoryStore({"a/b/zarr.json": b"1", "a/bc/zarr.json": b"2", "zarr.json": b"3"})
        store = PrefixStore(inner, "a/b")
        assert list(store.list()) == ["zarr.json"]
        store.set("c/0", b"new")
        assert store.list_dir("") == (["zarr.json"], ["c/"])
        assert inner.get("a/b/c/0") == b"new"
        store.erase_prefix("")
        assert sorted(inner.list()) == ["a/bc/zarr.json", "zarr.json"]

    def test_equality(self):
        inner = MemoryStore()
        assert PrefixStore(inner, "a") == PrefixStore(WrapperStore(inner), "a/")
        assert PrefixStore(inner, "a") != PrefixStore(inner, "b")
        assert PrefixStore(inner, "a") != inner
        assert PrefixStore(inner, "") == inner

    @pytest.mark.parametrize("prefix", ["..", "/", "a//b", "a/../b", "\0"])
    def test_no_prefix(self, prefix):
        with pytest.raises(StoreKeyError):
            PrefixStore(MemoryStore(), prefix)


@pytest.mark.parametrize("inner", [{}, "field.zarr", None], ids=repr)
def test_wrappers_require_a_store(inner):
    for wrap in (ReadOnlyStore, lambda it: PrefixStore(it, "a"), lambda it: LRUCacheStore(it, 9)):
        with pytest.raises(StoreError, match="requires a store, not .*; pass LocalStore"):
            wrap(inner)
