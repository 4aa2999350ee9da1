"""Keys with something behind them."""

import pickle
import sys

import pytest
import zarr_core as zarr
from zarr_core.errors import ExtensionConfigurationError, MetadataValidationError, ZarrError
from zarr_core.extension import ExtensionDefinition, create_extension


def definition(suffix, base):
    return ExtensionDefinition("suffix", {"suffix": suffix, "base_encoding": base})


def encoding(suffix=".tiff", base="default"):
    return create_extension("chunk_key_encoding", definition(suffix, base))


@pytest.mark.parametrize(
    ("suffix", "base", "chunk", "key"),
    [
        (".tiff", {"name": "default"}, (1, 2), "c/1/2.tiff"),  # of the specification
        (".shard.zip", {"name": "v2"}, (1, 2), "1.2.shard.zip"),
        (".x", "default", (), "c.x"),
        ("", "v2", (7,), "7"),
        ("0", {"name": "default", "configuration": {"separator": "."}}, (1, 2), "c.1.20"),
        ("/data", "default", (1,), "c/1/data"),
        (".b", definition(".a", "v2").to_json(), (3, 4), "3.4.a.b"),
    ],
)
def test_keys_in_both_directions(suffix, base, chunk, key):
    made = encoding(suffix, base)
    assert made.encode(chunk) == key
    assert made.decode(key, len(chunk)) == chunk
    again = create_extension("chunk_key_encoding", made.to_definition())
    assert again == made
    assert hash(again) == hash(pickle.loads(pickle.dumps(made)))


@pytest.mark.parametrize(
    "key", ["c/1/2", "c/1/2.tif", "c/1/2.tiff.tiff", "1/2.tiff", ".tiff", "c/1/02.tiff"]
)
def test_other_keys_are_not_chunk_keys(key):
    assert encoding().decode(key, 2) is None


@pytest.mark.parametrize(
    ("configuration", "pointer"),
    [
        ({"suffix": ".x"}, "/base_encoding"),
        ({"base_encoding": "v2"}, "/suffix"),
        ({"suffix": 1, "base_encoding": "v2"}, "/suffix"),
        ({"suffix": ".x", "base_encoding": 2}, "/base_encoding"),
        ({"suffix": "a//b", "base_encoding": "v2"}, ""),
        ({"suffix": "/zarr.json", "base_encoding": "v2"}, ""),
        ({"suffix": "a\\b", "base_encoding": "v2"}, ""),
        ({"suffix": "\0", "base_encoding": "v2"}, ""),
        ({"suffix": ".x", "base_encoding": {"name": "v2", "configuration": {"separator": 1}}}, "/base_encoding"),
        ({"suffix": ".x", "base_encoding": "v2", "base": 1}, "/base"),
    ],
)  # fmt: skip
def test_invalid_configurations(configuration, pointer):
    with pytest.raises(ExtensionConfigurationError) as caught:
        create_extension("chunk_key_encoding", ExtensionDefinition("suffix", configuration))
    (problem,) = caught.value.problems
    assert problem.pointer.startswith(f"/configuration{pointer}")


@pytest.mark.parametrize("suffix", ["/", "/../../x", "/."])
def test_keys_that_no_store_takes(suffix):
    with pytest.raises(MetadataValidationError, match="/chunk_key_encoding"):
        zarr.create_array(shape=3, chunk_key_encoding=definition(suffix, "v2"))


def test_errors_of_the_base_encoding():
    base = {"name": "template", "configuration": {"format": "{0}{1}"}}
    with pytest.raises(MetadataValidationError, match="could have the same key"):
        zarr.create_array(shape=(3, 3), chunk_key_encoding=definition(".x", base))


def test_endlessly_nested_encodings_raise():
    base = "v2"
    for _ in range(3000):
        base = {"name": "suffix", "configuration": {"suffix": "a", "base_encoding": base}}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # other libraries raise it
    try:
        with pytest.raises(ZarrError):
            encoding("b", base)
    finally:
        sys.setrecursionlimit(limit)
