"""Whether the documents of a hierarchy are valid, extension by extension."""

from zarr_cli.validating.finding import Finding
from zarr_cli.validating.hierarchy import Validation, validate

__all__ = ["Finding", "Validation", "validate"]
