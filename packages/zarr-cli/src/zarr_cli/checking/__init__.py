"""Whether what is stored can be read: every chunk of a hierarchy, every key."""

from zarr_cli.checking.hierarchy import Check, check
from zarr_cli.checking.result import ArrayCheck, Damage

__all__ = ["ArrayCheck", "Check", "Damage", "check"]
