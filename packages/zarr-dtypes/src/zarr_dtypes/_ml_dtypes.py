"""The only module that imports ml_dtypes, when one of its types is first used."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.errors import ExtensionLoadError

if TYPE_CHECKING:
    from collections.abc import Container

_REGISTERED = 2  # dtype.isbuiltin of types that other packages register
_COMPLEX = frozenset({"complex32", "bcomplex32"})


@cache
def dtype_named(name: str, target: str) -> np.dtype[Any]:
    """Return a dtype of ml_dtypes; ``target`` is the class that needs it, for error messages.

    ExtensionLoadError if ml_dtypes is not installed, broken, or too old for the dtype.
    """
    try:
        import ml_dtypes  # optional dependency

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    except Exception as error:  # an import may raise anything
        raise ExtensionLoadError(
            "data_type",
            name,
            target,
            "zarr-dtypes",
            f"ml_dtypes 0.5 or newer is required ({type(error).__name__}: {error}): "
            "pip install 'zarr-dtypes[ml]'",
        ) from error
    return dtype


def name_in(dtype: np.dtype[Any], names: Container[str], target: str) -> str | None:
    """Return the name of a dtype if it is one of the given types of ml_dtypes, else None.

    This does not import ml_dtypes, which is imported if such a dtype exists.
    """
    if not _is_of_ml_dtypes(dtype) or dtype.name not in names:
        return None
    # Another package may register a type of the same name.
    return dtype.name if dtype_named(dtype.name, target).type is dtype.type else None


def is_real(dtype: np.dtype[Any]) -> bool:
    """Return whether elements are real numbers of NumPy or of ml_dtypes."""
    return dtype.kind in "biuf" or (_is_of_ml_dtypes(dtype) and dtype.name not in _COMPLEX)


def complex_name(dtype: np.dtype[Any]) -> str | None:
    """Return the name of a dtype if it is a complex type of ml_dtypes, else None."""
    return dtype.name if _is_of_ml_dtypes(dtype) and dtype.name in _COMPLEX else None


def _is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == _REGISTERED and dtype.type.__module__ == "ml_dtypes"
