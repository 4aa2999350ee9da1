"""Where two hierarchies differ: members, metadata, values."""

from zarr_cli.comparing.hierarchy import Comparison, compare
from zarr_cli.comparing.result import Difference

__all__ = ["Comparison", "Difference", "compare"]
