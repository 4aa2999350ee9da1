"""Conversion of arrays or hierarchies between formats, layouts, stores."""

from __future__ import annotations

from zarr_core.extension import Progress

from zarr_formats.conversion.errors import ConversionError, ElementsDifferError
from zarr_formats.conversion.executing import convert
from zarr_formats.conversion.planning import plan
from zarr_formats.conversion.removing import remove_documents
from zarr_formats.conversion.steps import Plan, Step

__all__ = [
    "ConversionError",
    "ElementsDifferError",
    "Plan",
    "Progress",
    "Step",
    "convert",
    "plan",
    "remove_documents",
]
