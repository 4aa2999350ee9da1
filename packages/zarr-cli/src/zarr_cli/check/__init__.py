"""Checks of stored data: every chunk and every key of a hierarchy."""

from zarr_cli.check.array_check import ArrayCheck, Damage
from zarr_cli.check.check_hierarchy import Check, check

__all__ = ["ArrayCheck", "Check", "Damage", "check"]
