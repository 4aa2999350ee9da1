"""Distributions for one test, written as by an installer."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from zarr_core import messages
from zarr_core.config import config
from zarr_core.registry import discovery

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a distribution.

    ``install(name, {extension point: {name: target}}, {file: text}, version="1.0")`` writes
    the files and the metadata, and returns the folder.
    """
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    before = set(sys.modules)

    def write(
        name: str,
        entry_points: Mapping[str, Mapping[str, str]],
        files: Mapping[str, str] | None = None,
        version: str = "1.0",
    ) -> Path:
        info = site / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        lines = [
            line
            for kind, names in entry_points.items()
            for line in (
                f"[zarr_core.{kind}]",
                *(f"{key} = {target}" for key, target in names.items()),
            )
        ]
        (info / "entry_points.txt").write_text("\n".join(lines))
        for path, text in (files or {}).items():
            file = site / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        importlib.invalidate_caches()
        discovery.refresh()
        return site

    with config.set():
        yield write
    for module in set(sys.modules) - before:
        place = getattr(sys.modules[module], "__file__", None) or ""
        if place.startswith(str(site)):
            del sys.modules[module]
    messages._issued.clear()
    discovery.refresh()


CODEC = """
from dataclasses import dataclass
from zarr_core.extension import BytesToBytesCodec

@dataclass(frozen=True, slots=True)
class Codec(BytesToBytesCodec):
    key: int = 0

    def encode(self, data, decoded_size):
        return bytes(byte ^ self.key for byte in data)

    def decode(self, data, decoded_size):
        return self.encode(data, decoded_size)
"""


@pytest.fixture
def codec_source() -> str:
    """A module with a working codec ``Codec`` with the configuration ``key``."""
    return CODEC
