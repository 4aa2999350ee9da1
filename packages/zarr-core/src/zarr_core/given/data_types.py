"""Data types from whatever a user gave for them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.definition import ExtensionDefinition
from zarr_core.errors import UnknownExtensionError
from zarr_core.given.definitions import definition_of
from zarr_core.interfaces.data_type import DataType
from zarr_core.registry.numpy_types import data_type_for
from zarr_core.registry.resolve import require

if TYPE_CHECKING:
    from typing import Literal


def data_type_of(given: Any) -> tuple[DataType, Literal["little", "big"] | None]:
    """Find the data type that a user means.

    Parameters
    ----------
    given : DataType, str, dict, ExtensionDefinition, dtype or type
        A name in metadata (``"float32"``, ``"r24"``), a definition, an object that gives
        one by ``to_definition()``, or anything that :class:`numpy.dtype` takes (``">f4"``, ``float``).

    Returns
    -------
    data_type : DataType
    byte_order : {"little", "big"} or None
        What the user asked for; None if nothing in particular.

    Raises
    ------
    UnknownExtensionError
        If no installed data type is meant.
    """
    if isinstance(given, DataType):
        return given, None
    if isinstance(given, dict | ExtensionDefinition) or hasattr(given, "to_definition"):
        return _made(definition_of(given, "data type")), None
    if isinstance(given, str):
        try:
            return _made(ExtensionDefinition(given)), None
        except UnknownExtensionError as error:
            unknown = error
        try:
            dtype = np.dtype(given)
        except TypeError:
            raise unknown from None
    else:
        dtype = np.dtype(given)
    data_type = data_type_for(dtype)
    # dtypes of one byte that other packages have registered have an order, which means nothing.
    return data_type, _byte_order(dtype) if data_type.has_byte_order else None


def _byte_order(dtype: np.dtype[Any]) -> Literal["little", "big"] | None:
    """What was asked for: the order that is not this machine's, if all fields have it."""
    # Of fields that are arrays, isnative knows nothing.
    if dtype.isnative and (dtype.names is None or dtype == dtype.newbyteorder("=")):
        return None
    other: Literal["little", "big"] = "big" if sys.byteorder == "little" else "little"
    return other if dtype == dtype.newbyteorder(other) else None


def _made(definition: ExtensionDefinition) -> DataType:
    data_type: DataType = require("data_type", definition, "new array", "/data_type")
    return data_type
