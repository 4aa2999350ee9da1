"""Texts, examples and sample data of the registry of extensions, for codecs without another implementation.

Each array has metadata from the registry, and chunks that the tests build from its text without
the codec.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import zarr_core
from extension_outcomes import NO
from extension_table import rows

if TYPE_CHECKING:
    from pathlib import Path

numcodecs: Any = pytest.importorskip("numcodecs")
zfpy: Any = pytest.importorskip("zfpy")

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}


@dataclass(frozen=True)
class Stored:
    """An array, and its chunks."""

    kind: str
    name: str
    about: str
    members: dict[str, Any]
    values: np.ndarray = field(repr=False)
    chunks: dict[str, bytes] = field(repr=False)
    """What is stored, by key."""
    written: np.ndarray | None = field(default=None, repr=False)
    """What is written, if that is not what is read."""
    determined: bool = True
    """Whether whoever writes the elements stores these bytes."""

    def __str__(self) -> str:
        return f"{self.name}-{self.about}"


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def _bitround() -> Any:
    # Sample data of the registry: 3 bits are kept.
    inf, nan = np.inf, np.nan
    for about, dtype, before, after in (
        (
            "floats",
            "float32",
            [0, 0.1, 1.2, 12.3, 123.4, 1234.5, nan, inf, -inf],
            [0, 0.1015625, 1.25, 12, 120, 1280, nan, inf, -inf],
        ),
        (
            "integers",
            "uint8",
            [0, 1, 10, 11, 100, 123, 200, 208, 209, 255],
            [0, 1, 10, 12, 96, 128, 192, 192, 224, 224],
        ),
    ):
        read = np.array(after, dtype)
        members = {"codecs": [codec("bitround", keepbits=3), LITTLE]}
        chunks = {"c/0": read.astype(read.dtype.newbyteorder("<")).tobytes()}
        yield Stored("codec", "bitround", about, members, read, chunks, np.array(before, dtype))


def _cast_value() -> Any:
    cast = codec(
        "cast_value",
        data_type="uint8",
        rounding="towards-zero",
        out_of_range="wrap",
        scalar_map={"encode": [["NaN", 0], ["+Infinity", 0], ["-Infinity", 0]]},
    )
    before = np.array([1.9, -1.9, 255.5, 256, -256, 1000, np.nan, np.inf, -np.inf])
    octets = [1, 255, 255, 0, 0, 1000 % 256, 0, 0, 0]
    members = {"codecs": [cast, "bytes"]}
    read = np.array(octets, "f8")
    yield Stored("codec", "cast_value", "example", members, read, {"c/0": bytes(octets)}, before)


def _conditional() -> Any:
    values = np.arange(40, dtype="<i4").reshape(5, 8)
    plain = values.tobytes()
    compressed = zlib.compress(plain, 3)
    codecs = [codec("numcodecs.shuffle", elementsize=4), codec("numcodecs.zlib", level=3)]
    members = {"codecs": [LITTLE, codec("conditional", codecs=codecs)]}
    shuffled = bytes(numcodecs.Shuffle(4).encode(plain))
    for about, stored in (
        ("none of them", b"\0" + plain),
        ("the first", b"\1" + shuffled),
        ("the second", b"\2" + compressed),
        ("both", b"\3" + zlib.compress(shuffled)),
    ):
        # The writer decides; by default, nothing is applied.
        told = about == "none of them"
        yield Stored(
            "codec", "conditional", about, members, values, {"c/0/0": stored}, determined=told
        )


def _zfp() -> Any:
    values = np.add.outer(np.sin(np.arange(21) / 4), np.cos(np.arange(18) / 5)) * 1000
    for mode, configuration, arguments in (
        ("reversible", {}, {}),
        ("fixed_accuracy", {"tolerance": 0.05}, {"tolerance": 0.05}),
        ("fixed_rate", {"rate": 10.5}, {"rate": 10.5}),
        ("fixed_precision", {"precision": 19}, {"precision": 19}),
    ):
        stream = zfpy.compress_numpy(values, write_header=False, **arguments)
        read = zfpy.decompress_numpy(zfpy.compress_numpy(values, **arguments))
        members = {"codecs": [codec("zfp", mode=mode, **configuration)]}
        yield Stored("codec", "zfp", mode, members, read, {"c/0/0": stream}, values)


def _n5_default() -> Any:
    # The first axis of N5 varies fastest, as here after the transpose; numbers are big endian.
    values = np.arange(24, dtype="f4").reshape(6, 4) / 3
    content = values.T.astype(">f4").tobytes()
    inner = [codec("transpose", order=[1, 0]), BIG]
    header = struct.pack(">HHII", 0, 2, 6, 4)
    keys = {"chunk_key_encoding": codec("v2", separator="/")}
    plain = {"codecs": [codec("n5_default", codecs=inner)], **keys}
    yield Stored("codec", "n5_default", "raw", plain, values, {"0/0": header + content})
    zstd = codec("zstd", level=0, checksum=False)
    members = {"codecs": [codec("n5_default", codecs=[*inner, zstd])], **keys}
    stored = {"0/0": header + bytes(numcodecs.Zstd(1).encode(content))}
    yield Stored("codec", "n5_default", "zstd", members, values, stored, determined=False)


def _keys() -> Any:
    values = np.arange(12, dtype="i4").reshape(3, 4)
    default = {"name": "default"}
    for about, configuration, keys in (
        ("suffix", {"suffix": ".tiff", "base_encoding": default}, ["c/0/0.tiff", "c/0/1.tiff"]),
        (
            "template",
            {"format": "images/{-1}/{*:04}.jpeg", "separator": "_"},
            ["images/0/0000.jpeg", "images/1/0000.jpeg"],
        ),
        ("fanout", {"max_children": 100}, ["c/0/00/0/00", "c/0/00/0/01"]),
    ):
        members = {
            "codecs": [LITTLE],
            "chunk_key_encoding": codec(about, **configuration),
            "chunk_grid": codec("regular", chunk_shape=[3, 2]),
        }
        parts = (values[:, :2], values[:, 2:])
        chunks = {key: part.astype("<i4").tobytes() for key, part in zip(keys, parts, strict=True)}
        yield Stored("chunk_key_encoding", about, "keys", members, values, chunks)


ARRAYS = [
    *_bitround(), *_cast_value(), *_conditional(), *_zfp(), *_n5_default(), *_keys(),
]  # fmt: skip
each_array = pytest.mark.parametrize("array", ARRAYS, ids=str)


def made(array: Stored, place: Path) -> zarr_core.Array:
    """The array with its metadata, without chunks."""
    values = array.values
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(values.shape),
        "data_type": values.dtype.name,
        "chunk_grid": codec("regular", chunk_shape=list(values.shape)),
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 99,
        **array.members,
    }
    (place / "zarr.json").write_text(json.dumps(document))
    return zarr_core.open_array(place, mode="r+")


def test_extensions_without_other_implementation() -> None:
    alone = {
        (row.kind, row.name) for row in rows() if all(cell.now == NO for cell in row.cells.values())
    }
    assert alone <= {(array.kind, array.name) for array in ARRAYS}


@each_array
def test_it_is_read(array: Stored, tmp_path: Path) -> None:
    for key, chunk in array.chunks.items():
        (file := tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(chunk)
    got = made(array, tmp_path)[...]
    assert got.dtype == array.values.dtype
    assert got.tobytes() == array.values.tobytes()


@each_array
def test_it_is_written(array: Stored, tmp_path: Path) -> None:
    ours = made(array, tmp_path)
    ours[...] = array.values if array.written is None else array.written
    assert ours[...].tobytes() == array.values.tobytes()
    files = (file for file in tmp_path.rglob("*") if file.is_file() and file.name != "zarr.json")
    stored = {str(file.relative_to(tmp_path)): file.read_bytes() for file in files}
    assert stored.keys() == array.chunks.keys()
    if array.determined:
        assert stored == array.chunks
