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
from zarr_core.metadata.problem import Problem
from zarr_core.registry import hints, listing, scope
from zarr_core.registry.builtin import LINES
from zarr_core.registry.provider import is_fault
from zarr_core.registry.resolve import implementation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np


def data_type_for(dtype: np.dtype[Any]) -> DataType:
    """Find the data type for a NumPy dtype: core's own, else the first that is installed.

    After core's come those that a block around the caller gives, then the well-known
    names, then those of strangers: nobody who installs ``acme.date`` has asked for it yet.

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
            data_type = _of(name, dtype)
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
    yield from scope.current().get("data_type", ())
    names = listing.names("data_type")
    yield from sorted(names, key=lambda name: (not hints.well_known("data_type", name), name))


def _of(name: str, dtype: np.dtype[Any]) -> DataType | None:
    """What the data type of a name makes of a dtype; a failure of its code is one to load it."""
    found = implementation("data_type", ExtensionDefinition(name))
    assert found is not None  # data types are never left out
    provider, extension = found
    try:
        data_type = extension.from_numpy(dtype)
    except BaseException as error:
        if isinstance(error, ValueError | ExtensionError) or not is_fault(error):
            raise
        reason = f"from_numpy raised {type(error).__name__}: {error}"
        raise provider.failure(reason) from error
    if data_type is not None and not isinstance(data_type, DataType):
        raise provider.failure("from_numpy gave something that is no data type")
    return data_type


def _hint(dtype: np.dtype[Any], broken: list[ExtensionError]) -> str:
    hint = "More data types: pip install --upgrade zarr-dtypes"
    if dtype.kind == "O":
        hint = (
            'Python objects of any kind have no data type; say which they are: dtype="string" or '
            f'dtype="bytes". {hint}'
        )
    return " ".join([hint, *(f"Not tried: {error}" for error in broken)])
