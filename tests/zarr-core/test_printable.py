"""Stored text in messages: shortened, without control characters."""

import json
import pickle

import pytest
import zarr_core as zarr
from growth import LIMIT, growth
from hypothesis import given
from hypothesis import strategies as st
from zarr_cli.output import escape_json
from zarr_core.errors import (
    ChunkDecodeError,
    ExtensionConfigurationError,
    MetadataDecodeError,
    MetadataValidationError,
    NodeNameError,
    StoreError,
    UnknownExtensionError,
    UnsupportedFieldError,
    ValidationProblem,
    ZarrError,
    json_pointer,
)
from zarr_core.messages import (
    escape_controls,
    format_bytes,
    listed,
    pluralize,
    quoted,
    shorten,
)

HOSTILE = [*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u2028\u2029\u202e\u2066\ud800"]


@pytest.mark.parametrize("character", HOSTILE)
def test_a_control_character_is_escaped(character):
    escaped = escape_controls(f"a{character}b")
    assert character not in escaped
    assert escaped == f"a{ascii(character)[1:-1]}b"


@pytest.mark.parametrize(
    "text",
    [
        "température",
        "温度",
        "температура",
        "درجه‌حرارت",
        "तापमान",
        "👩‍🔬🌡️",
        "a\u00a0b\u3000c",
        "T ~ \\x1b",
    ],
)
def test_text_of_every_script_stays(text):
    assert escape_controls(text) == text


def test_line_breaks_stay_where_they_are_kept():
    assert escape_controls("a\nb\r", keep="\n") == "a\nb\\r"


@given(st.text())
def test_escaped_json_is_the_same_value(text):
    document = json.dumps({text: text}, ensure_ascii=False, indent=2)
    escaped = escape_json(document)
    assert json.loads(escaped) == {text: text}
    assert escape_controls(escaped, keep="\n") == escaped


@given(st.text(max_size=3000), st.integers(20, 2000))
def test_shortened_text_has_its_beginning_and_end(text, most):
    short = shorten(text, most)
    assert short == text or (text.startswith(short[: most // 2]) and len(short) < most + 40)
    assert short[-5:] == text[-5:]


def test_a_list_says_how_many_more_there_are():
    assert listed([f"m{number}" for number in range(16_000)], 2) == "'m0', 'm1' and 15,998 more"
    assert listed(["a"]) == "'a'"


def test_a_long_name_keeps_its_quotes():
    assert quoted("x" * 500).startswith("'xxx")
    assert quoted("x" * 500).endswith("xxx'")


LONG = "n" * 320_000
PROBLEM = ValidationProblem(json_pointer(LONG), f"must not be {LONG!r}")


@pytest.mark.parametrize(
    "error",
    [
        MetadataValidationError("x.zarr 'zarr.json'", [PROBLEM] * 100),
        MetadataDecodeError("x.zarr 'zarr.json'", [PROBLEM]),
        UnsupportedFieldError(LONG, [PROBLEM]),
        UnknownExtensionError("codec", LONG, "x.zarr", hint="Install it."),
        ExtensionConfigurationError("codec", LONG, "x.zarr", [PROBLEM] * 100),
        StoreError("it failed", "memory://", LONG),
        NodeNameError(LONG, "must not be empty"),
        ChunkDecodeError(LONG, LONG, LONG),
    ],
)
def test_a_message_does_not_repeat_long_text(error):
    assert 0 < len(str(error)) < 3000
    assert pickle.loads(pickle.dumps(error)).args == error.args


def test_message_counts_omitted_problems():
    problems = [
        ValidationProblem(f"/m{number}", "is not a member here") for number in range(16_000)
    ]
    error = MetadataValidationError("x.zarr 'zarr.json'", problems)
    shown = str(error).splitlines()
    assert shown[1] == "  /m0: is not a member here"
    assert shown[-1] == f"  and {16_000 - (len(shown) - 2):,} more"
    assert len(str(error)) < 3000
    assert len(error.problems) == 16_000


def test_a_message_does_not_repeat_control_characters():
    problem = ValidationProblem("/attributes/\x1b[2J\x9b\r\n", "is not \u202e")
    message = str(MetadataValidationError("a\x1b.zarr", [problem]))
    assert message.splitlines()[1:] == ["  /attributes/\\x1b[2J\\x9b\\r\\n: is not \\u202e"]
    assert message.startswith("a\\x1b.zarr: ")


def repeated_keys(count):
    members = ",".join(f'"k{number}":1' for number in range(count))
    return f'{{"zarr_format":3,"node_type":"group","attributes":{{{members},"k0":2}}}}'.encode()


def unknown_members(count):
    members = ",".join(f'"m{number}":1' for number in range(count))
    return f'{{"zarr_format":3,"node_type":"group",{members}}}'.encode()


def one_long_key(count):
    """A long key for a list of invalid items."""
    items = ",".join(["1", "NaN"] * count)
    return f'{{"zarr_format":3,"x{"k" * count}":[{items}]}}'.encode()


def long_keys_within_each_other(count):
    """A long pointer to a list of invalid items."""
    key = "k" * (count // 32)
    start = "".join(f'{{"{key}":' for _ in range(200))
    return f"{start}[{','.join(['NaN'] * count)}]{'}' * 200}".encode()


def escapes_that_do_not_end(count):
    """Brackets, whose nesting is checked, before an unterminated string."""
    return b"[]" * 300 + b'"' + b'\\"' * (8 * count)


def digits_that_are_no_number(count):
    """A fill value of a number in text."""
    store = zarr.MemoryStore()
    zarr.create_array(store, shape=1, dtype="float32", fill_value=7)
    return bytes(store.get("zarr.json")).replace(b"7.0", b'"%s!"' % (b"1" * 8 * count))


@pytest.mark.parametrize(
    "document",
    [
        digits_that_are_no_number,
        escapes_that_do_not_end,
        repeated_keys,
        unknown_members,
        one_long_key,
        long_keys_within_each_other,
    ],
)
def test_refusing_a_document_takes_linear_time(document):
    def refuse(stored):
        with pytest.raises(ZarrError) as refused:
            zarr.open(zarr.MemoryStore({"zarr.json": stored}))
        assert len(str(refused.value)) < 3000

    assert growth(document, refuse, 2000) < LIMIT


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (153 * 1024, "153.0 KiB"),
     (2**20 - 1, "1.0 MiB"), (1 << 75, "33554432.0 PiB")],
)  # fmt: skip
def test_a_number_of_bytes_has_a_unit(nbytes, text):
    assert format_bytes(nbytes) == text


def test_a_number_has_a_noun():
    assert [pluralize(number, "key") for number in (0, 1, 12_000)] == [
        "0 keys", "1 key", "12,000 keys"
    ]  # fmt: skip
