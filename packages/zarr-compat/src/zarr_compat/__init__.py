"""zarr-core under the names of zarr-python 3, for programs that import ``zarr``.

``python -m zarr_compat script.py`` runs a program with it; :func:`install_as_zarr` enables it
within a program.
"""

from __future__ import annotations

from zarr_compat.alias import install_as_zarr

__all__ = ["install_as_zarr"]

__version__ = "0.1.0"
