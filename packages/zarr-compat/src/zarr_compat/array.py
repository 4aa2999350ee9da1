"""The array that programs get."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import zarr_core

from zarr_compat.asynchronous import AsyncArray
from zarr_compat.codecs import codec_of, definitions_of, numcodecs_of
from zarr_compat.errors import NoOneShapeError
from zarr_compat.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_compat.codecs import Codec

__all__ = ["Array"]


class Array(Node[zarr_core.Array]):
    """An array of the core, with what zarr-python has otherwise.

    Codecs of version 3 are those of :mod:`zarr_compat.codecs`, those of version 2 are objects of
    numcodecs.  Chunks of differing lengths have no one shape: :attr:`chunks` raises.
    """

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the chunks, of the inner ones if there are shards."""
        return _uniform(self.core.chunks, "read_chunk_sizes")

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of the shards, or None."""
        found = self.core.shards
        return None if found is None else _uniform(found, "write_chunk_sizes")

    @property
    def filters(self) -> tuple[Any, ...] | None:
        """The array to array codecs; of version 2 None if there are none."""
        found = definitions_of(self.core)
        count = len(self.core.filters)
        if self.core.zarr_format == 3:
            return tuple(map(codec_of, found[:count]))
        # What the order of elements and of bytes made of them is no filter there.
        named = [item for item in found[: count + 1] if item.name not in ("transpose", "bytes")]
        return tuple(map(numcodecs_of, named)) or None

    @property
    def serializer(self) -> Codec | None:
        """The array to bytes codec; None for version 2, which has no word for it."""
        if self.core.zarr_format < 3:
            return None
        return codec_of(definitions_of(self.core)[len(self.core.filters)])

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The bytes to bytes codecs."""
        made = codec_of if self.core.zarr_format == 3 else numcodecs_of
        return tuple(map(made, definitions_of(self.core)[len(self.core.filters) + 1 :]))

    @property
    def compressor(self) -> Any:
        """The compressor of version 2.

        Raises
        ------
        TypeError
            If the array is of version 3, which may have several: see :attr:`compressors`.
        """
        if self.core.zarr_format == 3:
            raise TypeError("an array of version 3 has compressors, not one compressor")
        return next(iter(self.compressors), None)

    @property
    def async_(self) -> AsyncArray:
        """The same for programs with an event loop."""
        return AsyncArray(self)

    async_array = _async_array = async_

    # --- what Python asks the class for ---

    def __getitem__(self, selection: Any) -> Any:
        return self.core[selection]

    def __setitem__(self, selection: Any, value: Any) -> None:
        self.core[selection] = value.core if isinstance(value, Array) else value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.core.__array__(dtype, copy)

    def __len__(self) -> int:
        return len(self.core)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.core)

    def __bool__(self) -> bool:
        return bool(self.core)

    def __int__(self) -> int:
        return int(self.core)

    def __float__(self) -> float:
        return float(self.core)

    def __complex__(self) -> complex:
        return complex(self.core)

    def __index__(self) -> int:
        return as_integer(self.core)

    def __dask_tokenize__(self) -> Any:
        return self.core.__dask_tokenize__()


def _uniform(shape: tuple[Any, ...], instead: str) -> tuple[int, ...]:
    if any(isinstance(length, tuple) for length in shape):
        raise NoOneShapeError(f"chunks of differing lengths have no one shape; see {instead}")
    return shape
