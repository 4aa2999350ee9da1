"""Invalid stored arrays, written without the library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import zarr_core as zarr

LEAVE_OUT = object()

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def document(**changes: Any) -> dict[str, Any]:
    """The metadata document of a 4 x 4 array of uint8 in chunks of 2 x 2 with the fill value 7."""
    members: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [4, 4],
        "data_type": "uint8",
        "chunk_grid": regular(2, 2),
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 7,
        "codecs": [{"name": "bytes"}],
        "attributes": {},
    }
    members |= changes
    return {name: value for name, value in members.items() if value is not LEAVE_OUT}


def regular(*shape: int) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(shape)}}


def codec(name: str, **configuration: Any) -> dict[str, Any]:
    return {"name": name, "configuration": configuration} if configuration else {"name": name}


def sharded(*chunk_shape: int, codecs=None, index_codecs=None, location="end") -> dict[str, Any]:
    return codec(
        "sharding_indexed",
        chunk_shape=list(chunk_shape),
        codecs=codecs or [codec("bytes")],
        index_codecs=index_codecs or [LITTLE, codec("crc32c")],
        index_location=location,
    )


def put(root: Path, key: str, value: bytes) -> None:
    path = root / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(value)


def stored(root: Path, metadata: Any, chunks: dict[str, bytes] | None = None, **how: Any):
    """Write a metadata document and chunks, and open the array."""
    if not isinstance(metadata, bytes):
        metadata = json.dumps(metadata).encode()
    put(root, "zarr.json", metadata)
    for key, value in (chunks or {}).items():
        put(root, key, value)
    return zarr.open_array(root, **{"mode": "r+", **how})


def everything(root: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def run(
    code: str, *arguments: Any, timeout: float | None = None, check: bool = True, **options: Any
):
    """Run code in a new interpreter; return its output."""
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        **options,
    )
    if check:
        assert result.returncode == 0, result.stdout + result.stderr
    return result
