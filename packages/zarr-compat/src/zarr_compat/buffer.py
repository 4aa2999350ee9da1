"""Bytes as stores of zarr-python hand them out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Buffer", "BufferPrototype", "NDBuffer", "default_buffer_prototype"]


class Buffer:
    """Bytes that somebody else may hold as well.

    Parameters
    ----------
    data : bytes-like or array
        What it holds; not copied.
    """

    def __init__(self, data: Any) -> None:
        is_array = hasattr(data, "__array_interface__")
        view = np.ascontiguousarray(data).data if is_array else memoryview(data)
        self._view = view.cast("B")

    @classmethod
    def from_bytes(cls, data: Any) -> Self:
        """The buffer of some bytes."""
        return cls(data)

    @classmethod
    def from_array_like(cls, array: Any) -> Self:
        """The buffer of the elements of an array."""
        return cls(array)

    @classmethod
    def from_buffer(cls, buffer: Buffer) -> Self:
        """A buffer of the same memory."""
        return cls(buffer.as_buffer_like())

    @classmethod
    def create_zero_length(cls) -> Self:
        """A buffer of nothing."""
        return cls(b"")

    def to_bytes(self) -> bytes:
        """A copy."""
        return bytes(self._view)

    def as_buffer_like(self) -> memoryview:
        """The memory itself."""
        return self._view

    def as_numpy_array(self) -> np.ndarray[Any, Any]:
        """The memory as bytes of NumPy."""
        return np.frombuffer(self._view, "B")

    as_array_like = as_numpy_array

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, part: slice) -> Buffer:
        return Buffer(self._view[part])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self._view == other._view

    __hash__ = None  # type: ignore[assignment]  # the memory may change


class NDBuffer:
    """Elements of an array.

    Parameters
    ----------
    array : ndarray
        What it holds; not copied.
    """

    def __init__(self, array: Any) -> None:
        self._array = np.asarray(array)

    @classmethod
    def from_numpy_array(cls, array: Any) -> Self:
        """The buffer of an array."""
        return cls(array)

    def as_numpy_array(self) -> np.ndarray[Any, Any]:
        """The array."""
        return self._array

    as_ndarray_like = as_numpy_array


class BufferPrototype(NamedTuple):
    """Which classes a reader wants; here there are no others."""

    buffer: type[Buffer] = Buffer
    nd_buffer: type[NDBuffer] = NDBuffer


def default_buffer_prototype() -> BufferPrototype:
    """The classes of this module."""
    return BufferPrototype()
