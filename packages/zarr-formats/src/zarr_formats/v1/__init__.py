"""Zarr version 1."""
