"""The data type ``numpy.datetime64``: points in time.

Name:           numpy.datetime64
Specification:  zarr-extensions, data-types/numpy.datetime64
Configuration:  {"unit": "ns", "scale_factor": 1}
Schema:         schemas/data_type/numpy.datetime64.json
Fill value:     steps since 1970-01-01T00:00:00 UTC, or "NaT"
NumPy:          datetime64[ns]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr_dtypes._time import TimeType


@dataclass(frozen=True, slots=True)
class DateTime64(TimeType):
    """A point in time, as steps since 1970-01-01."""

    @classmethod
    def _names(cls) -> tuple[str, str]:
        return "numpy.datetime64", "datetime64"

    def _to_numpy(self, value: Any) -> Any:
        return value if isinstance(value, np.ndarray | np.datetime64) else np.datetime64(value)
