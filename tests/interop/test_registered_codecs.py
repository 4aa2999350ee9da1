"""Registered codecs: the same bytes as other libraries, in both directions."""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import interop_peers
import numpy as np
import pytest
import zarr_core

if TYPE_CHECKING:
    from pathlib import Path

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
SHAPE = (12, 10)
WAVES = np.add.outer(np.sin(np.arange(12) / 3), np.cos(np.arange(10) / 2)) * 3
ROUNDINGS = (
    "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away",
)  # fmt: skip


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration}


def numbers(dtype: str) -> np.ndarray:
    """Values from the whole range of a type."""
    kind = np.dtype(dtype).kind
    if kind in "fc":
        values = (WAVES + (1j * WAVES[::-1] if kind == "c" else 0)).astype(dtype)
        values[0, :4] = [np.nan, np.inf, -0.0, 0]
        return values
    if kind == "b":
        return WAVES > 0
    info = np.iinfo(dtype)
    values = np.random.default_rng(1).integers(info.min, info.max, SHAPE, dtype, endpoint=True)
    values[0, :6] = [0, 1, info.max, info.min, info.max - 1, 10]
    return values


def bitround() -> Any:
    types = ("float16", "float32", "float64", "complex64", "complex128")
    integers = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
    for dtype in (*types, *integers):
        for keepbits in (1, 3, 9):
            yield numbers(dtype), [codec("bitround", keepbits=keepbits), BYTES]


def packbits() -> Any:
    for padding in ("none", "first_byte", "last_byte"):
        yield numbers("bool"), [codec("packbits", padding_encoding=padding)]
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "complex64"):
        yield numbers(dtype), [codec("packbits")]
    # No wider signed types: zarrista 0.1 reads negative numbers as positive ones.
    for dtype, last in (("uint8", 3), ("uint16", 11), ("uint32", 19), ("int8", 2), ("int16", 11)):
        low = 0 if dtype[0] == "u" else -(1 << last)
        span = 1 << (last + (dtype[0] == "u"))
        values = (np.arange(120).reshape(SHAPE) * 37 % span + low).astype(dtype)
        yield values, [codec("packbits", last_bit=last, padding_encoding="first_byte")]
        values = values >> 2 << 2
        yield values, [codec("packbits", first_bit=2, last_bit=last, padding_encoding="last_byte")]


def reshape() -> Any:
    sizes: list[list[Any]] = [[[0], [1]], [[0, 1]], [-1], [[0], 5, 2], [[0], -1, 2], [3, -1]]
    for shape in sizes:
        yield numbers("int32"), [codec("reshape", shape=shape), BYTES]


def scale_offset() -> Any:
    for dtype, configuration in (
        ("float32", {"offset": 5, "scale": 0.1}),
        ("float64", {"scale": 3}),
        ("float16", {"offset": 1.5, "scale": 0.25}),
        ("int16", {"offset": 100}),
        ("int32", {"offset": -5, "scale": 3}),
        ("uint64", {"scale": 7}),
    ):
        values = np.abs(WAVES * 10).astype(dtype)
        yield values, [codec("scale_offset", **configuration), BYTES]


def cast_value() -> Any:
    for rounding in ROUNDINGS:
        for dtype, target, out_of_range, values in (
            ("float64", "int8", "clamp", WAVES * 90),
            ("float64", "uint8", "wrap", WAVES * 300),
            ("float64", "float32", None, WAVES),
            ("float32", "float16", "clamp", WAVES * 30000),
            ("int32", "uint8", "wrap", WAVES * 1000),
            ("int64", "float32", None, WAVES * 1e15),
            ("uint64", "float64", None, np.abs(WAVES) * 1e18),
            ("int16", "int8", "clamp", WAVES * 100),
        ):
            configuration = {"data_type": target, "rounding": rounding}
            if out_of_range:
                configuration["out_of_range"] = out_of_range
            yield values.astype(dtype), [codec("cast_value", **configuration), BYTES]
    scalars = {"encode": [["NaN", 0], ["Infinity", 7]], "decode": [[7, "Infinity"]]}
    values = np.abs(numbers("float64"))
    yield values, [codec("cast_value", data_type="uint8", scalar_map=scalars), BYTES]


CASES = {
    "zarrista": (bitround, packbits, reshape),
    "zarr": (scale_offset, *((cast_value,) if find_spec("cast_value_rs") else ())),
}
"""Who has which; the others have none of them."""


def parameters() -> Any:
    for peer, makers in CASES.items():
        for maker in makers:
            for values, codecs in maker():
                name = json.dumps(codecs[0]["configuration"])
                yield pytest.param(
                    peer, values, codecs, id=f"{peer}-{maker.__name__}-{values.dtype}-{name}"
                )


@pytest.fixture(scope="module")
def peers() -> dict[str, Any]:
    installed = {
        name: make()
        for name, make in interop_peers.PEERS.items()
        if name in CASES and name in interop_peers.INSTALLED
    }
    if "zarr" in installed and installed["zarr"].version < (3, 3):
        del installed["zarr"]
    return installed


def empty(place: Path, values: np.ndarray, codecs: list[dict[str, Any]]) -> Path:
    """An array of one chunk, which is not stored yet."""
    zero: Any = {"b": False, "c": [0, 0]}.get(values.dtype.kind, 0)
    place.mkdir()
    document = {
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": str(values.dtype),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": SHAPE}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": zero, "codecs": codecs,
        "attributes": {},
    }  # fmt: skip
    (place / "zarr.json").write_text(json.dumps(document))
    return place


@pytest.mark.parametrize(("name", "values", "codecs"), list(parameters()))
def test_same_bytes_and_same_elements(
    peers: dict[str, Any], name: str, values: np.ndarray, codecs: list[Any], tmp_path: Path
) -> None:
    if name not in peers:
        pytest.skip(f"{name} with these codecs is not installed for this version of Python")
    ours, theirs = (empty(tmp_path / who, values, codecs) for who in ("ours", "theirs"))
    zarr_core.open_array(ours, mode="r+")[...] = values
    peers[name].write(theirs, values)
    chunk = "c/0/0"
    assert (ours / chunk).read_bytes() == (theirs / chunk).read_bytes()
    got = np.asarray(zarr_core.open_array(theirs, mode="r")[...])
    assert got.tobytes() == np.asarray(peers[name].read(ours, values.dtype)).tobytes()
