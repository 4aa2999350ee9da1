"""The class ``zarr.Array``."""

from __future__ import annotations

from collections.abc import Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import zarr_core
from zarr_core.engine.chain import codec_definition

from zarr_compat.adapt import adapt, resolve_store
from zarr_compat.asynchronous import AsyncArray
from zarr_compat.codecs import numcodecs_of, v3_codec_of
from zarr_compat.errors import IrregularChunksError, translate_errors
from zarr_compat.indexing import cut_at_end, kind_of, split_fields
from zarr_compat.metadata import metadata_of_array, metadata_of_document
from zarr_compat.node import Node
from zarr_compat.open_nodes import create, open_array
from zarr_compat.v2_members import cast_view, digest, item, reinterpreted_view, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Array"]


class ArrayConfig(NamedTuple):
    """The settings of an array."""

    order: str
    write_empty_chunks: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the settings by name."""
        return self._asdict()


class Array(Node[zarr_core.Array], wraps=zarr_core.Array):
    """An array of the core with the interface of zarr-python.

    An index with one array, or with masks for all dimensions, selects an outer product, as
    in zarr-python: ``array[0, :, [0, 1]]`` of shape (2, 3, 4) has shape (3, 2), with NumPy and
    the core (2, 3).  Several arrays combined with slices raise an error.

    Codecs of version 3 are those of :mod:`zarr_compat.codecs`, those of version 2 are objects of
    numcodecs.  For irregular chunks, :attr:`chunks` raises.
    """

    def __init__(self, core: Any = None, store: Any = None, **options: Any) -> None:
        super().__init__(core, store, **options)
        stored = self.core.stored
        if self.core.metadata.fill_value_undefined and stored.resolved.write_empty_chunks is False:
            # Zeros are not stored either, as in zarr-python 3, which reads missing chunks as zeros.
            self.core = zarr_core.Array(stored.with_metadata(stored.metadata, "never"))

    __class_getitem__: Any = classmethod(GenericAlias)  # Array[ArrayV3Metadata] in annotations

    @classmethod
    def _open(
        cls, store: Any, *, path: str | None = None, read_only: bool = False, **options: Any
    ) -> Array:
        array: Array = open_array(store, mode="r" if read_only else "r+", path=path, **options)
        return array

    @classmethod
    def open(cls, store: Any) -> Array:
        """Open an array at a location."""
        mode = "r" if getattr(store, "read_only", False) else "r+"
        array: Array = open_array(store, mode=mode)
        return array

    @classmethod
    def create(cls, store: Any, **options: Any) -> Array:
        """Create an array at a location; see :func:`zarr_core.create`."""
        array: Array = create(store=store, **options)
        return array

    @classmethod
    def from_dict(cls, store_path: Any, data: Mapping[str, Any]) -> Array:
        """Return the array for a metadata document with its attributes; the store is not accessed."""
        location, path, store = resolve_store(store_path)
        metadata = metadata_of_document(data)
        array: Array = adapt(zarr_core.array_from_metadata, store)(
            location, metadata, path=path, zarr_format=data["zarr_format"]
        )
        return array

    @property
    def metadata(self) -> Any:
        """The metadata, under the names of its format."""
        return metadata_of_array(self.core, self.live_attributes.values(self.core))

    @property
    def config(self) -> ArrayConfig:
        """The settings of this array."""
        stored = self.core.stored
        order = stored.result_order or stored.resolved.order
        return ArrayConfig(order, stored.resolved.write_empty_chunks is True)

    @property
    def is_view(self) -> bool:
        """False: views of arrays are objects of another class."""
        return False

    @property
    def order(self) -> str:
        """The order of results in memory; in version 2, that of the elements of a chunk."""
        order: str = self.core.order if self.core.zarr_format == 2 else self.config.order
        return order

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the chunks; with shards, of the inner chunks."""
        return _uniform(self.core.chunks, "read_chunk_sizes")

    @property
    def shards(self) -> tuple[int, ...] | None:
        """Shape of the shards, or None."""
        lengths = self.core.shards
        return None if lengths is None else _uniform(lengths, "write_chunk_sizes")

    @property
    def filters(self) -> tuple[Any, ...]:
        """The array -> array codecs; in version 2 all filters."""
        definitions = map(codec_definition, self.core.filters)
        if self.core.zarr_format == 3:
            return tuple(map(v3_codec_of, definitions))
        return tuple(map(numcodecs_of, definitions))

    @property
    def serializer(self) -> Any:
        """The array -> bytes codec; None in version 2, which has no serializer."""
        if self.core.zarr_format < 3:
            return None
        return v3_codec_of(codec_definition(self.core.serializer))

    @property
    def compressors(self) -> tuple[Any, ...]:
        """The bytes -> bytes codecs."""
        made = v3_codec_of if self.core.zarr_format == 3 else numcodecs_of
        return tuple(map(made, map(codec_definition, self.core.compressors)))

    @property
    def compressor(self) -> Any:
        """The compressor of version 2."""
        if self.core.zarr_format == 3:
            raise TypeError("arrays of version 3 have no compressor; use compressors")
        return next(iter(self.compressors), None)

    @property
    def oindex(self) -> _Selections:
        """Orthogonal selections, as ``array.oindex[...]``."""
        return _Selections(self.core.oindex, self.core.shape)

    @property
    def vindex(self) -> _Selections:
        """Selections of coordinates or a mask, as ``array.vindex[...]``."""
        return _Selections(self.core.vindex)

    @property
    def blocks(self) -> _Selections:
        """Selections of whole chunks, as ``array.blocks[...]``."""
        return _Selections(self.core.blocks)

    @property
    def async_(self) -> AsyncArray:
        """The array with asynchronous methods."""
        return AsyncArray(self)

    async_array = _async_array = async_

    def with_config(self, config: Any) -> Array:
        """Return the array with other settings, those of ``config``; the others remain."""
        changes = dict(config) if isinstance(config, Mapping) else config.to_dict()
        mode = "r" if self.core.read_only else "r+"
        array: Array = open_array(
            self.store_path, mode=mode, config={**self.config.to_dict(), **changes}
        )
        array.live_attributes = self.live_attributes
        return array

    def resize(self, new_shape: Any, *more: Any, **options: Any) -> None:
        """Change the shape, and store attributes that were changed in place."""
        self.attrs.update()
        adapt(self.core.resize)(new_shape, *more, **options)

    def append(self, data: Any, axis: int = 0, **options: Any) -> tuple[int, ...]:
        """Add elements at the end of one dimension, and store attributes that were changed in place."""
        self.attrs.update()
        shape: tuple[int, ...] = adapt(self.core.append)(data, axis, **options)
        return shape

    def nbytes_stored(self) -> int:
        """Return the number of stored bytes, including metadata, as in zarr-python."""
        return int(zarr_core.getsize(self.core))

    # --- members of zarr-python 2 ---

    @property
    def itemsize(self) -> int:
        """Bytes of an element in memory."""
        return self.core.dtype.itemsize

    def astype(self, dtype: Any) -> Any:
        """Return a view of the array that casts elements when they are read."""
        return cast_view(self.core, dtype)

    def view(self, dtype: Any) -> Any:
        """Return a view of the array that reinterprets elements when they are read."""
        return reinterpreted_view(self.core, dtype)

    def digest(self, hashname: str = "sha1") -> bytes:
        """Return a checksum of the encoded chunks and the metadata."""
        return digest(self.core, hashname)

    def hexdigest(self, hashname: str = "sha1") -> str:
        """Return the checksum of :meth:`digest` in hexadecimal digits."""
        return self.digest(hashname).hex()

    @translate_errors
    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over a slice of the first dimension, reading each row of chunks once."""
        return rows(self.core, start, end)

    @translate_errors
    def item(self, *index: int) -> Any:
        """Return one element as a Python object; without an index, the only one of the array."""
        return item(self.core, *index)

    # --- special methods, which Python looks up in the class ---

    @translate_errors
    def __getitem__(self, selection: Any) -> Any:
        index, fields = split_fields(selection)
        match kind_of(index, self.core.ndim):
            case "orthogonal":
                return self.core.get_orthogonal_selection(index, fields=fields)
            case "basic":  # raises for arrays
                return self.core.get_basic_selection(index, fields=fields)
        return self.core[selection]

    @translate_errors
    def __setitem__(self, selection: Any, value: Any) -> None:
        value = value.core if isinstance(value, Array) else value
        try:
            self._set(selection, value)
        except ValueError:
            strings = _as_strings(value, self.core.dtype)
            if strings is None:
                raise
            self._set(selection, strings)

    def _set(self, selection: Any, value: Any) -> None:
        index, fields = split_fields(selection)
        value = cut_at_end(index, value, self.core.shape)
        match kind_of(index, self.core.ndim):
            case "orthogonal":
                self.core.set_orthogonal_selection(index, value, fields=fields)
            case "basic":
                self.core.set_basic_selection(index, value, fields=fields)
            case _:
                self.core[selection] = value

    def set_basic_selection(self, selection: Any, value: Any, **options: Any) -> None:
        """Write the elements of a basic selection."""
        value = cut_at_end(selection, value, self.core.shape)
        adapt(self.core.set_basic_selection)(selection, value, **options)

    def set_orthogonal_selection(self, selection: Any, value: Any, **options: Any) -> None:
        """Write the elements of an orthogonal selection."""
        value = cut_at_end(selection, value, self.core.shape)
        adapt(self.core.set_orthogonal_selection)(selection, value, **options)

    @translate_errors
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.core.__array__(dtype, copy)

    def __len__(self) -> int:
        return len(self.core)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.core)

    def __bool__(self) -> bool:
        return True  # as in zarr-python, which has no length

    def __dask_tokenize__(self) -> Any:
        return self.core.__dask_tokenize__()


class _Selections:
    """Selections of the core, which raise the errors of zarr-python.

    ``core`` is ``array.oindex`` or another of the core; ``shape`` is given if values are cut at the
    end of the array.
    """

    def __init__(self, core: Any, shape: tuple[int, ...] = ()) -> None:
        self._core = core
        self._shape = shape

    @translate_errors
    def __getitem__(self, selection: Any) -> Any:
        return self._core[selection]

    @translate_errors
    def __setitem__(self, selection: Any, value: Any) -> None:
        self._core[selection] = cut_at_end(selection, value, self._shape) if self._shape else value


def _as_strings(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return objects as the strings that zarr-python stores, such as ``"nan"``; otherwise None."""
    array = np.asarray(value)
    if array.dtype != object or dtype.kind not in "OT":
        return None
    try:
        return array.astype(np.dtypes.StringDType())
    except (TypeError, ValueError):
        return None


def _uniform(shape: tuple[Any, ...], instead: str) -> tuple[int, ...]:
    if any(isinstance(length, tuple) for length in shape):
        raise IrregularChunksError(f"the chunks are irregular; use {instead}")
    return shape
