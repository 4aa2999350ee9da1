"""Values of stores: whole, in parts, into given memory."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import strategies as st
from zarr_core.extension import ByteRange, StoreReadError, ValueReplacedError

from zarr_conformance.kit.examples import check_examples
from zarr_conformance.kit.store_case import StoreCase, filled

VALUES = (b"", b"x", bytes(range(256)) * 9, b"\0" * 5000)


class StoreValueTests(StoreCase):
    """Values are read as they were written."""

    # --- values ---

    @pytest.mark.parametrize("value", VALUES, ids=len)
    def test_value_round_trip(self, store: Any, value: Any) -> None:
        assert store.get("a/b") is None
        store.set("a/b", value)
        assert bytes(store.get("a/b")) == value
        assert store.exists("a/b")
        assert store.getsize("a/b") == len(value)

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_set_accepts_buffers(self, store: Any, kind: Any) -> None:
        store.set("k", kind(b"abc"))
        assert bytes(store.get("k")) == b"abc"

    def test_buffers_are_concatenated(self, store: Any) -> None:
        store.set("k", [b"ab", bytearray(b"cd"), memoryview(b"xefx")[1:3], b""])
        assert bytes(store.get("k")) == b"abcdef"

    def test_no_buffers_are_an_empty_value(self, store: Any) -> None:
        store.set("k", [])
        assert bytes(store.get("k")) == b""

    def test_many_buffers(self, store: Any) -> None:
        pieces = [bytes([number % 251]) * (number % 7) for number in range(5000)]
        store.set("k", pieces)
        assert bytes(store.get("k")) == b"".join(pieces)

    def test_set_replaces_value(self, store: Any) -> None:
        store.set("k", b"a long old value")
        store.set("k", b"new")
        assert bytes(store.get("k")) == b"new"
        assert store.getsize("k") == 3
        assert list(store.list()) == ["k"]

    def test_set_copies_the_buffer(self, store: Any) -> None:
        mine = bytearray(b"mine")
        store.set("k", mine)
        mine[:] = b"gone"
        assert bytes(store.get("k")) == b"mine"

    def test_returned_value_cannot_change_store(self, store: Any) -> None:
        store.set("k", b"value")
        view = memoryview(store.get("k"))
        if not view.readonly:
            view[0] = 0
        assert bytes(store.get("k")) == b"value"

    def test_returned_value_does_not_change_later(self, store: Any) -> None:
        store.set("k", b"before")
        value = store.get("k")
        store.set("k", b"after.")
        assert bytes(value) == b"before"

    # --- reading into memory ---

    @pytest.mark.parametrize("room", [0, 1, 9, 10, 11, 5000])
    def test_get_limited_with_memory(self, store: Any, room: int) -> None:
        value = b"0123456789"
        store.set("k", value)
        buffer = filled(room, 0xEE)
        result = store.get_limited("k", room, buffer)
        assert result == 10 if room < 10 else bytes(result) == value
        assert bytes(buffer[10:]) == b"\xee" * max(0, room - 10)

    def test_get_limited_of_missing_key_keeps_memory(self, store: Any) -> None:
        buffer = filled(4, 7)
        assert store.get_limited("k", 4, buffer) is None
        assert bytes(buffer) == b"\7\7\7\7"

    def test_get_limited_of_empty_value_with_memory(self, store: Any) -> None:
        store.set("k", b"")
        assert bytes(store.get_limited("k", 4, filled(4, 7))) == b""
        assert bytes(store.get_limited("k", 0, filled(0, 0))) == b""

    # --- up to a limit ---

    @pytest.mark.parametrize("limit", [0, 9, 10, 11, 5000])
    def test_get_limited(self, store: Any, limit: int) -> None:
        value = b"0123456789"
        store.set("k", value)
        result = store.get_limited("k", limit)
        assert result == 10 if limit < 10 else bytes(result) == value

    def test_get_limited_of_missing_key(self, store: Any) -> None:
        assert store.get_limited("k", 10) is None

    # --- parts ---

    def test_partial_values_are_slices(self, store: Any) -> None:
        def check(case: tuple[int, int, int | None]) -> None:
            size, start, length = case
            value = bytes(range(size))
            if store.get(f"k{size}") is None:
                store.set(f"k{size}", value)
            first = max(0, size + start) if start < 0 else start
            expected = value[first:] if length is None else value[first : first + length]
            got, missing = store.get_partial_values(
                [(f"k{size}", ByteRange(start, length)), ("none", ByteRange(start, length))]
            )
            assert bytes(got) == expected
            assert missing is None

        lengths = st.none() | st.integers(0, 60)
        cases = st.tuples(st.integers(0, 40), st.integers(-50, 50), lengths)
        check_examples(check, cases, self.examples * 2)

    def test_partial_values_keep_order(self, store: Any) -> None:
        store.set("a", b"aaa")
        store.set("b", b"bbb")
        asked = [("b", ByteRange(0, 1)), ("a", ByteRange(1)), ("b", ByteRange(-2, 1))]
        assert [bytes(part) for part in store.get_partial_values(asked)] == [b"b", b"aa", b"b"]

    def test_reader(self, store: Any) -> None:
        store.set("k", bytes(range(100)))
        with store.open_value("k") as reader:
            assert reader.size == 100
            first, second = filled(3, 0), filled(10, 0)
            reader.read_into([(90, second), (5, first)])
            assert bytes(first) == b"\5\6\7"
            assert bytes(second) == bytes(range(90, 100))
            assert bytes(reader.read(99, 1)) == b"c"
            assert bytes(reader.read(100, 0)) == b""

    @pytest.mark.parametrize(("start", "length"), [(-1, 1), (9, 2), (10, 1), (2**62, 1), (0, 11)])
    def test_reader_beyond_end_raises(self, store: Any, start: int, length: int) -> None:
        store.set("k", b"0123456789")
        with store.open_value("k") as reader:
            with pytest.raises(StoreReadError):
                reader.read_into([(start, filled(length, 0))])
            with pytest.raises(StoreReadError):
                reader.read(start, length)

    def test_reader_keeps_its_generation(self, store: Any) -> None:
        store.set("k", b"old" * 1000)
        with store.open_value("k") as reader:
            store.set("k", b"new" * 1000)
            with suppress(ValueReplacedError):
                assert bytes(reader.read(0, 3000)) == b"old" * 1000
        assert bytes(store.get("k")) == b"new" * 1000

    def test_reader_of_missing_key(self, store: Any) -> None:
        assert store.open_value("k") is None
        assert store.open_value("k", ByteRange(-4)) is None

    def test_prefetch_does_not_limit_reads(self, store: Any) -> None:
        value = bytes(range(200))
        for size in (0, 1, 200):
            store.set("k", value[:size])
            for first in (ByteRange(0), ByteRange(-8), ByteRange(0, 8), ByteRange(150, 80)):
                with store.open_value("k", first) as reader:
                    assert reader.size == size
                    assert bytes(reader.read(0, size)) == value[:size]
                    assert (
                        bytes(reader.read(size // 2, size // 4))
                        == (value[size // 2 : size // 2 + size // 4])
                    )
                    with pytest.raises(StoreReadError):
                        reader.read(size, 1)

    # --- generations ---

    def test_generation_changes_with_value(self, store: Any) -> None:
        assert store.generation("k") is None
        seen = set()
        for value in (b"a", b"b", b"a longer one", b""):
            store.set("k", value)
            generation = store.generation("k")
            assert generation == store.generation("k")
            seen.add(generation)
            with store.open_value("k") as reader:
                assert reader.generation in (None, generation)
        assert None not in seen
        assert len(seen) == 4

    def test_set_values(self, store: Any) -> None:
        store.set("a/b", b"old")
        store.set_values((key, value) for key, value in [("a/b", b"new"), ("c", [b"0", b"1"])])
        store.set_values([])
        assert bytes(store.get("a/b")) == b"new"
        assert bytes(store.get("c")) == b"01"
        assert sorted(store.list()) == ["a/b", "c"]

    def test_set_partial_values(self, store: Any) -> None:
        store.set("a", b"0123456789")
        store.set_partial_values([("a", 2, b"xy"), ("b", 3, b"z"), ("a", 9, b"..")])
        assert bytes(store.get("a")) == b"01xy45678.."
        assert bytes(store.get("b")) == b"\0\0\0z"
