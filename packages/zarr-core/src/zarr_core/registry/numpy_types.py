"""The data type that stores the elements of a NumPy array."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionError,
    ExtensionLoadError,
    UnknownExtensionError,
)
from zarr_core.interfaces.data_type import DataType
from zarr_core.metadata.validation_problem import ValidationProblem
from zarr_core.registry import hints, listing, scope
from zarr_core.registry.builtin import ENTRY_POINTS
from zarr_core.registry.provider import is_fault
from zarr_core.registry.registry import everything
from zarr_core.registry.resolve import implementation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np


_DTYPES_DISTRIBUTION = "zarr-dtypes"


def data_type_for(dtype: np.dtype[Any]) -> DataType:
    """Find the data type for a NumPy dtype.

    The first that accepts the dtype is used: data types of the core, overrides, data
    types of this project, other installed data types.

    Parameters
    ----------
    dtype : dtype
        In any byte order.

    Raises
    ------
    ExtensionConfigurationError
        If a data type for such elements would lose information of this dtype.
    UnknownExtensionError
        If there is no data type for such elements.
    """
    broken: list[ExtensionError] = []
    for name in chain(ENTRY_POINTS["data_type"], ("r8",), _other_names()):
        try:
            data_type = _from_numpy(name, dtype)
        except (ExtensionLoadError, ExtensionConflictError) as error:
            broken.append(error)  # another one may accept the dtype
        except ExtensionError:
            raise  # about a field
        except ValueError as error:
            problem = ValidationProblem("", f"{dtype} cannot be stored: {error}")
            raise ExtensionConfigurationError("data_type", name, "", [problem]) from error
        else:
            if data_type is not None:
                return data_type
    raise UnknownExtensionError("data_type", str(dtype), hint=_hint(dtype, broken))


def _other_names() -> Iterator[str]:
    """Names besides those of the core."""
    yield from scope.current().get("data_type", ())
    names = listing.names("data_type")
    yield from sorted(names, key=lambda name: (not hints.well_known("data_type", name), name))


def _from_numpy(name: str, dtype: np.dtype[Any]) -> DataType | None:
    """The data type for a dtype from the class of a name; errors in its code are load errors."""
    found = implementation("data_type", ExtensionDefinition(name))
    assert found is not None  # data types are never ignored
    provider, extension = found
    try:
        data_type = extension.from_numpy(dtype)
    except BaseException as error:
        if isinstance(error, ValueError | ExtensionError) or not is_fault(error):
            raise
        reason = f"from_numpy raised {type(error).__name__}: {error}"
        raise provider.failure(reason) from error
    if data_type is not None and not isinstance(data_type, DataType):
        raise provider.failure(f"from_numpy returned {type(data_type).__name__}, not a DataType")
    return data_type


def _hint(dtype: np.dtype[Any], broken: list[ExtensionError]) -> str:
    if any(item.distribution == _DTYPES_DISTRIBUTION for item in everything("data_type")):
        hint = "No installed distribution provides a data type for it; convert the elements"
        if dtype.kind in "fc":
            hint += f" with astype('{'float64' if dtype.kind == 'f' else 'complex128'}')"
        hint += "."
    else:
        hint = f"For more data types: pip install --upgrade {_DTYPES_DISTRIBUTION}"
    if dtype.kind == "O":
        hint = (
            'The dtype "object" has no data type; pass dtype="string" or dtype="bytes" for '
            f"strings or bytes. {hint}"
        )
    return " ".join([hint, *(f"Not tried: {error}" for error in broken)])
