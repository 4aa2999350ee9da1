"""Strict JSON: no guesses when reading, no losses when writing."""

from __future__ import annotations

import enum
import json
import math
import sys
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarr_core import strictjson
from zarr_core.errors import MetadataDecodeError, MetadataValidationError


def problems_of(data, error=MetadataDecodeError):
    with pytest.raises(error) as caught:
        strictjson.loads(data, "s3://bucket zarr.json")
    assert str(caught.value).startswith("s3://bucket zarr.json: ")
    return [(problem.pointer, problem.message) for problem in caught.value.problems]


# Members as pairs, because keys can be repeated; strings with structural characters.
TEXTS = st.text(st.sampled_from('ab:"\\[]{}, \né')) | st.sampled_from([": ", '":', "\\", ""])
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=20) | st.lists(st.tuples(TEXTS, inner), max_size=4).map(tuple)
    ),
    max_leaves=30,
)


def text_of(tree, space, escaped):
    if isinstance(tree, tuple):
        members = (
            f"{json.dumps(name, ensure_ascii=escaped)}{space}:{text_of(item, space, escaped)}"
            for name, item in tree
        )
        return f"{{{f'{space},'.join(members)}}}"
    if isinstance(tree, list):
        return f"[{','.join(text_of(item, space, escaped) for item in tree)}{space}]"
    return json.dumps(tree, ensure_ascii=escaped)


@given(TREES, st.sampled_from(["", " ", "\n\t"]), st.booleans(), st.booleans())
def test_the_parser_agrees_with_the_standard_library(tree, space, escaped, constants):
    text = text_of(tree, space, escaped)
    repeated = False

    def members(pairs):
        nonlocal repeated
        repeated |= len(dict(pairs)) != len(pairs)
        return dict(pairs)

    tokens = []
    expected = json.loads(
        text,
        object_pairs_hook=members,
        parse_constant=lambda token: tokens.append(token) or float(token),
    )
    if repeated or (tokens and not constants):
        with pytest.raises(MetadataDecodeError):
            strictjson.loads(text, constants=constants)
    else:
        found = strictjson.loads(text, constants=constants)
        assert strictjson.identical(found, expected)
        assert repr(found) == repr(expected)


@given(TREES)
def test_encoding_agrees_with_the_standard_library(tree):
    try:
        document = strictjson.loads(text_of(tree, "", False), constants=True)
    except MetadataDecodeError:
        return
    expected = json.dumps(strictjson.plain_floats(document), indent=2, ensure_ascii=False)
    assert strictjson.encode(strictjson.plain_floats(document)).decode() == expected


def test_half_a_surrogate_pair_survives():
    assert strictjson.loads(strictjson.dumps({"a": "\ud800"})) == {"a": "\ud800"}


@pytest.mark.parametrize("data", ["[1, 2]", b"[1, 2]", bytearray(b"[1, 2]"), memoryview(b"[1, 2]")])
def test_every_kind_of_text_is_read(data):
    assert strictjson.loads(data) == [1, 2]


@pytest.mark.parametrize("data", [b"", b"  ", b'{"a": 1', b"{'a': 1}", b"[1,]", b"[1] 2", b"nul"])
def test_damaged_text_is_rejected_with_its_position(data):
    [(pointer, message)] = problems_of(data)
    assert pointer == ""
    assert "line 1, column" in message or message == "the document is empty"


def test_repeated_keys_are_named_with_their_place():
    assert problems_of(b'{"a": [{"b": 1, "c": 2, "b": 3}], "a~": 1, "a~": 1}') == [
        ("/a/0/b", "the key 'b' is repeated"),
        ("/a~0", "the key 'a~' is repeated"),
    ]


def test_a_repeated_key_whose_value_is_dropped_is_rejected_still():
    # The first value, which the parser discards, has another fault.
    assert ("/a", "the key 'a' is repeated") in problems_of(b'{"a": {"b": NaN}, "a": 1}')


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_tokens_that_are_not_json_are_rejected(token):
    [(pointer, message)] = problems_of(f'{{"attributes": [0, {{"a/b": {token}}}]}}')
    assert pointer == "/attributes/1/a~1b"
    assert message.startswith(f"{token} is not valid JSON")
    # The same word as a string is a fill value.
    assert strictjson.loads(f'["{token}"]') == [token]


def test_errors_after_a_rejected_token_are_reported():
    [(pointer, message)] = problems_of('{"fill_value": NaN, "codecs": [}')
    assert pointer == ""
    assert message == "expecting value (line 1, column 32, character 31)"
    assert strictjson.loads("1") == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_other_encodings_are_rejected(encoding):
    problems_of('{"zarr_format": 3}'.encode(encoding))


def test_latin_1_is_rejected_with_its_byte():
    assert problems_of(b'{"unit": "\xb0C"}') == [("", "not UTF-8 at byte 10")]


def test_nesting_up_to_the_limit_is_read():
    depth = strictjson.MAX_DEPTH
    value = strictjson.loads("[" * depth + "]" * depth)
    assert strictjson.loads(strictjson.dumps(value)) == value
    problems_of("[" * (depth + 1) + "]" * (depth + 1))


def test_a_full_stack_is_not_a_bare_recursion_error():
    depth = strictjson.MAX_DEPTH - 1
    text = "[" * depth + "]" * depth
    outcomes = []

    def call_at_depth(frames):
        if frames:
            call_at_depth(frames - 1)
            return
        try:
            outcomes.append(strictjson.loads(text))
        except MetadataDecodeError as error:
            outcomes.append(str(error))

    call_at_depth(sys.getrecursionlimit() - 150 - _frames())
    assert len(outcomes) == 1


def _frames():
    frame, count = sys._getframe(), 0
    while frame is not None:
        frame, count = frame.f_back, count + 1
    return count


def test_an_integer_of_thousands_of_digits_is_rejected():
    assert problems_of(b'{"shape": [-' + b"7" * 5000 + b"]}") == [
        ("/shape/0", "an integer of 5000 digits is too large")
    ]


def test_a_number_that_would_become_infinite_is_rejected():
    assert problems_of(b'{"a": [1e308, 1e309]}') == [
        ("/a/1", "1e309 is beyond the range of 64-bit floating-point numbers")
    ]


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.int64(2**60 + 1), 2**60 + 1),
        (np.uint8(7), 7),
        (np.float32(0.5), 0.5),
        (np.float64(0.1), 0.1),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.array(3), 3),
        ((1, (2,)), [1, [2]]),
        (OrderedDict(a=np.int8(1)), {"a": 1}),
        ({np.str_("k"): Colour.RED}, {"k": "red"}),
        (enum.IntEnum("Level", ["LOW"]).LOW, 1),
    ],
)
def test_values_of_numpy_become_plain(value, expected):
    result = strictjson.plain([value])[0]
    assert strictjson.identical(result, expected)


@pytest.mark.parametrize(
    ("value", "pointer"),
    [
        ({"a": [0, math.nan]}, "/a/1"),
        ({"a": np.float32("inf")}, "/a"),
        ({"a": np.array([1.0, np.nan])}, "/a/1"),
        ({"a": {"b/c": object()}}, "/a/b~1c"),
        ({"a": 1j}, "/a"),
        ({"a": b"bytes"}, "/a"),
        ({"a": {1: "one"}}, "/a/1"),
        ({"a": {None: "none"}}, "/a/None"),
        ({"a": np.datetime64("2020-01-01")}, "/a"),
        # tolist() returns an integer for nanoseconds.
        ({"a": np.datetime64("2020-01-01", "ns")}, "/a"),
        ({"a": np.array([1], "m8[ns]")}, "/a"),
        ({"a": {1, 2}}, "/a"),
    ],
)
def test_values_without_json_form_are_rejected_with_their_place(value, pointer):
    with pytest.raises(MetadataValidationError) as caught:
        strictjson.dumps(value, "attributes")
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_all_values_without_json_form_are_reported():
    with pytest.raises(MetadataValidationError) as caught:
        strictjson.dumps({"a": math.nan, "b": object(), "c": 1})
    assert [problem.pointer for problem in caught.value.problems] == ["/a", "/b"]


def test_a_value_within_itself_is_rejected():
    loop = []
    loop.append(loop)
    with pytest.raises(MetadataValidationError, match="within themselves"):
        strictjson.dumps({"loop": loop})


def test_writing_does_not_change_its_argument():
    inner = [np.int64(1)]
    document = {"a": inner}
    strictjson.dumps(document)
    assert document["a"] is inner
    assert type(inner[0]) is np.int64


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, -0.0),
        ([1], [1, 1]),
        ({"a": 1}, {"a": True}),
        ("1", 1),
    ],
)
def test_different_values_are_not_identical(one, other):
    assert not strictjson.identical(one, other)
    assert strictjson.identical(one, one)


def test_the_order_of_members_does_not_matter():
    assert strictjson.identical({"a": [1], "b": 2}, {"b": 2, "a": [1]})


@pytest.mark.parametrize("text", ["[" * 1_000_000, '{"a":' * 300_000, "[" * 5000 + "]" * 5000])
def test_deep_nesting_is_rejected(text):
    with pytest.raises(MetadataDecodeError, match="nested more than 256 deep"):
        strictjson.loads(text)


@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=40),
    st.sampled_from(['"[{"', r'"\"]"', r'"\\"', r'"a\\\"[["', '""', '"é]"', "1"]),
    st.booleans(),
)
def test_depth_of_many_branches(depths, value, in_objects):
    def branch(depth):
        if in_objects:
            return f'{{"[": {value}, "a": ' * depth + value + "}" * depth
        return f"[{value}, " * depth + value + "]" * depth

    text = "[" + ", ".join(map(branch, depths)) + "]"
    if max(depths) < strictjson.MAX_DEPTH:
        strictjson.loads(text)
    else:
        with pytest.raises(MetadataDecodeError, match="nested more than 256 deep"):
            strictjson.loads(text)
