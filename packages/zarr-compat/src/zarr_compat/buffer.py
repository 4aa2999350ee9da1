"""Buffers, as stores of zarr-python return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Buffer", "BufferPrototype", "default_buffer_prototype"]


class Buffer:
    """Bytes in shared memory.

    Parameters
    ----------
    data : bytes-like or array
        The memory; not copied.
    """

    def __init__(self, data: Any) -> None:
        is_array = hasattr(data, "__array_interface__")
        view = np.ascontiguousarray(data).data if is_array else memoryview(data)
        self._view = view.cast("B")

    @classmethod
    def from_bytes(cls, data: Any) -> Self:
        """Create a buffer from bytes."""
        return cls(data)

    @classmethod
    def from_array_like(cls, array: Any) -> Self:
        """Create a buffer from the elements of an array."""
        return cls(array)

    @classmethod
    def from_buffer(cls, buffer: Buffer) -> Self:
        """Create a buffer of the same memory."""
        return cls(buffer.as_buffer_like())

    @classmethod
    def create_zero_length(cls) -> Self:
        """Create an empty buffer."""
        return cls(b"")

    def to_bytes(self) -> bytes:
        """Return a copy."""
        return bytes(self._view)

    def as_buffer_like(self) -> memoryview:
        """Return the memory."""
        return self._view

    def as_numpy_array(self) -> np.ndarray[Any, Any]:
        """Return the memory as an array of bytes."""
        return np.frombuffer(self._view, "B")

    as_array_like = as_numpy_array

    def __len__(self) -> int:
        return len(self._view)

    def __getitem__(self, part: slice) -> Buffer:
        return Buffer(self._view[part])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Buffer) and self._view == other._view

    __hash__ = None  # type: ignore[assignment]  # the memory may change


class BufferPrototype(NamedTuple):
    """The buffer class of a reader, which is always the class of this module."""

    buffer: type[Buffer] = Buffer


def default_buffer_prototype() -> BufferPrototype:
    """Return the class of this module."""
    return BufferPrototype()
