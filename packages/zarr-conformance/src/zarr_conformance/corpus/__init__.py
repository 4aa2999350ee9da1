"""Test cases for the clauses, written without the code of zarr-core."""
