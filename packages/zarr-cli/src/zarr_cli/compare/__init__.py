"""Comparison of two hierarchies: members, metadata, values."""

from zarr_cli.compare.compare_hierarchies import Comparison, compare
from zarr_cli.compare.difference import Difference

__all__ = ["Comparison", "Difference", "compare"]
