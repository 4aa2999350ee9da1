"""Compares this library with the other Zarr libraries, interleaved in one run."""
