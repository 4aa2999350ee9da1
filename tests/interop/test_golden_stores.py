"""Stores that released versions of this library wrote.

``test_fixtures.py`` reads them. Here: the stores of a released version never change, and every
version has some.
"""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from pathlib import Path

GOLDEN = Path(__file__).parents[1] / "fixtures" / "golden"
SUMS = dict(
    reversed(line.split("  ", 1)) for line in (GOLDEN / "SHA256SUMS").read_text().splitlines()
)


def test_golden_stores_do_not_change():
    for name, expected in SUMS.items():
        data = (GOLDEN / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == expected, f"{name} must not be written again"


def test_every_golden_store_has_a_digest():
    files = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.glob("*/*")}
    assert files == SUMS.keys()


def test_this_version_has_golden_stores():
    major, minor, *_ = version("zarr-core").split(".")
    stores = sorted((GOLDEN / f"zarr-core-{major}.{minor}").glob("*.json"))
    assert {store.stem for store in stores} >= {"arrays", "v2", "v3_codecs", "n5", "draft"}
