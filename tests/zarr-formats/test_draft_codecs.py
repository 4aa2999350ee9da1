"""Codec URIs, memory layouts, and the position of the codec that encodes elements as bytes."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
import zarr_core as zarr
from draft_stores import (
    EXTENSION,
    SPEC,
    array_store,
    document_of,
    metadata_of,
    open_a,
    ramp,
    store_of,
)
from zarr_core.errors import (
    CodecChainError,
    ExtensionConfigurationError,
    MetadataValidationError,
    UnknownExtensionError,
)
from zarr_core.extension import (
    ArrayToArrayCodec,
    ArrayToBytesCodec,
    BytesToBytesCodec,
    ExtensionDefinition,
)


def codec(name, /, **configuration):
    return {"type": f"{SPEC}codecs/{name}/1.0", "configuration": configuration}


BIG, LITTLE = codec("endian", endian="big"), codec("endian", endian="little")
GZIP = codec("gzip", level=1)


@pytest.mark.parametrize(
    "uri",
    [f"{SPEC}codec/gzip", f"{SPEC}codecs/gzip", f"{SPEC}codec/gzip/1.0", f"{SPEC}codecs/gzip/1.7"],
)
def test_other_forms_of_the_uri_are_read(uri):
    """The first is in an example of the text."""
    metadata = metadata_of(codecs=[{"type": uri, "configuration": {"level": 1}}])
    assert metadata.codecs[1] == ExtensionDefinition("gzip", {"level": 1})


@pytest.mark.parametrize(
    "uri",
    [f"{SPEC}codecs/gzip/2.0", f"{SPEC}codecs/zstd/1.0", EXTENSION, f"{SPEC}codecs/bytes/1.0"],
)
def test_unknown_codecs_are_rejected(uri):
    with pytest.raises(UnknownExtensionError, match=uri):
        open_a(array_store(codecs=[{"type": uri}]))


@pytest.mark.parametrize("configuration", [{}, {"endian": "middle"}, {"endian": 1}])
def test_endian_is_big_or_little(configuration):
    with pytest.raises((ExtensionConfigurationError, CodecChainError), match="endian"):
        open_a(array_store(codecs=[codec("endian", **configuration)]))


def test_bytes_are_not_elements_again():
    """The text permits them, but does not define the elements, except for bytes."""
    for codecs in ([GZIP, BIG], [BIG, BIG]):
        with pytest.raises(MetadataValidationError, match=r"/codecs/1: .*gives bytes"):
            open_a(array_store(codecs=codecs))
    for members in ({"codecs": [GZIP, LITTLE]}, {"codecs": [GZIP, BIG], "data_type": "uint8"}):
        array = open_a(array_store(**members))
        array[...] = ramp((4, 6))
        array.attrs["a"] = 1
        assert open_a(array.store)[...].tolist() == ramp((4, 6)).tolist()
        assert json.loads(array.store.get("meta/a.array.json"))["codecs"] == members["codecs"]


# --- third-party codecs ---


@dataclass(frozen=True)
class Negated(ArrayToArrayCodec):
    def encoded_representation(self, decoded):
        return decoded

    def encode(self, array, decoded):
        return -array

    def decode(self, array, decoded):
        return -array


@dataclass(frozen=True)
class Text(ArrayToBytesCodec):
    def encode(self, array, decoded):
        return " ".join(map(str, array.ravel().tolist())).encode()

    def decode(self, data, decoded):
        return np.array(bytes(data).split(), decoded.data_type.numpy_dtype).reshape(decoded.shape)


@dataclass(frozen=True)
class Turned(BytesToBytesCodec):
    def encode(self, data, decoded_size):
        return bytes(data)[::-1]

    def decode(self, data, decoded_size):
        return bytes(data)[::-1]


@pytest.mark.parametrize(
    ("names", "stored"),
    [
        ("n", (-ramp((4, 6)))[:2, :3].tobytes()),
        ("t", b"0 1 2 6 7 8"),
        ("b", ramp((4, 6))[:2, :3].tobytes()[::-1]),
        ("ntb", b"8- 7- 6- 2- 1- 0"),
        ("nb", (-ramp((4, 6)))[:2, :3].tobytes()[::-1]),
        ("tb", b"8 7 6 2 1 0"),
    ],
)
def test_codecs_of_other_uris_stand_where_their_kind_belongs(names, stored):
    known = {f"urn:{letter}": made for letter, made in zip("ntb", (Negated, Text, Turned))}  # noqa: B905 - equal
    with zarr.override_extensions({"codec": known}):
        array = open_a(array_store(codecs=[{"type": f"urn:{letter}"} for letter in names]))
        array[...] = ramp((4, 6))
        assert bytes(array.store.get("data/a/c0/0")) == stored
        assert open_a(array.store)[...].tolist() == ramp((4, 6)).tolist()


def test_codecs_of_other_uris_are_written():
    given = {f"urn:{letter}": made for letter, made in (("n", Negated), ("t", Text), ("b", Turned))}
    with zarr.override_extensions({"codec": given}):
        store = store_of({}, None)
        zarr.create_array(
            store, path="a", data=ramp((4, 6)), zarr_format="draft", filters=["urn:n"],
            serializer="urn:t", compressors=["urn:b"],
        )  # fmt: skip
        written = document_of(store, "meta/a.array.json")["codecs"]
        assert written == [{"type": uri} for uri in given]
        assert open_a(store)[...].tolist() == ramp((4, 6)).tolist()


def test_new_arrays_are_compressed_by_blosc():
    store = store_of({}, None)
    zarr.create_array(store, path="a", data=ramp((4, 6)), zarr_format="draft")
    (found,) = document_of(store, "meta/a.array.json")["codecs"]
    assert found == codec("blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0)
