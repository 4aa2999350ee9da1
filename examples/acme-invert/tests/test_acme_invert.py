"""The conformance tests; fixed bytes; the native form."""

import numpy as np
import pytest
import zarr_core as zarr
from acme_invert import Invert
from zarr_conformance.kit import NativeCodecTests
from zarr_core.extension import native_reason_against


class TestInvert(NativeCodecTests):
    name = "acme.invert"
    configurations = [{}]
    bad_configurations = [{"key": 1}]


def test_encoded_bytes_never_change():
    assert Invert().encode(b"\x0f\xf0\x00", 3) == b"\xf0\x0f\xff"


def test_native_form_encodes_the_same(tmp_path):
    native = pytest.importorskip("zarr_native._native", exc_type=ImportError)
    capsule = Invert().__zarr_codec_v1__(3)
    if capsule is None:
        pytest.skip("acme-invert was installed without a compiler")
    assert native.encode(capsule, b"\x0f\xf0\x00") == b"\xf0\x0f\xff"
    assert native.decode(capsule, b"\x0f\xf0\x00", 2) is None
    data = np.arange(100, dtype="int32")
    array = zarr.create_array(
        tmp_path / "a.zarr", data=data, chunks=10, compressors=["acme.invert", "crc32c"]
    )
    assert native_reason_against(array.stored) == ""
    assert (array[...] == data).all()
    with zarr.config.set(native="off"):
        assert (zarr.open(tmp_path / "a.zarr")[...] == data).all()
