"""The data type ``bool``.

Specification: v3.1, "Data types", "Fill values".
Fill value: ``true`` or ``false``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zarr_core.data_types.number import Number

if TYPE_CHECKING:
    from zarr_core.definition import JSON

_DTYPES: dict[str, np.dtype[Any]] = {"bool": np.dtype(np.bool_)}


@dataclass(frozen=True, slots=True)
class Bool(Number):
    """True or false, one byte."""

    dtypes = _DTYPES
    name: str = "bool"

    def fill_value_from_json(self, value: JSON) -> np.ndarray[Any, Any]:
        if not isinstance(value, bool):
            raise ValueError(f"a fill value of type bool must be true or false, not {value!r}")
        return np.array(value)

    def fill_value_to_json(self, value: np.ndarray[Any, Any]) -> JSON:
        return bool(value)

    def cast(self, value: Any) -> np.ndarray[Any, Any]:
        is_scalar = isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0
        plain = value.item() if is_scalar else value
        if not isinstance(plain, (bool, int, float)) or plain not in (0, 1):
            raise ValueError(f"bool requires True or False, not {value!r}")
        return np.array(bool(plain))
