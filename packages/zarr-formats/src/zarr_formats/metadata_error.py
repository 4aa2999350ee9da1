"""The error for one problem of a metadata document."""

from __future__ import annotations

from zarr_core.extension import MetadataValidationError, ValidationProblem


def metadata_error(pointer: str, message: str) -> MetadataValidationError:
    """Return the error for one problem of a document; callers add the location."""
    return MetadataValidationError("", [ValidationProblem(pointer, message)])
