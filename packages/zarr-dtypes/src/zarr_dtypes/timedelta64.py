"""The data type ``numpy.timedelta64``: durations.

Name:           numpy.timedelta64
Specification:  zarr-extensions, data-types/numpy.timedelta64
Configuration:  {"unit": "ns", "scale_factor": 1}
Schema:         schemas/data_type/numpy.timedelta64.json
Fill value:     steps, or "NaT"
NumPy:          timedelta64[ns]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from zarr_dtypes._time import TimeType


@dataclass(frozen=True, slots=True)
class TimeDelta64(TimeType):
    """A duration, in steps."""

    @classmethod
    def _names(cls) -> tuple[str, str]:
        return "numpy.timedelta64", "timedelta64"

    def _to_numpy(self, value: Any) -> Any:
        if isinstance(value, str):
            raise ValueError('the only string that is a duration is "NaT"')
        return value if isinstance(value, np.ndarray | np.timedelta64) else np.timedelta64(value)
