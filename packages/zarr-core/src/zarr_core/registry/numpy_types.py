"""The data type that stores the elements of a NumPy array."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from zarr_core.errors import (
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionError,
    ExtensionLoadError,
    UnknownExtensionError,
)
from zarr_core.metadata.problem import Problem
from zarr_core.registry import listing
from zarr_core.registry.builtin import LINES
from zarr_core.registry.resolve import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from zarr_core.interfaces.data_type import DataType


def data_type_for(dtype: np.dtype[Any]) -> DataType:
    """Find the data type for a NumPy dtype: core's own, else the first that is installed.

    Parameters
    ----------
    dtype : dtype
        In any byte order, which a data type does not have.

    Raises
    ------
    ExtensionConfigurationError
        If there is a data type for such elements, and this dtype has something that it
        would lose.
    UnknownExtensionError
        If none stores such elements.
    """
    broken: list[ExtensionError] = []
    for name in chain(LINES["data_type"], ("r8",), _others()):
        try:
            data_type: DataType | None = find("data_type", name).from_numpy(dtype)
        except (ExtensionLoadError, ExtensionConflictError) as error:
            broken.append(error)  # another may be the one that is looked for
        except ExtensionError:
            raise  # about a field
        except ValueError as error:
            problem = Problem("", f"{dtype} cannot be stored: {error}")
            raise ExtensionConfigurationError("data_type", name, "", [problem]) from error
        else:
            if data_type is not None:
                return data_type
    raise UnknownExtensionError("data_type", str(dtype), hint=_hint(dtype, broken))


def _others() -> Iterator[str]:
    """Further names, asked for only if core has no data type for a dtype."""
    yield from listing.names("data_type")


def _hint(dtype: np.dtype[Any], broken: list[ExtensionError]) -> str:
    hint = "More data types: pip install --upgrade zarr-dtypes"
    if dtype.kind == "O":
        hint = (
            'Python objects of any kind have no data type; say which they are: dtype="string" or '
            f'dtype="bytes". {hint}'
        )
    return " ".join([hint, *(f"Not tried: {error}" for error in broken)])
