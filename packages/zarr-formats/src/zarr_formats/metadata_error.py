"""The error for one problem of a metadata document."""

from __future__ import annotations

from zarr_core.extension import MetadataValidationError, ValidationProblem


def metadata_error(pointer: str, message: str) -> MetadataValidationError:
    """Return the error for one problem of a document.

    Functions that read or write one member raise it without a location, which their callers add.
    """
    return MetadataValidationError("", [ValidationProblem(pointer, message)])
