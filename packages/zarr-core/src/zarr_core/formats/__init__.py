"""Zarr version 3, and detection of the installed formats."""
