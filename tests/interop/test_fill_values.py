"""Fill values in every form, and missing chunks, in all libraries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import interop_matrix
import numpy as np
import pytest
import zarr_core
from interop_differences import REFUSES, found

if TYPE_CHECKING:
    from pathlib import Path

    from interop_peers import Peer

# Data type, fill value in metadata, bytes of one element in hexadecimal.
FORMS: list[tuple[str, Any, str]] = [
    ("bool", True, "01"),
    ("bool", False, "00"),
    ("int8", -128, "80"),
    ("int64", -(2**63), "0000000000000080"),
    ("int64", 2**63 - 1, "ffffffffffffff7f"),
    ("uint64", 2**64 - 1, "ffffffffffffffff"),
    ("float16", 1.5, "003e"),
    ("float16", "NaN", "007e"),
    ("float16", "0x7e01", "017e"),
    ("float16", "0xfc00", "00fc"),
    ("float32", -2, "000000c0"),
    ("float32", 0.1, "cdcccc3d"),
    ("float32", -0.0, "00000080"),
    ("float32", "NaN", "0000c07f"),
    ("float32", "Infinity", "0000807f"),
    ("float32", "0x7fc00001", "0100c07f"),
    ("float32", "0x7f800001", "0100807f"),
    ("float32", "0xffc00000", "0000c0ff"),
    ("float64", 2**53 + 1, "0000000000004043"),
    ("float64", 5e-324, "0100000000000000"),
    ("float64", "-Infinity", "000000000000f0ff"),
    ("float64", "0x7ff8000000000001", "010000000000f87f"),
    ("float64", "0x7ff0000000000001", "010000000000f07f"),
    ("complex64", [1.5, -0.0], "0000c03f00000080"),
    ("complex64", ["NaN", "-Infinity"], "0000c07f000080ff"),
    ("complex64", ["0x7fc00001", 0.0], "0100c07f00000000"),
    ("complex128", [0, 1], "0000000000000000000000000000f03f"),
    ("complex128", ["0x7ff8000000000001", "Infinity"], "010000000000f87f000000000000f07f"),
    ("r16", [1, 255], "01ff"),
]

FORGET_PAYLOADS = {
    "zarr": {("float16", "0x7e01"), ("float32", "0x7f800001")},
    # It receives the metadata from zarr-python, which writes every NaN as "NaN".
    "zarrs": {
        ("float16", "0x7e01"),
        ("float32", "0x7fc00001"),
        ("float32", "0x7f800001"),
        ("float32", "0xffc00000"),
        ("float64", "0x7ff8000000000001"),
        ("float64", "0x7ff0000000000001"),
        ("complex64", "['0x7fc00001', 0.0]"),
        ("complex128", "['0x7ff8000000000001', 'Infinity']"),
    },
}
"""Fill values that a library reads as another NaN."""


@pytest.mark.parametrize("created", [False, True], ids=["document", "created"])
@pytest.mark.parametrize(("data_type", "form", "element"), FORMS)
def test_others_read_alike(
    peer: Peer, data_type: str, form: Any, element: str, created: bool, tmp_path: Path
) -> None:
    if created:
        dtype = np.dtype(interop_matrix.DATA_TYPES[data_type][0])
        fill_value = np.frombuffer(bytes.fromhex(element), dtype)[0]
        options = {"dtype": data_type, "compressors": None, "fill_value": fill_value}
        zarr_core.create_array(tmp_path, shape=(2, 3), chunks=(2, 2), **options)
    else:
        document = interop_matrix.Combination(data_type, "little", "exact").document
        document["shape"], document["fill_value"] = [2, 3], form
        (tmp_path / "zarr.json").write_text(json.dumps(document))
    check(peer, data_type, form, element, tmp_path)


@pytest.mark.parametrize("layout", ["edges2d", "nested"])
@pytest.mark.parametrize("data_type", ["int16", "float64"])
def test_omitted_chunks(peer: Peer, data_type: str, layout: str, tmp_path: Path) -> None:
    sharding = "start" if layout == "nested" else None
    item = interop_matrix.Combination(data_type, "zstd", layout, sharding)
    expected = np.full(item.shape, item.fill_scalar)
    expected[-1, -1] = 7
    (tmp_path / "zarr.json").write_text(json.dumps(item.document))
    zarr_core.open_array(tmp_path)[-1, -1] = 7
    assert len([path for path in (tmp_path / "c").rglob("*") if path.is_file()]) == 1
    assert peer.read(tmp_path, item.dtype).tobytes() == expected.tobytes()
    peer.write(tmp_path, np.full_like(expected, item.fill_scalar))
    array = zarr_core.open_array(tmp_path, mode="r")
    assert array[...].tobytes() == np.full_like(expected, item.fill_scalar).tobytes()


def check(peer: Peer, data_type: str, form: Any, element: str, place: Path) -> None:
    item = interop_matrix.Combination(data_type, "little", "exact")
    if found(REFUSES, peer, item):
        with pytest.raises(peer.refusals):
            peer.read(place, item.dtype)
        return
    got = peer.read(place, item.dtype)
    if (data_type, str(form)) in FORGET_PAYLOADS.get(peer.name, ()):
        assert got.tobytes() != bytes.fromhex(element) * 6
        assert np.isnan(got).all()
    else:
        assert got.tobytes() == bytes.fromhex(element) * 6
