"""Unused bits of data types with less than eight bits."""

from __future__ import annotations

from typing import Any

import numpy as np


def clear_upper_bits(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Return a copy, in C order, with all but the lowest ``bits`` of each byte set to zero."""
    copy = np.array(array, order="C")
    octets = copy.reshape(-1).view(np.uint8)
    octets &= (1 << bits) - 1
    return copy
