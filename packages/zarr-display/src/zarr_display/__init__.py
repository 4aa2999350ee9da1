"""Representations of arrays and groups in notebooks, and maps of stored chunks."""

from zarr_display.chunk_grid_map import ChunkMap, chunk_map

__all__ = ["ChunkMap", "chunk_map"]
