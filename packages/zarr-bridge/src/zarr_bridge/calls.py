"""Running codecs of zarr-python, whose methods wait for an event loop, without one here.

Classes that have methods without waiting (zarr-python 3.2 or newer) are called
directly.  For the others zarr-python's own thread runs its own loop.
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


def encode(codec: Any, data: Any, spec: ArraySpec) -> Any:
    """Encode one chunk; None if it need not be stored."""
    direct: Callable[..., Any] | None = _direct(codec, "_encode_sync")
    return sync(_one(codec.encode, data, spec)) if direct is None else direct(data, spec)


def decode(codec: Any, data: Any, spec: ArraySpec) -> Any:
    """Decode one chunk."""
    direct: Callable[..., Any] | None = _direct(codec, "_decode_sync")
    return sync(_one(codec.decode, data, spec)) if direct is None else direct(data, spec)


def _direct(codec: Any, method: str) -> Any:
    # A codec that runs others can only say itself whether all of them can.
    return getattr(codec, method, None) if getattr(codec, "_sync_capable", True) else None


async def _one(method: Any, data: Any, spec: ArraySpec) -> Any:
    (result,) = await method([(data, spec)])
    return result


def buffer_of(data: Buffer) -> Any:
    """Bytes as a buffer of zarr-python, without a copy."""
    return PROTOTYPE.buffer.from_bytes(data)


def bytes_of(buffer: Any) -> memoryview:
    """A buffer of zarr-python as bytes, without a copy if it is contiguous."""
    return np.ascontiguousarray(buffer.as_numpy_array()).reshape(-1).view(np.uint8).data


def ndbuffer_of(array: np.ndarray[Any, Any]) -> Any:
    """Elements as a buffer of zarr-python: a copy, which a codec may write to."""
    return PROTOTYPE.nd_buffer.from_numpy_array(np.array(array, order="C"))


def elements_of(buffer: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A buffer of zarr-python as elements; text in the form that is wanted."""
    array: np.ndarray[Any, Any] = buffer.as_numpy_array()
    return array.astype(dtype) if {array.dtype.kind, dtype.kind} <= set("OTU") else array
