"""The two drafts of Zarr version 3 (2021, 2022)."""
