"""The class ``zarr.Array`` of zarr-python 2, for programs whose other modules are zarr-python's.

Its functions and groups create an array by writing its metadata, then open it with this class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import nullcontext
from importlib import import_module
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr_core
from zarr_core.extension import StoreReadOnlyError
from zarr_core.optional import optional_function

from zarr_compat.foreign import METADATA_NAMES
from zarr_compat.indexing import split_fields
from zarr_compat.v2_members import digest, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from zarr_core.extension import Buffers, Change

__all__ = ["Array"]

# Stores of zarr-python 2 that several threads can use at once.
_CONCURRENT = {"DirectoryStore", "NestedDirectoryStore", "TempStore", "MemoryStore", "ZipStore"}


def _attribute(name: str, doc: str) -> Any:
    """Return a property for an attribute, or for one of ``core``."""
    return property(attrgetter(name), doc=doc)


def _metadata_member(name: str, doc: str) -> Any:
    """Return a property for a member of the metadata."""
    return property(lambda array: array._metadata[name], doc=doc)  # noqa: SLF001 - of the class below


def _reader(kind: str, doc: str) -> Any:
    """Return a method that reads selections of a kind."""

    def get(self: Array, selection: Any = ..., out: Any = None, fields: Any = None) -> Any:
        return self._read(kind, selection, out, fields)

    get.__doc__ = doc
    return get


def _writer(kind: str, doc: str) -> Any:
    """Return a method that writes selections of a kind."""

    def set_(self: Array, selection: Any, value: Any, fields: Any = None) -> None:
        self._set(kind, selection, value, fields)

    set_.__doc__ = doc
    return set_


class Array:
    """An array of version 2, with the interface of zarr-python 2.

    Pickles are those of zarr-python 2.

    Parameters
    ----------
    store : mutable mapping or str
        The store, a path, or a URL of fsspec.
    path : str, optional
        Path of the array in the store.
    read_only : bool
        Whether changes raise :class:`PermissionError`.
    chunk_store : mutable mapping or str, optional
        The store of chunks, if it is not that of the metadata.
    synchronizer : object, optional
        Locks by key, for writers.
    cache_metadata : bool
        Whether metadata are read once.
    cache_attrs : bool
        Whether attributes are read once.
    partial_decompress : bool
        Ignored: parts of chunks are decoded if that is faster.
    write_empty_chunks : bool
        Whether chunks that have only the fill value are stored.
    zarr_version : {2}, optional
        The format.
    meta_array : array, optional
        An array of the class of results; only arrays of NumPy are supported.

    Raises
    ------
    ValueError
        If the path has no array (an ``ArrayNotFoundError``), or another format is requested.
    TypeError
        If ``meta_array`` is not an array of NumPy.
    """

    __module__ = "zarr.core"  # where programs, and pickles, look for it

    def __init__(
        self,
        store: Any,
        path: str | None = None,
        read_only: bool = False,
        chunk_store: Any = None,
        synchronizer: Any = None,
        cache_metadata: bool = True,
        cache_attrs: bool = True,
        partial_decompress: bool = False,
        write_empty_chunks: bool = True,
        zarr_version: int | None = None,
        meta_array: Any = None,
    ) -> None:
        if zarr_version not in (None, 2):
            raise ValueError(
                f"cannot open an array with zarr_version={zarr_version}: install_as_zarr(version=2) "
                "supports version 2 only. Use install_as_zarr(version=3)"
            )
        if meta_array is not None and not isinstance(meta_array, np.ndarray):
            raise TypeError(
                f"meta_array must be an array of NumPy, not {type(meta_array)}; copy results to "
                "another device afterwards"
            )
        storage = import_module("zarr.storage")
        self._store = storage.normalize_store_arg(store, zarr_version=2)
        self._chunk_store = (
            None
            if chunk_store is None
            else storage.normalize_store_arg(chunk_store, zarr_version=2)
        )
        self._path: str = import_module("zarr.util").normalize_storage_path(path)
        self._read_only = bool(read_only)
        self._synchronizer = synchronizer
        self._cache_metadata = cache_metadata
        self._write_empty_chunks = write_empty_chunks
        self._is_view = False
        self._attrs = import_module("zarr.attrs").Attributes(
            self._store,
            key=f"{self._key_prefix}{storage.attrs_key}",
            read_only=read_only,
            synchronizer=synchronizer,
            cache=cache_attrs,
        )
        self._open({})

    def _open(self, changes: dict[str, Any]) -> None:
        """Read the metadata, change members of it for a view, and open the array of the core."""
        key = self._key_prefix + import_module("zarr.storage").array_meta_key
        try:
            stored = self._store[key]
        except KeyError:
            raise import_module("zarr.errors").ArrayNotFoundError(self._path) from None
        parsed = stored if isinstance(stored, Mapping) else json.loads(bytes(stored))
        document = {**parsed, **changes}
        self._metadata = self._store._metadata_class.decode_array_metadata(document)  # noqa: SLF001 - the module's own class
        view = {key: json.dumps(document).encode()} if changes else {}
        values = _ChunkLockingStore(
            _Values(self._store, self._chunk_store, view), self._synchronizer
        )
        if not {type(item).__name__ for item in (self._store, self.chunk_store)} <= _CONCURRENT:
            values.max_concurrency = 1
        self.core = zarr_core.open_array(
            values,
            "r+",
            path=self._path,
            zarr_format=2,
            config={"write_empty_chunks": self._write_empty_chunks},
        )
        if not self._cache_metadata:
            self.core = optional_function("cache_metadata=False")(self.core)

    # --- where it is ---

    store = _attribute("_store", "The store.")
    path = _attribute("_path", "The path in the store.")
    synchronizer = _attribute("_synchronizer", "The locks of writers.")
    write_empty_chunks = _attribute(
        "_write_empty_chunks", "Whether chunks that have only the fill value are stored."
    )
    is_view = _attribute("_is_view", "Whether this is a view of another array.")
    attrs = _attribute("_attrs", "The attributes.")
    _version = 2

    @property
    def chunk_store(self) -> Any:
        """The store of the chunks."""
        return self._store if self._chunk_store is None else self._chunk_store

    @property
    def name(self) -> str | None:
        """The path with a slash in front; None for the root."""
        return f"/{self._path}" if self._path else None

    @property
    def basename(self) -> str | None:
        """The last part of the path; None for the root."""
        return self._path.rpartition("/")[2] or None

    @property
    def read_only(self) -> bool:
        """Whether changes raise an error."""
        return self._read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._read_only = bool(value)

    @property
    def meta_array(self) -> np.ndarray[Any, Any]:
        """An array of the class of results."""
        return np.empty(())

    @property
    def _dimension_separator(self) -> str:
        separator: str = self._metadata.get("dimension_separator", ".")
        return separator

    @property
    def _key_prefix(self) -> str:
        return f"{self._path}/" if self._path else ""

    def _chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        key: str = self.core.stored.chunk_key(chunk_coords)
        return key

    # --- what it has ---

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.core.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self.resize(value)

    chunks = _metadata_member("chunks", "Shape of the chunks.")
    dtype = _metadata_member("dtype", "Data type of elements.")
    fill_value = _metadata_member("fill_value", "Value of elements that are not stored, or None.")
    order = _metadata_member("order", "Order of the elements of a chunk, and of results.")
    size = _attribute("core.size", "Number of elements.")
    nchunks = _attribute("core.nchunks", "Number of chunks.")
    nchunks_initialized = _attribute("core.nchunks_initialized", "Number of stored chunks.")

    @property
    def compressor(self) -> Any:
        """The compressor, or None."""
        config = self._metadata["compressor"]
        return None if config is None else import_module("numcodecs").get_codec(config)

    @property
    def filters(self) -> list[Any] | None:
        """The filters, or None."""
        get_codec = import_module("numcodecs").get_codec
        return [get_codec(config) for config in self._metadata["filters"] or ()] or None

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    itemsize = _attribute("dtype.itemsize", "Bytes of an element.")

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(self.size * self.itemsize)

    @property
    def nbytes_stored(self) -> int:
        """Bytes of all stored values, or -1 if the store does not know."""
        sizes = [
            import_module("zarr.storage").getsize(store, self._path)
            for store in (self._store, self._chunk_store)
            if store is not None
        ]
        return -1 if min(sizes) < 0 else sum(sizes)

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks in each dimension."""
        return self.core.cdata_shape or (1,)

    def digest(self, hashname: str = "sha1") -> bytes:
        """Return a checksum of the metadata and encoded chunks."""
        return digest(self.core, hashname)

    def hexdigest(self, hashname: str = "sha1") -> str:
        """Return the checksum in hexadecimal digits."""
        return digest(self.core, hashname).hex()

    # --- reading ---

    def __getitem__(self, selection: Any) -> Any:
        kind, index, fields = self._kind_of(selection)
        if kind == "coordinates":
            return self.vindex[selection]
        if kind == "orthogonal":
            return self.get_orthogonal_selection(index, fields=fields)
        return self.get_basic_selection(index, fields=fields)

    def _kind_of(self, selection: Any) -> tuple[str, Any, Any]:
        """Return the kind of an index by the rules of zarr-python 2, the index, and the fields."""
        indexing = import_module("zarr.indexing")
        fields, index = indexing.pop_fields(selection)
        if indexing.is_pure_fancy_indexing(index, self.ndim):
            return "coordinates", index, fields
        items = index if isinstance(index, tuple) else (index,)
        is_basic = all(isinstance(item, int | slice) for item in items)
        if not is_basic and indexing.is_pure_orthogonal_indexing(index, self.ndim):
            return "orthogonal", index, fields
        return "basic", index, fields  # which raises an error for arrays

    get_basic_selection = _reader("basic", "Read integers and slices.")
    get_orthogonal_selection = _reader(
        "orthogonal", "Read the outer product of a selection in each dimension."
    )
    get_coordinate_selection = _reader("coordinate", "Read single elements.")
    get_mask_selection = _reader(
        "mask", "Read the elements where a boolean array of the same shape is true."
    )
    get_block_selection = _reader("block", "Read whole chunks.")

    def _read(self, kind: str, selection: Any, out: Any, fields: Any) -> Any:
        self._refuse(kind, selection)
        read = getattr(self.core, f"get_{kind}_selection")
        result = self._result(read(selection, fields=self._field_names(fields)))
        if out is None:
            return result
        if not hasattr(out, "dtype"):
            raise TypeError(f"out must be an array, not {type(out)}")
        if np.shape(out) != np.shape(result):
            raise ValueError(
                f"out must have the shape of the selection, {np.shape(result)}, not {np.shape(out)}"
            )
        out[...] = result  # an array of NumPy or of Zarr
        return out

    def _refuse(self, kind: str, selection: Any) -> None:
        """Raise the errors of zarr-python 2 for selections that the core supports."""
        if kind == "block":  # blocks outside the array are empty in the core
            array = SimpleNamespace(_shape=self.shape, _chunks=self.chunks)
            import_module("zarr.indexing").BlockIndexer(selection, array)
        for item in selection if isinstance(selection, tuple) else (selection,):
            if kind == "orthogonal" and np.ndim(item) > 1:
                raise IndexError(
                    "index arrays of an orthogonal selection must have one dimension, not "
                    f"{np.ndim(item)}; use vindex"
                )
            if item is None:
                raise IndexError("None, for a new axis, is not supported by zarr-python 2")
            if isinstance(item, slice) and item.step is not None and item.step < 1:
                raise import_module("zarr.errors").NegativeStepError

    def _field_names(self, fields: Any) -> Any:
        """Return names of fields; an empty list stands for all."""
        if not isinstance(fields, str | list | tuple | None):
            raise IndexError(f"invalid fields: {fields!r}; pass names of {self.dtype.names}")
        return fields or None

    def _result(self, found: Any) -> Any:
        """Return elements as the dtype of the array: texts as objects."""
        if getattr(getattr(found, "dtype", None), "kind", "") == "T":
            return found.astype(object)
        return found

    @property
    def oindex(self) -> Any:
        """Orthogonal selections, as ``array.oindex[...]``."""
        return _Selections(self.get_orthogonal_selection, self.set_orthogonal_selection)

    @property
    def vindex(self) -> Any:
        """Selections of coordinates or a mask, as ``array.vindex[...]``."""

        def is_mask(index: Any) -> bool:
            items = index if isinstance(index, tuple) else (index,)
            return len(items) == 1 and np.asarray(items[0]).dtype.kind == "b"

        def read(index: Any, fields: Any = None) -> Any:
            method = self.get_mask_selection if is_mask(index) else self.get_coordinate_selection
            return method(index, fields=fields)

        def write(index: Any, value: Any, fields: Any = None) -> None:
            method = self.set_mask_selection if is_mask(index) else self.set_coordinate_selection
            method(index, value, fields=fields)

        return _Selections(read, write)

    @property
    def blocks(self) -> Any:
        """Selections of whole chunks, as ``array.blocks[...]``."""
        return _Selections(self.get_block_selection, self.set_block_selection)

    def islice(self, start: int | None = None, end: int | None = None) -> Iterator[Any]:
        """Iterate over a part of the first dimension."""
        for name, value in (("start", start), ("end", end)):
            if value is not None and (not isinstance(value, int) or value < 0):
                raise ValueError(f"{name} must be an integer of at least 0, not {value!r}")
        if not self.shape:
            if (start or 0) >= (1 if end is None else end):
                return iter(())
            raise TypeError("iteration over an array without dimensions")
        return map(self._result, rows(self.core, start, end))

    def __iter__(self) -> Iterator[Any]:
        return self.islice()

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("copy=False is not possible: reading from a store always copies")
        return np.asarray(self[...], dtype)

    # --- writing ---

    def __setitem__(self, selection: Any, value: Any) -> None:
        kind, index, fields = self._kind_of(selection)
        if kind == "coordinates":
            self.vindex[selection] = value
        elif kind == "orthogonal":
            self.set_orthogonal_selection(index, value, fields=fields)
        else:
            self.set_basic_selection(index, value, fields=fields)

    set_basic_selection = _writer("basic", "Write integers and slices.")
    set_orthogonal_selection = _writer(
        "orthogonal", "Write the outer product of a selection in each dimension."
    )
    set_coordinate_selection = _writer("coordinate", "Write single elements.")
    set_mask_selection = _writer(
        "mask", "Write the elements where a boolean array of the same shape is true."
    )
    set_block_selection = _writer("block", "Write whole chunks.")

    def _set(self, kind: str, selection: Any, value: Any, fields: Any) -> None:
        self._refuse(kind, selection)
        names = self._field_names(fields)
        if isinstance(names, list | tuple):
            if len(names) > 1:
                raise IndexError(
                    f"only one field can be written at once, not {names}; write them one by one"
                )
            names = names[0]
        write = getattr(self.core, f"set_{kind}_selection")
        self._write(write, selection, _elements(value), fields=names)

    def resize(self, *args: Any) -> None:
        """Change the shape; chunks outside of it are removed."""
        self._change(self.core.resize, *args)

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Append elements, and return the new shape."""
        shape: tuple[int, ...] = self._change(self.core.append, _elements(data), axis)
        return shape

    def _write(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if self._read_only:
            raise import_module("zarr.errors").ReadOnlyError
        try:
            return function(*arguments, **options)
        except StoreReadOnlyError as error:
            raise PermissionError(str(error)) from error

    def _change(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Change the shape; several writers wait for each other."""
        if self._is_view and not self._read_only:
            raise PermissionError("operation not permitted for views")
        key = self._key_prefix + import_module("zarr.storage").array_meta_key
        with nullcontext() if self._synchronizer is None else self._synchronizer[key]:
            if not self._cache_metadata:
                self.core.refresh()
            return self._write(function, *arguments)

    # --- views ---

    def view(
        self,
        shape: Any = None,
        chunks: Any = None,
        dtype: Any = None,
        fill_value: Any = None,
        filters: Sequence[Any] | None = None,
        read_only: bool | None = None,
        synchronizer: Any = None,
    ) -> Array:
        """Return an array of the same chunks, with other metadata.

        Parameters
        ----------
        shape, chunks, dtype, fill_value, filters
            The metadata that differ.
        read_only : bool, optional
            Whether changes raise an error.
        synchronizer : object, optional
            Locks of writers.
        """
        util = import_module("zarr.util")
        encode = self._store._metadata_class  # noqa: SLF001 - the module's own class
        native = self.dtype if dtype is None else np.dtype(dtype)
        lengths = self.shape if shape is None else util.normalize_shape(shape)
        changes: dict[str, Any] = {"shape": list(lengths)}
        if dtype is not None:
            changes["dtype"] = encode.encode_dtype(native)
        if chunks is not None:
            changes["chunks"] = list(util.normalize_chunks(chunks, lengths, native.itemsize))
        value = self.fill_value if fill_value is None else fill_value
        try:
            value = util.normalize_fill_value(value, native)
        except (OverflowError, TypeError, ValueError):  # not an element of the dtype of the view
            if fill_value is not None:
                raise
            same_size = native.itemsize == self.itemsize
            value = np.asarray(value, self.dtype).view(native)[()] if same_size else None
        changes["fill_value"] = encode.encode_fill_value(value, native)
        if filters is not None:
            changes["filters"] = [codec.get_config() for codec in filters] or None
        found = Array(**{**self.__getstate__(), "cache_metadata": True})
        found._is_view = True
        found._read_only = self._read_only if read_only is None else read_only
        found._synchronizer = synchronizer or self._synchronizer
        found._open(changes)
        return found

    def astype(self, dtype: Any) -> Array:
        """Return a read-only view that casts elements when they are read."""
        found = _Cast(**self.__getstate__())
        found.target = np.dtype(dtype)
        found._is_view = found._read_only = True  # noqa: SLF001 - of this class
        return found

    # --- the object ---

    @property
    def info(self) -> Any:
        """Information about the array, as a table."""
        return import_module("zarr.util").InfoReporter(self)

    def info_items(self) -> list[tuple[str, str]]:
        """Return the rows of :attr:`info`."""
        filters = [(f"Filter [{i}]", repr(codec)) for i, codec in enumerate(self.filters or ())]
        stored, nbytes = self.nbytes_stored, self.nbytes
        rows = [
            ("Name", self.name),
            ("Type", _type_of(self)),
            ("Data type", str(self.dtype)),
            ("Shape", str(self.shape)),
            ("Chunk shape", str(self.chunks)),
            ("Order", self.order),
            ("Read-only", str(self.read_only)),
            *filters,
            ("Compressor", repr(self.compressor)),
            ("Synchronizer type", self._synchronizer and _type_of(self._synchronizer)),
            ("Store type", _type_of(self._store)),
            ("Chunk store type", self._chunk_store is not None and _type_of(self._chunk_store)),
            ("No. bytes", _bytes(nbytes)),
            ("No. bytes stored", stored > 0 and _bytes(stored)),
            ("Storage ratio", stored > 0 and f"{nbytes / stored:.1f}"),
            ("Chunks initialized", f"{self.nchunks_initialized}/{self.nchunks}"),
        ]
        return [(name, str(value)) for name, value in rows if value not in (None, False)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Array)
            and self._store == other._store
            and self._read_only == other._read_only
            and self._path == other._path
            and not self._is_view
        )

    __hash__ = None  # type: ignore[assignment]  # as in zarr-python 2

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        suffix = " read-only" if self.read_only else ""
        return f"<zarr.core.Array{name} {self.shape} {self.dtype}{suffix}>"

    def __getstate__(self) -> dict[str, Any]:
        return {
            "store": self._store,
            "path": self._path,
            "read_only": self._read_only,
            "chunk_store": self._chunk_store,
            "synchronizer": self._synchronizer,
            "cache_metadata": self._cache_metadata,
            "cache_attrs": self._attrs.cache,
            "partial_decompress": False,
            "write_empty_chunks": self._write_empty_chunks,
            "zarr_version": 2,
            "meta_array": None,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # as zarr-python 2 does


class _Cast(Array):
    """A view that casts elements."""

    target = np.dtype("f8")

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.target

    def _result(self, found: Any) -> Any:
        return np.asarray(found).astype(self.target, copy=False)[()]

    def __reduce_ex__(self, protocol: Any) -> Any:
        # In zarr-python 2, a pickled view is the array.  Protocol 1, because later ones require
        # that the class of the result is that of this object.
        return Array(**self.__getstate__()).__reduce_ex__(1)


class _Selections:
    """``array.oindex`` and others."""

    def __init__(self, read: Callable[..., Any], write: Callable[..., Any]) -> None:
        self._read = read
        self._write = write

    def __getitem__(self, selection: Any) -> Any:
        index, fields = split_fields(selection)
        return self._read(index, fields=fields)

    def __setitem__(self, selection: Any, value: Any) -> None:
        index, fields = split_fields(selection)
        self._write(index, value, fields=fields)


class _Values(MutableMapping[str, Any]):
    """The values of an array: metadata in one store, chunks perhaps in another.

    Parameters
    ----------
    store, chunk_store : mutable mapping
        The stores; ``chunk_store`` is None if they are the same.
    view : dict
        The metadata of a view, which are not stored.
    """

    def __init__(self, store: Any, chunk_store: Any, view: dict[str, bytes]) -> None:
        self._store = store
        self._chunk_store = store if chunk_store is None else chunk_store
        self._view = view

    def _of(self, key: str) -> Any:
        return self._store if key.rpartition("/")[2] in METADATA_NAMES else self._chunk_store

    def __getitem__(self, key: str) -> Any:
        value = self._view[key] if key in self._view else self._of(key)[key]
        return json.dumps(value).encode() if isinstance(value, dict) else value  # consolidated

    def __setitem__(self, key: str, value: Any) -> None:
        self._of(key)[key] = value

    def __delitem__(self, key: str) -> None:
        del self._of(key)[key]

    def __contains__(self, key: object) -> bool:
        return key in self._view or key in self._of(str(key))

    def __iter__(self) -> Iterator[str]:
        yield from self._store
        if self._chunk_store is not self._store:
            yield from self._chunk_store

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _ChunkLockingStore(zarr_core.MemoryStore):
    """A store in a mapping; writers of a chunk hold its lock.

    The caller has the lock of the metadata, which need not be reentrant.
    """

    def __init__(self, values: _Values, synchronizer: Any) -> None:
        super().__init__(values)
        self._without_locks = zarr_core.MemoryStore(values)
        self._synchronizer = synchronizer

    def _lock(self, key: str) -> AbstractContextManager[Any]:
        if self._synchronizer is None or key.rpartition("/")[2] in METADATA_NAMES:
            return nullcontext()
        lock: AbstractContextManager[Any] = self._synchronizer[key]
        return lock

    def set(self, key: str, value: Buffers) -> None:
        with self._lock(key):
            self._without_locks.set(key, value)

    def update(self, key: str, change: Change) -> None:
        with self._lock(key):
            self._without_locks.update(key, change)

    def erase(self, key: str) -> None:
        with self._lock(key):
            self._without_locks.erase(key)


def _elements(value: Any) -> Any:
    return value[...] if isinstance(value, Array) else value


def _type_of(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__name__}"


def _bytes(number: int) -> str:
    readable = import_module("zarr.util").human_readable_size(number)
    return f"{number} ({readable})" if number > 1024 else str(number)
