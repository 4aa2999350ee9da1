"""Normalization of data types."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.definition import ExtensionDefinition
from zarr_core.interfaces.data_type import DataType
from zarr_core.normalize.definitions import parse_definition
from zarr_core.registry.numpy_types import data_type_for
from zarr_core.registry.resolve import lookup, require

if TYPE_CHECKING:
    from typing import Literal


def parse_data_type(dtype: Any) -> tuple[DataType, Literal["little", "big"] | None]:
    """Return the data type of an argument.

    Parameters
    ----------
    dtype : DataType, str, dict, ExtensionDefinition, dtype or type
        A name in metadata (``"float32"``, ``"r24"``), a definition, an object with
        ``to_definition()``, or anything that :class:`numpy.dtype` accepts (``">f4"``, ``float``).

    Returns
    -------
    data_type : DataType
    byte_order : {"little", "big"} or None
        The byte order of the dtype if it is not native; else None.

    Raises
    ------
    UnknownExtensionError
        If no installed data type corresponds.
    """
    if isinstance(dtype, DataType):
        return dtype, None
    if isinstance(dtype, dict | ExtensionDefinition) or hasattr(dtype, "to_definition"):
        return _create(parse_definition(dtype, "data type")), None
    if isinstance(dtype, str):
        definition = ExtensionDefinition(dtype)
        # Names of extensions take precedence.  The error for an unknown name is expensive.
        if lookup("data_type", definition) or not _is_numpy(dtype):
            return _create(definition), None
    numpy_dtype = np.dtype(dtype)
    data_type = data_type_for(numpy_dtype)
    # One-byte dtypes that other packages register have a byte order, which is meaningless.
    return data_type, _byte_order(numpy_dtype) if data_type.has_byte_order else None


def _is_numpy(name: str) -> bool:
    try:
        np.dtype(name)
    except TypeError:
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
    data_type: DataType = require("data_type", definition, "new array", "/data_type")
    return data_type
