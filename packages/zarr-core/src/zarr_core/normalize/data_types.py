"""Normalization of data types."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import (
    ExtensionConfigurationError,
    ExtensionConflictError,
    ExtensionError,
    ExtensionLoadError,
    UnknownExtensionError,
    ValidationProblem,
    is_ordinary_error,
)
from zarr_core.interfaces.data_type import DataType
from zarr_core.location import Location
from zarr_core.normalize.definitions import parse_definition
from zarr_core.registry import hints, overrides
from zarr_core.registry.discovery import CORE, providers, usable_names
from zarr_core.registry.resolve import create_extension, find_provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

_DTYPES_DISTRIBUTION = "zarr-dtypes"


def parse_data_type(dtype: Any) -> tuple[DataType, Literal["little", "big"] | None]:
    """Return a data type, and its byte order if that is not native, else None."""
    if isinstance(dtype, DataType):
        return dtype, None
    if isinstance(dtype, dict | ExtensionDefinition) or hasattr(dtype, "to_definition"):
        return _create(parse_definition(dtype, "data type")), None
    if isinstance(dtype, str):
        definition = ExtensionDefinition(dtype)
        # Names of extensions take precedence.  The error for an unknown name is expensive.
        if find_provider("data_type", definition) or not _is_numpy(dtype):
            return _create(definition), None
    numpy_dtype = _without_padding(np.dtype(dtype))
    data_type = data_type_for(numpy_dtype)
    # One-byte dtypes that other packages register have a byte order, which is meaningless.
    return data_type, _byte_order(numpy_dtype) if data_type.has_byte_order else None


def data_type_for(dtype: np.dtype[Any]) -> DataType:
    """The data type for a NumPy dtype of any byte order.

    The first that accepts the dtype is used: data types of the core, overrides, data types of
    this project, other installed data types.

    Raises
    ------
    ExtensionConfigurationError
        If a data type for such elements would lose information of this dtype.
    UnknownExtensionError
        If there is no data type for such elements.
    """
    broken: list[ExtensionError] = []
    for name in chain(CORE["data_type"], _other_names()):
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


def _without_padding(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A structured dtype without bytes between the fields, as of ``align=True``; zarr-python does so."""
    if dtype.subdtype is not None:  # repack_fields of NumPy does not change such fields
        base, shape = dtype.subdtype
        return np.dtype((_without_padding(base), shape))
    if not dtype.names or dtype.fields is None or len(dtype.fields) > len(dtype.names):  # titles
        return dtype
    return np.dtype([(name, _without_padding(dtype[name])) for name in dtype.names])


def _is_numpy(name: str) -> bool:
    try:
        np.dtype(name)
    except (TypeError, ValueError, SyntaxError):
        return False
    return True


def _byte_order(dtype: np.dtype[Any]) -> Literal["little", "big"] | None:
    """The non-native byte order if all fields have it; else None."""
    # isnative does not consider fields that are arrays.
    if dtype.isnative and (dtype.names is None or dtype == dtype.newbyteorder("=")):
        return None
    other: Literal["little", "big"] = "big" if sys.byteorder == "little" else "little"
    return other if dtype == dtype.newbyteorder(other) else None


def _create(definition: ExtensionDefinition) -> DataType:
    data_type: DataType = create_extension(
        "data_type", definition, Location("new array", pointer="/data_type")
    )
    return data_type


def _other_names() -> Iterator[str]:
    """Names besides those of the core."""
    yield from overrides.current().get("data_type", ())
    installed = usable_names("data_type")
    yield from sorted(
        installed, key=lambda name: (not hints.distribution_of("data_type", name), name)
    )


def _from_numpy(name: str, dtype: np.dtype[Any]) -> DataType | None:
    """The data type for a dtype from the class of a name; errors in its code are load errors."""
    provider = find_provider("data_type", ExtensionDefinition(name))
    assert provider is not None  # the name of an installed data type
    extension = provider.load()
    try:
        data_type = extension.from_numpy(dtype)
    except BaseException as error:
        if isinstance(error, ValueError | ExtensionError) or not is_ordinary_error(error):
            raise
        reason = f"from_numpy raised {type(error).__name__}: {error}"
        raise provider.failure(reason) from error
    if data_type is not None and not isinstance(data_type, DataType):
        raise provider.failure(f"from_numpy returned {type(data_type).__name__}, not a DataType")
    return data_type


def _hint(dtype: np.dtype[Any], broken: list[ExtensionError]) -> str:
    if any(item.distribution == _DTYPES_DISTRIBUTION for item in providers("data_type")):
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
