"""Synchronous calls of the asynchronous codecs of zarr-python.

Codecs with synchronous methods (zarr-python 3.2 or newer) are called directly.  Other
codecs run in the event loop of zarr-python, which has its own thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from zarr.core.sync import sync

from zarr_bridge.specs import PROTOTYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from zarr.core.array_spec import ArraySpec
    from zarr_core.extension import Buffer

_CALLS = 16  # more than zarr-python makes at once by default, 10


def encode(codec: Any, data: Any, spec: ArraySpec) -> Any:
    """Encode one chunk; return None if it is not stored."""
    direct: Callable[..., Any] | None = _direct(codec, "_encode_sync")
    return sync(_one(codec.encode, data, spec)) if direct is None else direct(data, spec)


def decode(codec: Any, data: Any, spec: ArraySpec) -> Any:
    """Decode one chunk."""
    direct: Callable[..., Any] | None = _direct(codec, "_decode_sync")
    return sync(_one(codec.decode, data, spec)) if direct is None else direct(data, spec)


def max_concurrency(codec: Any) -> int | None:
    """Return the number of concurrent calls of a codec that may wait; None for other codecs."""
    waits = _direct(codec, "_encode_sync") is None or _direct(codec, "_decode_sync") is None
    return _CALLS if waits else None


def _direct(codec: Any, method: str) -> Any:
    # Codecs with inner codecs report whether all of them are synchronous.
    return getattr(codec, method, None) if getattr(codec, "_sync_capable", True) else None


async def _one(method: Any, data: Any, spec: ArraySpec) -> Any:
    (result,) = await method([(data, spec)])
    return result


def array_of(buffer: Any) -> np.ndarray[Any, Any]:
    """Return a buffer of zarr-python, or the array that a codec returned instead, as an array."""
    if isinstance(buffer, np.ndarray):
        return buffer
    array: np.ndarray[Any, Any] = buffer.as_numpy_array()
    return array


def buffer_of(data: Buffer) -> Any:
    """Return bytes as a buffer of zarr-python, without a copy."""
    return PROTOTYPE.buffer.from_bytes(data)


def bytes_of(buffer: Any) -> memoryview:
    """Return a buffer of zarr-python as bytes, without a copy if it is contiguous."""
    return np.ascontiguousarray(array_of(buffer)).reshape(-1).view(np.uint8).data


def ndbuffer_of(array: np.ndarray[Any, Any]) -> Any:
    """Return elements as a buffer of zarr-python; a copy, because codecs may write to it."""
    return PROTOTYPE.nd_buffer.from_numpy_array(np.array(array, order="C"))


def elements_of(buffer: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return a buffer of zarr-python as elements; strings are converted to ``dtype``."""
    array = array_of(buffer)
    return array.astype(dtype) if {array.dtype.kind, dtype.kind} <= set("OTU") else array
