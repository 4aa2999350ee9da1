"""The one door to ml_dtypes, imported when an array of one of its types is first met."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from zarr_core.extension import ExtensionLoadError

if TYPE_CHECKING:
    from collections.abc import Container

_REGISTERED = 2  # what dtype.isbuiltin is for types that NumPy has not itself
_COMPLEX = frozenset({"complex32", "bcomplex32"})


@cache
def dtype_called(name: str, target: str) -> np.dtype[Any]:
    """The dtype that ml_dtypes has under a name.

    Parameters
    ----------
    name : str
        The name, also that of the data type.
    target : str
        The class that needs it, ``module:Class``; for messages.

    Raises
    ------
    ExtensionLoadError
        If ml_dtypes is missing, broken, or too old to have it.
    """
    try:
        import ml_dtypes  # noqa: PLC0415 - lazy: not everybody has it

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    except Exception as error:  # an import may fail in any way
        raise ExtensionLoadError(
            "data_type",
            name,
            target,
            "zarr-dtypes",
            f"it needs the package ml_dtypes 0.5 or newer ({type(error).__name__}: {error}): "
            "pip install 'zarr-dtypes[ml]'",
        ) from error
    return dtype


def name_in(dtype: np.dtype[Any], names: Container[str], target: str) -> str | None:
    """The name of a dtype if it is one of these of ml_dtypes, else None.

    Does not import ml_dtypes: whoever has such a dtype did.
    """
    if not _is_of_ml_dtypes(dtype) or dtype.name not in names:
        return None
    # Another package might register a type of the same name.
    return dtype.name if dtype_called(dtype.name, target).type is dtype.type else None


def is_real(dtype: np.dtype[Any]) -> bool:
    """Whether elements are real numbers, of NumPy or of ml_dtypes."""
    return dtype.kind in "biuf" or (_is_of_ml_dtypes(dtype) and dtype.name not in _COMPLEX)


def complex_name(dtype: np.dtype[Any]) -> str | None:
    """The name of a dtype if it is one of the complex numbers of ml_dtypes, else None."""
    return dtype.name if _is_of_ml_dtypes(dtype) and dtype.name in _COMPLEX else None


def _is_of_ml_dtypes(dtype: np.dtype[Any]) -> bool:
    return dtype.isbuiltin == _REGISTERED and dtype.type.__module__ == "ml_dtypes"
