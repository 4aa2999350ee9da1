"""Arrays exchanged with other libraries in both directions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import interop_matrix
import interop_peers
import numpy as np
import pytest
import zarr_core
from interop_differences import CANNOT_WRITE, FORGETS, MISREADS, REFUSES, found

if TYPE_CHECKING:
    from pathlib import Path

    from interop_matrix import Combination
    from interop_peers import Peer

COMBINATIONS = interop_matrix.combinations()


@pytest.mark.parametrize("name", interop_peers.PEERS)
def test_the_library_is_tried(name: str) -> None:
    if name not in interop_peers.INSTALLED:
        pytest.skip(f"{name} is not installed for this version of Python: nothing is tried with it")
    assert interop_peers.PEERS[name]().name == name


def test_the_matrix_is_large_enough() -> None:
    assert len(COMBINATIONS) >= 300
    assert len(set(map(str, COMBINATIONS))) == len(COMBINATIONS)


@pytest.mark.parametrize("item", COMBINATIONS, ids=str)
def test_reads_what_it_writes(peer: Peer, item: Combination, place: Path) -> None:
    (place / "zarr.json").write_text(json.dumps(item.document))
    values = item.values()
    if found(REFUSES + CANNOT_WRITE, peer, item):
        with pytest.raises(peer.refusals):
            peer.write(place, values)
        return
    peer.write(place, values)
    if found(FORGETS, peer, item):
        assert [path.name for path in place.iterdir()] == ["zarr.json"]
        values[...] = item.fill_scalar
    array = zarr_core.open_array(place, mode="r")
    assert_same(array[...], values)
    assert_same(array[part(item)], values[part(item)])


@pytest.mark.parametrize("item", COMBINATIONS, ids=str)
def test_writes_what_it_reads(peer: Peer, item: Combination, place: Path) -> None:
    write(place, item)
    if found(REFUSES, peer, item):
        with pytest.raises(peer.refusals):
            peer.read(place, item.dtype)
        return
    got = peer.read(place, item.dtype)
    if found(MISREADS, peer, item):
        (own := place / "own").mkdir()
        (own / "zarr.json").write_text(json.dumps(item.document))
        peer.write(own, item.values())
        assert got.tobytes() != item.values().tobytes()
        assert got.tobytes() == peer.read(own, item.dtype).tobytes()
        return
    assert_same(got, item.values())


def write(place: Path, item: Combination) -> None:
    kinds = [codec["name"] for codec in item.codecs]
    middle = next(i for i, kind in enumerate(kinds) if kind in ("bytes", "sharding_indexed"))
    array = zarr_core.create_array(
        place,
        shape=item.shape,
        chunks=item.stored_chunk,
        dtype=item.data_type,
        filters=item.codecs[:middle],
        serializer=item.codecs[middle],
        compressors=item.codecs[middle + 1 :],
        fill_value=item.fill_scalar,
    )
    array[...] = item.values()
    # Then a part, which reads, changes and writes stored chunks.
    array[part(item)] = item.values()[part(item)]


def part(item: Combination) -> tuple[slice, ...]:
    """Return a selection that starts within chunks and ends at the edge."""
    return tuple(slice(length // 3, None) for length in item.shape)


def assert_same(got: Any, expected: np.ndarray) -> None:
    got = np.asarray(got)
    assert got.shape == expected.shape
    assert got.dtype.newbyteorder("=") == expected.dtype
    # Compare bytes, because of NaN payloads and signs of zeros.
    assert got.astype(expected.dtype).tobytes() == expected.tobytes()
