"""Validation of the metadata of a hierarchy, extension by extension."""

from zarr_cli.validate.problem import NodeProblem
from zarr_cli.validate.validate_hierarchy import Validation, validate

__all__ = ["NodeProblem", "Validation", "validate"]
