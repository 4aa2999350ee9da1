"""Chunk key encodings: encoding, decoding, and rejection of other keys."""

from __future__ import annotations

import pickle

import pytest
import zarr_core as zarr
from zarr_core.chunk_key_encodings import DefaultEncoding, V2Encoding
from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import ExtensionConfigurationError
from zarr_core.registry.resolve import create_extension

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
