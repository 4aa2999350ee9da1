"""The conformance tests; supplied names."""

import base64

import pytest
import zarr_core as zarr
from zarr_conformance.kit import BridgeTests, BytesToBytesCodecTests
from zarr_core.extension import BytesToBytesCodec


class TestEncodings(BridgeTests):
    name = "acme_encodings"
    offered = [("codec", "python.base64"), ("codec", "python.hex")]


class EncodingTests(BytesToBytesCodecTests):
    # Code of other libraries has no schema, and these codecs have no configuration.
    test_schema_accepts_configuration = None


class TestBase64(EncodingTests):
    name = "python.base64"


class TestHex(EncodingTests):
    name = "python.hex"


def test_chunks_are_text():
    array = zarr.create_array(data=[1, 2, 3], dtype="uint8", compressors="python.base64")
    assert bytes(array.store.get("c/0")) == base64.encodebytes(b"\1\2\3")


def test_entry_points_take_precedence():
    class Mine(BytesToBytesCodec):
        def encode(self, data, decoded_size):
            return bytes(data)

        def decode(self, data, decoded_size):
            return bytes(data)

    with zarr.override_extensions({"codec": {"python.hex": Mine}}):
        array = zarr.create_array(data=[1, 2, 3], dtype="uint8", compressors="python.hex")
        assert bytes(array.store.get("c/0")) == b"\1\2\3"


def test_the_bridge_can_be_disabled():
    with (
        zarr.config.set(disabled_plugins={"acme-encodings"}),
        pytest.raises(zarr.errors.UnknownExtensionError, match=r"python\.hex"),
    ):
        zarr.create_array(data=[1], compressors="python.hex")
