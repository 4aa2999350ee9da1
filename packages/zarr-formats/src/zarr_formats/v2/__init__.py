"""Zarr version 2."""
