"""Batches of chunks in compiled code: an optional executor for zarr-core."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_include", "processed_chunks"]


def get_include() -> str:
    """Return the folder of ``zarr_codec.h``, for the compiler."""
    return str(Path(__file__).parent / "include")


def processed_chunks() -> tuple[int, int]:
    """Return how many chunks or shards this process read and wrote in compiled code."""
    from zarr_native import _native  # loaded on first use

    return _native.counts()
