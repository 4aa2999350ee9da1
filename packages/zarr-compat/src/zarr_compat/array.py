"""The class ``zarr.Array``."""

from __future__ import annotations

from operator import index as as_integer
from typing import TYPE_CHECKING, Any

import zarr_core
from zarr_core.tools import codec_definition

from zarr_compat.asynchronous import AsyncArray
from zarr_compat.codecs import codec_of, numcodecs_of
from zarr_compat.errors import IrregularChunksError
from zarr_compat.indexing import kind_of, split_fields
from zarr_compat.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zarr_compat.codecs import Codec

__all__ = ["Array"]


class Array(Node[zarr_core.Array], wraps=zarr_core.Array):
    """An array of the core with the interface of zarr-python.

    An index with one array, or with masks for all dimensions, selects an outer product, as
    in zarr-python: ``array[0, :, [0, 1]]`` of shape (2, 3, 4) has shape (3, 2), with NumPy and
    the core (2, 3).  Several arrays combined with slices raise an error.

    Codecs of version 3 are those of :mod:`zarr_compat.codecs`, those of version 2 are objects of
    numcodecs.  For irregular chunks, :attr:`chunks` raises.
    """

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the chunks; with shards, of the inner chunks."""
        return _uniform(self.core.chunks, "read_chunk_sizes")

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of the shards, or None."""
        found = self.core.shards
        return None if found is None else _uniform(found, "write_chunk_sizes")

    @property
    def filters(self) -> tuple[Any, ...] | None:
        """The array -> array codecs; in version 2 all filters, None if there are none."""
        found = map(codec_definition, self.core.filters)
        if self.core.zarr_format == 3:
            return tuple(map(codec_of, found))
        return tuple(map(numcodecs_of, found)) or None

    @property
    def serializer(self) -> Codec | None:
        """The array -> bytes codec; None in version 2, which has no serializer."""
        if self.core.zarr_format < 3:
            return None
        return codec_of(codec_definition(self.core.serializer))

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The bytes -> bytes codecs."""
        made = codec_of if self.core.zarr_format == 3 else numcodecs_of
        return tuple(map(made, map(codec_definition, self.core.compressors)))

    @property
    def compressor(self) -> Any:
        """The compressor of version 2.

        Raises
        ------
        TypeError
            If the array is of version 3: use :attr:`compressors`.
        """
        if self.core.zarr_format == 3:
            raise TypeError("arrays of version 3 have no compressor; use compressors")
        return next(iter(self.compressors), None)

    @property
    def async_(self) -> AsyncArray:
        """The array with asynchronous methods."""
        return AsyncArray(self)

    async_array = _async_array = async_

    # --- special methods, which Python looks up in the class ---

    def __getitem__(self, selection: Any) -> Any:
        index, fields = split_fields(selection)
        match kind_of(index, self.core.ndim):
            case "orthogonal":
                return self.core.get_orthogonal_selection(index, fields=fields)
            case "basic":  # raises for arrays
                return self.core.get_basic_selection(index, fields=fields)
        return self.core[selection]

    def __setitem__(self, selection: Any, value: Any) -> None:
        value = value.core if isinstance(value, Array) else value
        index, fields = split_fields(selection)
        match kind_of(index, self.core.ndim):
            case "orthogonal":
                self.core.set_orthogonal_selection(index, value, fields=fields)
            case "basic":
                self.core.set_basic_selection(index, value, fields=fields)
            case _:
                self.core[selection] = value

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
        raise IrregularChunksError(f"the chunks are irregular; use {instead}")
    return shape
