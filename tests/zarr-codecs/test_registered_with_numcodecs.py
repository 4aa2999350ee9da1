"""Codecs that a program gives to numcodecs by ``register_codec``; byte codecs as filters."""

import json
import subprocess
import sys

import numcodecs
import numpy as np
import pytest
import zarr_core as zarr
from numcodecs.abc import Codec
from numcodecs.registry import codec_registry
from zarr_core.errors import UnknownExtensionError

VALUES = np.arange(24, dtype="<i4").reshape(4, 6)


class Inverted(Codec):
    codec_id = "acme.inverted"

    def __init__(self, mask=255):
        self.mask = mask

    def encode(self, buf):
        return bytes(byte ^ self.mask for byte in memoryview(buf).cast("B"))

    def decode(self, buf, out=None):
        return self.encode(buf)


class Added(Codec):
    """Sees elements, and gives elements."""

    codec_id = "acme.added"

    def __init__(self, number=1):
        self.number = number

    def encode(self, buf):
        return np.frombuffer(buf, "<i4") + np.int32(self.number)

    def decode(self, buf, out=None):
        return np.frombuffer(buf, "<i4") - np.int32(self.number)


@pytest.fixture(autouse=True)
def registered():
    for codec in (Inverted, Added):
        numcodecs.register_codec(codec)
    yield
    for codec in (Inverted, Added):
        codec_registry.pop(codec.codec_id, None)


def same(store):
    return np.array_equal(zarr.open_array(store)[...], VALUES)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"compressors": Inverted(7)},
        {"filters": [Inverted(7)]},
        {"filters": [Inverted(7)], "compressors": None},
        {"filters": [Added(3)]},
        {"filters": [numcodecs.Base64()]},
        {"filters": [numcodecs.Base64()], "compressors": None},
        {"filters": [numcodecs.Delta("<i4"), Inverted(7)], "compressors": numcodecs.Zlib()},
        {"compressors": {"id": "acme.inverted", "mask": 3}},
    ],
    ids=str,
)
def test_arrays_are_created_with_them(zarr_format, options):
    store = {}
    zarr.create_array(store, data=VALUES, chunks=(2, 6), zarr_format=zarr_format, **options)
    assert same(store)
    zarr.open_array(store, mode="r+")[1, 2:4] = VALUES[1, 2:4]
    assert same(store)


def test_zarr_python_reads_them_in_version_2(tmp_path):
    theirs = pytest.importorskip("zarr")
    for name, options in {
        "inverted": {"compressors": Inverted(7)},
        "base64": {"filters": [numcodecs.Base64()], "compressors": None},
        "both": {"filters": [numcodecs.Shuffle(4), Inverted(1)], "compressors": numcodecs.Zlib()},
    }.items():
        zarr.create_array(tmp_path / name, data=VALUES, zarr_format=2, **options)
        assert np.array_equal(theirs.open_array(tmp_path / name)[...], VALUES)


def test_their_arrays_are_read_and_copied(tmp_path):
    theirs = pytest.importorskip("zarr")
    theirs.create_array(
        tmp_path / "a", data=VALUES, zarr_format=2, compressors=Inverted(9), chunks=(2, 3)
    )
    ours = zarr.open_array(tmp_path / "a")
    assert np.array_equal(ours[...], VALUES)
    assert [codec.to_configuration() for codec in ours.compressors] == [{"mask": 9}]


def test_a_codec_may_be_registered_after_a_failure():
    class Late(Inverted):
        codec_id = "acme.late"

    store = {}
    with pytest.raises(UnknownExtensionError, match=r"register_codec"):
        zarr.create_array(store, data=VALUES, compressors=Late(5))
    numcodecs.register_codec(Late)
    zarr.create_array(store, data=VALUES, compressors=Late(5))
    assert same(store)


def test_numcodecs_is_not_imported_to_list_codecs():
    program = """
import sys, zarr_core
try:
    zarr_core.create_array({}, shape=4, compressors="acme.unknown")
except LookupError:
    pass
assert "numcodecs" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


CASES = {
    "shuffle": ([numcodecs.Shuffle(4)], numcodecs.Zlib(), ["shuffle"], "zlib"),
    "checksum": ([numcodecs.CRC32()], None, ["crc32"], None),
    "several": (
        [numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.Fletcher32()],
        numcodecs.GZip(1),
        ["delta", "shuffle", "fletcher32"],
        "gzip",
    ),
    "none": (None, numcodecs.Blosc(), [], "blosc"),
    "nothing": (None, None, [], None),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_version_2_lists_every_filter_and_the_compressor(tmp_path, case, order):
    theirs = pytest.importorskip("zarr")
    filters, compressor, names, last = CASES[case]
    theirs.create_array(
        tmp_path / "a", data=VALUES, zarr_format=2, filters=filters, compressors=compressor,
        order=order,
    )  # fmt: skip
    ours = zarr.open_array(tmp_path / "a")
    stored = json.loads((tmp_path / "a" / ".zarray").read_bytes())
    assert [config["id"] for config in stored["filters"] or ()] == names
    assert len(ours.filters) == len(names)
    assert (not ours.compressors) == (last is None)
    assert ours.order == order
    assert np.array_equal(ours[...], VALUES)
    copied = zarr.empty_like(ours, store={}, zarr_format=2)
    copied[...] = VALUES
    assert np.array_equal(copied[...], VALUES)
    assert [len(copied.filters), copied.order] == [len(names), order]


@pytest.mark.parametrize("disabled", ["*", "zarr-codecs"])
def test_codecs_of_disabled_bridges_are_unknown(disabled):
    with (
        zarr.config.set(disabled_plugins={disabled}),
        pytest.raises(UnknownExtensionError),
    ):
        zarr.create_array(shape=4, dtype="i4", serializer="numcodecs.acme.added", compressors=None)
