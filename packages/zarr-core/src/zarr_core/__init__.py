"""Zarr arrays and groups, with every codec, data type, grid and store as a plugin."""
