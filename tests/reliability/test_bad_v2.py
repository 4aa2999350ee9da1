"""Documents of version 2 that are invalid, malicious, or describe impossible arrays.

The cases ``v...`` were also tested with other libraries.  What is simply invalid is in the corpus
and in the tests of documents of version 2.
"""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
import zarr_core as zarr
from zarr_core.errors import (
    ChunkDecodeError,
    CodecChainError,
    ExtensionConfigurationError,
    MetadataDecodeError,
    MetadataValidationError,
    UnknownExtensionError,
    ZarrError,
)

GOOD = {
    "zarr_format": 2,
    "shape": [5, 4],
    "chunks": [2, 2],
    "dtype": "|u1",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
TEXT = json.dumps(GOOD)
OBJECTS = {"dtype": "|O", "fill_value": None}


def document(**changes):
    return json.dumps({name: value for name, value in (GOOD | changes).items() if value is not ...})


def opened(text, **chunks):
    store = {".zarray": text.encode() if isinstance(text, str) else text}
    return zarr.open(zarr.MemoryStore(store | chunks))


BY_ERROR = {
    # class of the error: {name: (document, part of the message)}
    UnknownExtensionError: {
        "v01 pickle": (
            document(**OBJECTS, filters=[{"id": "pickle", "protocol": 5}]),
            "numcodecs.pickle",
        ),
        "v02 pickle second": (
            document(**OBJECTS, filters=[{"id": "vlen-utf8"}, {"id": "pickle"}]),
            "numcodecs.pickle",
        ),
        "v02b pickle on integers": (document(filters=[{"id": "pickle"}]), "numcodecs.pickle"),
        "pickle as compressor": (document(compressor={"id": "pickle"}), "numcodecs.pickle"),
        "pickle after an unknown filter": (
            document(filters=[{"id": "acme"}, {"id": "pickle"}]),
            "numcodecs.",
        ),
    },
    MetadataValidationError: {
        "v05 objects in fields": (
            document(dtype=[["a", "<i4"], ["b", "|O"]], filters=[{"id": "json2"}], fill_value=None),
            "/dtype/1/1: a field cannot contain",
        ),
        "v06 elements of two gigabytes": (
            document(dtype="|V2000000000", fill_value=None),
            "/dtype: an element must have",
        ),
        "v12 filter for other elements": (
            document(dtype="<f8", filters=[{"id": "delta", "dtype": "<i4"}]),
            "/filters/0/dtype: the filter requires '<i4', not '<f8'",
        ),
        "a length beyond 64 bits": (document(shape=[2**100, 4]), "/shape/0"),
        "100 dimensions": (document(shape=[1] * 100, chunks=[1] * 100), "/shape"),
    },
    CodecChainError: {
        "chunks beyond any memory": (
            document(shape=[2**40] * 2, chunks=[2**40] * 2),
            "more than can be addressed",
        )
    },
    MetadataDecodeError: {
        "a repeated key": (TEXT[:-1] + ', "shape": [8, 8]}', "/shape"),
        "nested 100000 deep": (
            TEXT[:-1] + ', "more": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "deep",
        ),
        "fields within each other": (
            TEXT.replace('"|u1"', '[["a", ' * 200 + '"<i4"' + "]]" * 200),
            "deep",
        ),
        "UTF-16": (TEXT.encode("utf-16"), "UTF-16"),
        "bzip2": (b"BZh91AY&SY", "compressed data: decompress it"),
    },
    ExtensionConfigurationError: {
        "a level that there is not": (
            document(compressor={"id": "blosc", "cname": "lz4", "clevel": 99, "shuffle": 1}),
            "clevel",
        ),
        "a compressor within Blosc that there is not": (
            document(compressor={"id": "blosc", "cname": "acme"}),
            "cname",
        ),
    },
}
REFUSED = {
    name: (document, error, message)
    for error, rows in BY_ERROR.items()
    for name, (document, message) in rows.items()
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_documents_are_rejected(name):
    text, error, message = REFUSED[name]
    with pytest.raises(error, match=message) as caught:
        opened(text)
    assert isinstance(caught.value, ZarrError)
    assert any(place in str(caught.value) for place in (".zarray", "memory://", "/codecs/0"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_good_one_is_good():
    assert opened(TEXT)[...].tolist() == [[0] * 4] * 5


def test_v09_an_undefined_fill_value_is_no_memory_of_others():
    junk = np.full(20, 200, "u1")  # so that uninitialized memory is detected
    del junk
    array = opened(document(fill_value=None))
    assert array.fill_value is None
    assert not array[...].any()


def test_a_huge_array_is_only_opened():
    array = opened(document(shape=[2**30] * 3, chunks=[1] * 3))
    assert array[5, 6, 7] == 0
    array = opened(document(shape=[2**40] * 2, chunks=[2**20] * 2))
    assert array.shape == (2**40, 2**40)
    assert array[5, 6] == 0


def test_a_chunk_that_is_larger_than_memory():
    array = opened(document(shape=[2**40] * 2, chunks=[2**20] * 2), **{"0.0": bytes(16)})
    with pytest.raises(ChunkDecodeError, match=r"'0\.0'"):
        array[0, 0]


@pytest.mark.parametrize(
    "key", ["../x/.zarray", "/etc/.zarray", "a/../../b/.zarray", "a\\..\\b/.zarray"]
)
def test_copies_do_not_lead_out_of_the_group(key):
    copies = {"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, key: GOOD}}
    store = {".zgroup": b'{"zarr_format": 2}', ".zmetadata": json.dumps(copies).encode()}
    group = zarr.open_group(zarr.MemoryStore(store), "r")
    assert list(group) == []
    assert [path for path, _ in group.members(max_depth=None)] == []


@pytest.mark.parametrize("path", ["..", "a/../b", "./a", "a/.", "../../x"])
@pytest.mark.parametrize("make", [True, False])
def test_paths_do_not_lead_out_of_the_store(tmp_path, path, make):
    place = tmp_path / "store"
    zarr.create_group(place, zarr_format=2)
    before = sorted(tmp_path.rglob("*"))
    options = {"shape": 1, "dtype": "i1"} if make else {}
    with pytest.raises(ZarrError):
        zarr.open(place, mode="a" if make else "r+", path=path, zarr_format=2, **options)
    assert sorted(tmp_path.rglob("*")) == before
