"""Chunk key encodings: encoding, decoding, and rejection of other keys."""

from __future__ import annotations

import pickle

import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.chunk_key_encodings import DefaultEncoding, V2Encoding
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.registry.resolve import create_extension

ENCODINGS = [DefaultEncoding("/"), DefaultEncoding("."), V2Encoding("."), V2Encoding("/")]

# Encoding, grid coordinates, key; the longer ones are in the specification.
KEYS = [
    (DefaultEncoding("/"), (1, 23, 45), "c/1/23/45"),
    (DefaultEncoding("."), (1, 23, 45), "c.1.23.45"),
    (DefaultEncoding("/"), (0,), "c/0"),
    (DefaultEncoding("/"), (), "c"),
    (DefaultEncoding("."), (), "c"),
    (V2Encoding("."), (1, 23, 45), "1.23.45"),
    (V2Encoding("/"), (1, 23, 45), "1/23/45"),
    (V2Encoding("."), (0,), "0"),
    (V2Encoding("."), (), "0"),
    (V2Encoding("/"), (), "0"),
]


@pytest.mark.parametrize(("encoding", "chunk", "key"), KEYS)
def test_keys_in_both_directions(encoding, chunk, key):
    assert encoding.encode(chunk) == key
    assert encoding.decode(key, len(chunk)) == chunk


@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
def test_every_chunk_has_a_key_of_its_own(encoding):
    @settings(max_examples=50)
    @given(st.lists(st.integers(0, 2**63 - 1), max_size=5).map(tuple))
    def check(chunk):
        key = encoding.encode(chunk)
        assert encoding.decode(key, len(chunk)) == chunk
        before, between = encoding.affixes(len(chunk))
        assert before + between.join(map(str, chunk)) == key
        if len(chunk) > 1:
            assert encoding.decode(key, len(chunk) - 1) is None
            assert encoding.decode(key, len(chunk) + 1) is None

    check()


@pytest.mark.parametrize(
    "number",
    [
        "",
        "01",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1\n",
        "1_0",
        "٣",
        "²",
        "1e3",
        "x",
        "0x1",
        "1" * 20,
        "9" * 5000,
    ],
)
@pytest.mark.parametrize("encoding", ENCODINGS, ids=repr)
def test_only_canonical_numbers_are_coordinates(encoding, number):
    key = encoding.encode((7, 8)).replace("8", number)
    assert encoding.decode(key, 2) is None


@pytest.mark.parametrize(
    ("encoding", "key", "ndim"),
    [
        (DefaultEncoding("/"), "c.0.0", 2),
        (DefaultEncoding("."), "c/0/0", 2),
        (DefaultEncoding("/"), "0/0", 2),
        (DefaultEncoding("/"), "d/0/0", 2),
        (DefaultEncoding("/"), "c/", 0),
        (DefaultEncoding("/"), "c/0", 0),
        (DefaultEncoding("/"), "zarr.json", 0),
        (DefaultEncoding("/"), "/c/0", 1),
        (DefaultEncoding("/"), "", 0),
        (V2Encoding("."), "0/0", 2),
        (V2Encoding("."), "zarr.json", 2),
        (V2Encoding("."), "zarr.json", 1),
        (V2Encoding("."), "1", 0),
        (V2Encoding("."), "", 0),
        (V2Encoding("."), "", 1),
        (V2Encoding("/"), "c/0/0", 2),
        (V2Encoding("/"), "0/zarr.json", 2),
    ],
)
def test_decode_rejects_other_keys(encoding, key, ndim):
    assert encoding.decode(key, ndim) is None


@pytest.mark.parametrize(
    ("cls", "name", "separator"), [(DefaultEncoding, "default", "/"), (V2Encoding, "v2", ".")]
)
def test_configurations(cls, name, separator):
    assert cls.from_definition(ExtensionDefinition(name)) == cls() == cls(separator)
    for given_separator in "/.":
        definition = ExtensionDefinition(name, {"separator": given_separator})
        encoding = cls.from_definition(definition)
        assert encoding == cls(given_separator)
        assert encoding.to_definition() == definition
        assert pickle.loads(pickle.dumps(encoding)) == encoding
        assert hash(encoding) == hash(cls(given_separator))
    for refused in ("../", "", None, 1, "-"):
        with pytest.raises(ExtensionConfigurationError, match="/configuration/separator"):
            create_extension(
                "chunk_key_encoding", ExtensionDefinition(name, {"separator": refused})
            )


@pytest.mark.parametrize(
    ("name", "separator", "key"), [("v2", "/", "1/0"), ("default", ".", "c.1.0")]
)
def test_an_encoding_as_a_tuple(name, separator, key):
    array = zarr.create_array(
        shape=(4, 4), chunks=2, dtype="u2", chunk_key_encoding=(name, separator)
    )
    array[3, 0] = 1
    assert array.store.exists(key)
