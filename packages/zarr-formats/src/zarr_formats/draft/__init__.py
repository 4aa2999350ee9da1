"""The drafts of Zarr version 3 of 2021 and 2022."""
