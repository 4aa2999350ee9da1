"""Shards that other libraries wrote decode for ever to the same values."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from zarr_core.extension import (
    BasicIndexer,
    BufferByteReader,
    ExtensionDefinition,
    create_extension,
)

DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "cases.json").read_text())


def prepared(case, rep):
    fill = np.asarray(float("nan") if case["fill_value"] == "NaN" else case["fill_value"])
    codec = create_extension("codec", ExtensionDefinition.from_json(case["codec"]))
    decoded = rep(case["shape"], case["dtype"], fill.astype(case["dtype"]))
    values = (np.arange(decoded.size) % 100).reshape(decoded.shape).astype(case["dtype"])
    values[tuple(slice(n) for n in codec.chunk_shape)] = decoded.fill_value
    return codec, decoded, values


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_decodes(case, rep):
    codec, decoded, values = prepared(case, rep)
    data = (DATA / f"{case['name']}.bin").read_bytes()
    np.testing.assert_array_equal(codec.decode(data, decoded), values)
    # ... and in parts, among them the empty inner chunk.
    for axis in range(values.ndim):
        index = tuple(
            slice(1, n - 1, 1) if it == axis else slice(0, n, 1)
            for it, n in enumerate(values.shape)
        )
        out = np.zeros_like(values[index])
        codec.partial_decode(BufferByteReader(data), decoded, BasicIndexer(index), out)
        np.testing.assert_array_equal(out, values[index])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_changes_and_keeps_the_rest(case, rep):
    codec, decoded, values = prepared(case, rep)
    data = (DATA / f"{case['name']}.bin").read_bytes()
    corner = tuple(slice(n - 1, n, 1) for n in values.shape)
    new = np.full(values[corner].shape, 42, values.dtype)
    changed = b"".join(
        codec.partial_encode(BufferByteReader(data), decoded, BasicIndexer(corner), new)
    )
    values[corner] = 42
    np.testing.assert_array_equal(codec.decode(changed, decoded), values)
