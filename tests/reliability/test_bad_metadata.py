"""Metadata documents that are invalid, or describe impossible arrays."""

from __future__ import annotations

import gzip
import json
import pickle

import pytest
import zarr_core as zarr
from reliability_data import LITTLE, codec, document, everything, put, regular, run, sharded, stored
from zarr_core.errors import (
    CodecChainError,
    CodecError,
    ExtensionConfigurationError,
    MetadataDecodeError,
    MetadataValidationError,
    StoreReadOnlyError,
    UnknownExtensionError,
    UnsupportedFieldError,
)

TEXT = json.dumps(document())


def nested(depth: int):
    """A sharding codec with the given depth of nesting."""
    codecs = [codec("bytes")]
    for _ in range(depth):
        codecs = [sharded(2, 2, codecs=codecs)]
    return codecs[0]


BY_ERROR = {
    # class of the error: {name: (document, part of the message)}
    MetadataDecodeError: {
        "cut": (TEXT[:100], "unterminated"),
        "byte order mark": (b"\xef\xbb\xbf" + TEXT.encode(), "byte order mark"),
        "repeated key": (TEXT[:-1] + ', "shape": [8, 8]}', "/shape"),
        "nested 100000 deep": (
            TEXT[:-1] + ', "more": ' + "[" * 100_000 + "]" * 100_000 + "}",
            "deep",
        ),
        "nested and never closed": ('{"a":' * 100_000, "deep"),
        "bare NaN": (
            json.dumps(document(data_type="float32", codecs=[LITTLE], fill_value=float("nan"))),
            "/fill_value: NaN is not valid JSON",
        ),
        "UTF-16": (TEXT.encode("utf-16"), "UTF-16"),
        "a page": (b"\n <!DOCTYPE html>\n<body>", "looks like a page of HTML"),
        "Git LFS": (b"version https://git-lfs.github.com/spec/v1", "git lfs pull"),
        "git-annex": (b"/annex/objects/MD5-s9--a", "git annex get"),
        "conflict": (b'{"a": 1,\n<<<<<<< HEAD\n}', "a merge conflict"),
        "gzip": (gzip.compress(TEXT.encode()), "looks like gzip"),
        "zeros": (bytes(len(TEXT)), "zeros, as after a crash"),
        "length of 5000 digits": (
            TEXT.replace("[4, 4]", "[" + "9" * 5000 + ", 4]"),
            "/shape/0: an integer of 5000 digits",
        ),
        "shards nested 100 deep": (document(codecs=[nested(100)]), "deep"),
    },
    MetadataValidationError: {
        "shape beyond 64 bits": (
            document(shape=[2**100, 4]),
            "/shape/0: 1267650600228229401496703205376",
        ),
        "fill value too large": (document(fill_value=300), "/fill_value"),
        "100 dimensions": (
            document(shape=[1] * 100, chunk_grid=regular(*[1] * 100)),
            "/shape: has 100 dimensions",
        ),
        "format 4": (document(zarr_format=4), "/zarr_format"),
    },
    ExtensionConfigurationError: {
        "raw data type of 2^70 bits": (
            document(data_type=f"r{2**70}", fill_value="AA=="),
            "/data_type",
        ),
        "separator out of the store": (
            document(chunk_key_encoding=codec("default", separator="../")),
            "/chunk_key_encoding/configuration/separator",
        ),
    },
    UnknownExtensionError: {
        "unknown codec": (
            document(codecs=["bytes", "acme.nothing"]),
            "/codecs/1: no codec called 'acme.nothing'",
        ),
        "unknown data type": (document(data_type="uint7"), "similar"),
    },
    UnsupportedFieldError: {
        "unknown member": (document(foo=1), "/foo"),
    },
    CodecChainError: {
        "bytes codec too late": (
            document(codecs=[codec("gzip", level=1), "bytes"]),
            "/codecs: codecs must be",
        ),
        "byte order missing": (
            document(data_type="uint16", codecs=["bytes"]),
            '"endian" is missing',
        ),
        "index of many tebibytes": (
            document(shape=[2**40], chunk_grid=regular(2**40), codecs=[sharded(1)]),
            "inner chunks",
        ),
        "transpose order too long": (
            document(codecs=[codec("transpose", order=[0, 1, 2]), "bytes"]),
            "/codecs: the codec 'transpose'",
        ),
        "chunk of 2^80 bytes": (
            document(chunk_grid=regular(2**40, 2**40)),
            "more than can be addressed",
        ),
        "chunk of 2^65 bytes": (
            document(shape=[4], chunk_grid=regular(2**62), data_type="float64", codecs=[LITTLE]),
            "more than can be addressed",
        ),
    },
}
REFUSED = {
    name: (document, error, message)
    for error, rows in BY_ERROR.items()
    for name, (document, message) in rows.items()
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_wrong_document_is_rejected_and_nothing_else_happens(tmp_path, case):
    metadata, error, saying = REFUSED[case]
    node = tmp_path / "array"
    with pytest.raises(error) as caught:
        stored(node, metadata.encode() if isinstance(metadata, str) else metadata)
    message = str(caught.value)
    assert saying in message
    assert str(node) in message
    assert len(message) < 2000
    assert list(everything(node)) == ["zarr.json"]
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == message


@pytest.mark.parametrize("case", ["cut", "unknown codec", "format 4"])
def test_other_nodes_of_the_hierarchy_stay_usable(tmp_path, case):
    metadata, error, _ = REFUSED[case]
    group = zarr.create_group(tmp_path / "g")
    group.create_array("sound", shape=(4,), dtype="u1")[...] = 3
    put(
        tmp_path / "g",
        "bad/zarr.json",
        (metadata if isinstance(metadata, str) else json.dumps(metadata)).encode(),
    )
    group = zarr.open_group(tmp_path / "g")
    assert group["sound"][...].tolist() == [3] * 4
    with pytest.raises(error, match="bad"):
        group["bad"]
    del group["bad"]
    assert list(group) == ["sound"]


def test_a_sound_document_opens(tmp_path):
    assert stored(tmp_path, document())[...].tolist() == [[7] * 4] * 4


@pytest.mark.parametrize(
    "changes",
    [
        {"codecs": ["bytes", {"name": "acme.nothing", "must_understand": False}]},
        {"storage_transformers": [{"name": "acme.nothing", "must_understand": False}]},
    ],
    ids=["codec", "transformer"],
)
def test_nothing_is_written_through_what_was_skipped(tmp_path, changes):
    with pytest.warns(UserWarning, match=r"acme\.nothing"):
        array = stored(tmp_path, document(**changes))
    assert array.read_only
    assert array[0, 0] == 7
    before = everything(tmp_path)
    with pytest.raises(StoreReadOnlyError):
        array[0, 0] = 1
    with pytest.raises(StoreReadOnlyError):
        array.resize(8, 8)
    assert everything(tmp_path) == before


def test_an_array_of_2_to_the_124_elements_opens_and_its_cells_are_used(tmp_path):
    array = stored(tmp_path, document(shape=[2**62, 2**62], chunk_grid=regular(1024, 1024)))
    assert array.size == 2**124
    assert array[2**62 - 1, 0] == 7
    array[2**62 - 1, 2**61] = 9
    assert array[-1, 2**61 - 1 : 2**61 + 2].tolist() == [7, 9, 7]
    assert array[:: 2**61, 2**61].tolist() == [7, 7]
    assert repr(array)
    assert array.nchunks == 2**104
    assert array.nchunks_initialized == 1
    with pytest.raises(IndexError, match="more than fit"):
        array[...]
    array.resize(8, 8)
    assert array.nchunks_initialized == 0


def test_shards_nested_80_deep(tmp_path):
    array = stored(tmp_path, document(codecs=[nested(80)]))
    array[0, 0] = 1
    array[1:3, 1:4] = 2
    assert array[:3, :2].tolist() == [[1, 7], [7, 2], [7, 2]]


def test_a_chain_of_3000_codecs(tmp_path):
    array = stored(tmp_path, document(codecs=["bytes"] + ["crc32c"] * 3000))
    array[0, 0] = 1
    assert array[0].tolist() == [1, 7, 7, 7]


def test_64_dimensions(tmp_path):
    array = stored(tmp_path, document(shape=[2] * 64, chunk_grid=regular(*[1] * 64)))
    array[(1,) * 64] = 1
    assert array[(1,) * 63 + (slice(None),)].tolist() == [7, 1]


def huge(*codecs, **changes):
    """An array of one chunk of 2^40 elements."""
    return document(
        shape=[2**40], chunk_grid=regular(2**40), codecs=["bytes", *codecs], **changes
    )  # fmt: skip


HUGE = {
    "raw": huge(),
    "float64": huge(data_type="float64") | {"codecs": [LITTLE]},
    "gzip": huge(codec("gzip", level=1)),
    "zstd": huge(codec("zstd", level=1)),
    "blosc": huge(
        codec("blosc", cname="lz4", clevel=1, shuffle="noshuffle", typesize=1, blocksize=0)
    ),
    "crc32c": huge("crc32c"),
    "transpose": document(
        shape=[2**20, 2**20],
        chunk_grid=regular(2**20, 2**20),
        codecs=[codec("transpose", order=[1, 0]), "bytes"],
    ),
}


@pytest.mark.parametrize("case", HUGE)
def test_a_chunk_of_2_to_the_40_bytes(tmp_path, case):
    array = stored(tmp_path, HUGE[case])
    key = "c/" + "/".join("0" * array.ndim)
    first = (0,) * array.ndim
    assert array[first] == 7  # nothing is stored, so no memory is needed
    assert array[(slice(3, 6),) * array.ndim].size == 3**array.ndim
    with pytest.raises(CodecError, match=f"{key}.*memory"):
        array[first] = 1
    assert list(everything(tmp_path)) == ["zarr.json"]
    put(tmp_path, key, b"x" * 16)
    with pytest.raises(CodecError, match=key):
        array[first]
    with pytest.raises(CodecError, match=key):
        array[first] = 1
    assert (tmp_path / key).read_bytes() == b"x" * 16


PEAK = """
import resource, sys, json
from pathlib import Path
import zarr_core as zarr
from test_bad_metadata import HUGE, REFUSED
from reliability_data import put, stored
root = Path(sys.argv[1])
stored(root / "first", HUGE["zstd"])[0]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for number, (metadata, error, _) in enumerate(REFUSED.values()):
    try:
        stored(root / str(number), metadata.encode() if isinstance(metadata, str) else metadata)
    except error:
        pass
for name, metadata in HUGE.items():
    array = stored(root / name, metadata)
    put(root / name, "c/" + "/".join("0" * array.ndim), b"x" * 16)
    first = (0,) * array.ndim
    for work in (lambda: array[first], lambda: array.__setitem__(first, 1)):
        try:
            work()
        except zarr.errors.CodecError:
            pass
        else:
            raise SystemExit(name)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_wrong_documents_cost_little_memory(tmp_path):
    assert int(run(PEAK, tmp_path).stdout) < 48
