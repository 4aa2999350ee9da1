"""zarr-core under the names of zarr-python 3, for programs that import ``zarr``.

``python -m zarr_compat script.py`` runs a program with it; :func:`install_as_zarr` enables it
within a program.
"""

from __future__ import annotations

from zarr_compat.alias import install_as_zarr
from zarr_compat.dimension_units import check_units, parse_units

__all__ = ["check_units", "install_as_zarr", "parse_units"]

__version__ = "0.1.0"
