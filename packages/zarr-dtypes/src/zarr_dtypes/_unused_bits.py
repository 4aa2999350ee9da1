"""Bits of a byte that stand for nothing, in types of less than eight bits."""

from __future__ import annotations

from typing import Any

import numpy as np


def cleared(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """A copy, in C order, of which each byte keeps its lowest bits alone.

    Parameters
    ----------
    array : ndarray
        Elements that each consist of one number a byte.
    bits : int
        How many bits of a byte are kept.
    """
    copy = np.array(array, order="C")
    octets = copy.reshape(-1).view(np.uint8)
    octets &= (1 << bits) - 1
    return copy
