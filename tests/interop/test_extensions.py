"""Every registered data type, codec, chunk grid and key encoding, with every other library."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import interop_peers
import pytest
from extension_arrays import forms
from extension_outcomes import NO, YES, cell, same
from extension_table import BEYOND, PEERS, rows
from zarr_conformance.kit.specification import cases_of

if TYPE_CHECKING:
    from extension_table import Row
    from interop_peers import Peer

ROOT = Path(__file__).parents[2]
ROWS = rows()
WANTS = {
    ("zarr", "cast_value"): "cast_value_rs",
    ("zarr", "template"): "zarr_template",
    ("zarrs", "template"): "zarr_template",
}
"""What a peer has only where another package is installed."""
each_row = pytest.mark.parametrize("row", ROWS, ids=str)


def released() -> tuple[int, ...]:
    """The release of zarr-python, which determines data types and grids also for the zarrs pipeline."""
    return interop_peers.PEERS["zarr"]().version


def test_the_table_has_everything_that_is_registered() -> None:
    registered = {
        (kind, point.name)
        for kind in ("data_type", "codec", "chunk_grid", "chunk_key_encoding")
        for point in entry_points(group=f"zarr_core.{kind}")
        if find_spec(point.value.partition(":")[0].partition(".")[0])
        and point.value.startswith("zarr_")
    }
    assert {(row.kind, row.name) for row in ROWS} | BEYOND.keys() == registered | {
        ("data_type", "r*")
    }
    assert not {(row.kind, row.name) for row in ROWS} & BEYOND.keys()
    assert len({str(row) for row in ROWS}) == len(ROWS)


def test_errors_have_a_reason() -> None:
    for row in ROWS:
        words = {word for each in row.cells.values() for word in (each.now, each.before)}
        assert bool(row.why) or words <= {YES, NO, ""}, row


def test_the_columns_are_the_peers() -> None:
    assert set(PEERS) == set(interop_peers.PEERS)


def test_extensions_without_another_implementation_have_cases_of_their_text() -> None:
    alone = [row for row in ROWS if all(cell.now == NO for cell in row.cells.values())]
    assert alone
    assert {row.name for row in alone if not cases_of(row.kind, row.name)} == {
        *("fanout", "suffix"),  # the tests of zarr-grids have the keys of their texts
    }


@each_row
def test_write_read_round_trip(row: Row, place: Path) -> None:
    """This library alone, as the basis of the comparisons below."""
    for form in forms(row.kind, row.name):
        array = form.create(place / form.label)
        array[...] = form.values
        if form.lossless:
            assert same(array[...], form.values), form.label


@each_row
def test_a_cell(peer: Peer, row: Row, place: Path) -> None:
    wanted = WANTS.get((peer.name, row.name))
    if wanted and not find_spec(wanted):
        pytest.skip(f"{peer.name} has {row.name} only with {wanted}")
    found, said = cell(peer, row.kind, row.name, place)
    expected = row.cells[peer.name].of(released())
    assert found == expected, f"{row.name} with {peer.name}: " + "; ".join(said)


def test_the_page_is_what_the_table_says() -> None:
    run = subprocess.run(
        [sys.executable, "scripts/document_interop.py", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
