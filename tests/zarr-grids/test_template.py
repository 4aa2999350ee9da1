"""Keys after patterns."""

import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from zarr_core.errors import ExtensionConfigurationError, MetadataValidationError
from zarr_core.extension import ExtensionDefinition, create_extension
from zarr_grids.template import TemplateEncoding


def encoding(text, separator=None):
    return TemplateEncoding(text, separator)


@pytest.mark.parametrize(
    ("text", "separator", "chunk", "key"),
    [
        # The examples of the specification.
        ("c/{*}", "/", (11, 22, 33), "c/11/22/33"),
        ("{*}", ".", (11, 22, 33), "11.22.33"),
        ("prefix/{*}", "/", (11, 22, 33), "prefix/11/22/33"),
        ("{*}.suffix", "_", (11, 22, 33), "11_22_33.suffix"),
        ("{2}/{0}/{1}", ".", (11, 22, 33), "33/11/22"),
        ("{-1}/{*}", "/", (11, 22, 33), "33/11/22"),
        ("{*:04}", "/", (11, 22, 33), "0011/0022/0033"),
        ("{*:02}", "/", (111, 2, 33), "111/02/33"),
        ("images/{-1}/{*:04}.jpeg", "_", (11, 22, 33), "images/33/0011_0022.jpeg"),
        ("{2}-{0}_{1}", None, (11, 22, 33), "33-11_22"),
        # Others.
        ("{0}", None, (5,), "5"),
        ("{*}", "", (5,), "5"),
        ("{{{0}}}.{{}}", None, (5,), "{5}.{}"),
        ("{-0}x{-1}", None, (5, 6), "5x6"),
        ("a{1:03}{0:02}", None, (5, 6), "a00605"),
        ("{0:02}{1}", None, (5, 600), "05600"),
        ("v{0}1x1{1}", None, (1, 1), "v11x11"),
        ("%s{0}$^[", None, (1,), "%s1$^["),
        ("{0:0001}", None, (1,), "1"),
    ],
)
def test_keys_in_both_directions(text, separator, chunk, key):
    made = encoding(text, separator)
    made.check(
        (700,) * len(chunk) if "{1:03}{0" not in text and "{0:02}" not in text else (99, 601)
    )
    assert made.encode(chunk) == key
    assert made.decode(key, len(chunk)) == chunk
    again = create_extension("chunk_key_encoding", made.to_definition())
    assert again == made
    assert hash(again) == hash(pickle.loads(pickle.dumps(made)))


TEXTS = st.text("ab/.{}01_-é", max_size=3)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_chunk_has_a_key_of_its_own(data):
    ndim = data.draw(st.integers(1, 4))
    named = data.draw(st.lists(st.integers(0, ndim - 1), unique=True, max_size=ndim))
    places = [
        f"{{{data.draw(st.sampled_from([at, at - ndim]))}:0{data.draw(st.integers(0, 3))}}}"
        for at in named
    ]
    if len(named) < ndim:
        width = data.draw(st.integers(0, 3))
        places.insert(data.draw(st.integers(0, len(places))), f"{{*:0{width}}}")
    text = data.draw(TEXTS).replace("{", "{{").replace("}", "}}")
    for place in places:
        text += place + data.draw(TEXTS).replace("{", "{{").replace("}", "}}")
    counts = tuple(data.draw(st.sampled_from([1, 9, 10, 11, 120])) for _ in range(ndim))
    try:
        made = encoding(text, data.draw(st.sampled_from(["", "/", "_", "1", "x1"])))
        made.check(counts)
    except ValueError:
        return
    keys = {}
    for _ in range(20):
        chunk = tuple(data.draw(st.integers(0, count - 1)) for count in counts)
        key = made.encode(chunk)
        assert made.decode(key, ndim) == chunk, (text, key)
        assert keys.setdefault(key, chunk) == chunk


@pytest.mark.parametrize(
    ("text", "separator", "key"),
    [
        ("c/{*}", "/", "c/1"), ("c/{*}", "/", "c/1/2/3"), ("c/{*}", "/", "c/01/2"),
        ("c/{*}", "/", "c.1.2"), ("c/{*}", ".", "c/1/2"), ("{*:03}", "/", "01/002"),
        ("{*:03}", "/", "0001/002"), ("{*}", "/", "1/٢"), ("{*}.x", "/", "1/2.x\n"),
        ("{*}.x", "/", "1/2_x"), ("{*}", "/", "1/" + "1" * 20), ("{*}", "/", "zarr.json"),
        ("{0:02}{1:02}", None, "0102030"),
    ],
)  # fmt: skip
def test_other_keys_are_not_chunk_keys(text, separator, key):
    assert encoding(text, separator).decode(key, 2) is None


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({}, "format"), ({"format": 5}, "format"), ({"format": "{*}"}, "separator"),
        ({"format": "{*}", "separator": None}, "separator"),
        ({"format": "{*}", "separator": 1}, "separator"),
        ({"format": "{0}", "template": "{0}"}, "once"),
        ({"format": "abc"}, "at least one expression"), ({"format": "{{0}}"}, "at least one"),
        ({"format": "{*}{*}", "separator": "/"}, "once"),
        ({"format": "{0}/{}"}, "invalid expression"), ({"format": "a{0"}, "invalid expression"),
        ({"format": "0}{0}"}, "invalid expression"), ({"format": "{0}}"}, "invalid expression"),
        ({"format": "{a}{0}"}, "invalid expression"), ({"format": "{0:4}"}, "invalid expression"),
        ({"format": "{0:0}"}, "invalid expression"), ({"format": "{0:04d}"}, "invalid expression"),
        ({"format": "{0.real}"}, "invalid expression"), ({"format": "{0!r}"}, "invalid expression"),
        ({"format": "{+1}"}, "invalid expression"), ({"format": "{\u0660}"}, "invalid expression"),
        ({"format": "{0:0999999999}"}, "invalid expression"), ({"format": "{99999}"}, "invalid expression"),
        ({"format": "/{0}"}, "begin with"), ({"format": "a//{0}"}, "'//'"),
        ({"format": "a\\{0}"}, "contain"), ({"format": "a\0{0}"}, "contain"),
        ({"format": "../{0}"}, r"'\.\.'"), ({"format": "{0}/zarr.json"}, "zarr.json"),
        ({"format": "{*}", "separator": "/../"}, r"'\.\.'"),
        ({"format": "{0}", "other": 1}, "other"),
    ],
)  # fmt: skip
def test_invalid_configurations(configuration, message):
    with pytest.raises(ExtensionConfigurationError, match=message):
        create_extension("chunk_key_encoding", ExtensionDefinition("template", configuration))


@pytest.mark.parametrize(
    ("text", "separator", "shape", "message"),
    [
        ("{0}", None, (1, 1), "lacks dimension 1"),
        ("{0}/{1}", None, (1,), "out of range for an array with 1"),
        ("{-3}/{*}", "/", (1, 1), "out of range for an array with 2"),
        ("{0}/{-2}/{*}", "/", (1, 1), "contains dimension 0 more than once"),
        ("{0}/{0}/{*}", "/", (1, 1), "contains dimension 0 more than once"),
        ("{0}/{*}", "/", (1,), "matches no dimension"),
        ("{*}", "/", (), "matches no dimension"),
        ("{0}", None, (), "out of range"),
        ("{0}{1}", None, (1, 1), "could have the same key"),
        ("{0}5{1}", None, (1, 1), "could have the same key"),
        ("{*}", "", (1, 1), "could have the same key"),
        ("{*}", "7", (1, 1), "could have the same key"),
        ("{0:02}{1:02}", None, (100, 101), "could have the same key"),
        ("{0}/", None, (1,), "not a key"),
        ("./{0}", None, (1,), "not a key"),
        ("{*}", "//", (1, 1), "'//'"),
        ("zarr.js{*}", "on", (1,), None),
        ("{0:02}{1:02}", None, (100, 100), None),
        ("{0}", None, (0,), None),
    ],
)  # fmt: skip
def test_valid_arrays(text, separator, shape, message):
    configuration = (
        {"format": text} if separator is None else {"format": text, "separator": separator}
    )
    given = {"name": "template", "configuration": configuration}

    def make():
        return zarr.create_array(shape=shape, chunks=1, dtype="i1", chunk_key_encoding=given)

    if message is None:
        array = make()
        array[...] = 1
        assert array.nchunks_initialized == array.nchunks
        return
    with pytest.raises((MetadataValidationError, ExtensionConfigurationError), match=message):
        make()


def test_growing_until_keys_are_ambiguous():
    array = zarr.create_array(
        shape=(99, 1), chunks=1, dtype="i1", fill_value=0,
        chunk_key_encoding={"name": "template", "configuration": {"format": "{0:02}{1:02}"}},
    )  # fmt: skip
    array.resize(100, 1)
    array[99, 0] = 5
    before = array.store.get("zarr.json")
    with pytest.raises(MetadataValidationError, match="could have the same key"):
        array.resize(101, 1)
    with pytest.raises(MetadataValidationError, match="could have the same key"):
        array.append(np.ones((1, 1), "i1"))
    assert array.store.get("zarr.json") == before
    assert array.shape == (100, 1)
    assert zarr.open(array.store)[99, 0] == 5


def test_member_name_of_the_specification_text():
    given = {"name": "template", "configuration": {"template": "{*}.x", "separator": "-"}}
    array = zarr.create_array(shape=(2, 2), chunks=1, dtype="i1", chunk_key_encoding=given)
    array[...] = 1
    assert "1-1.x" in array.store.list()
    assert array.metadata.chunk_key_encoding.configuration == {"format": "{*}.x", "separator": "-"}
    document = json.loads(bytes(array.store.get("zarr.json")))
    document["chunk_key_encoding"] = given
    array.store.set("zarr.json", json.dumps(document).encode())
    again = zarr.open(array.store)
    assert again[...].tolist() == [[1, 1], [1, 1]]
    again.attrs["a"] = 1
    assert json.loads(bytes(array.store.get("zarr.json")))["chunk_key_encoding"] == given
