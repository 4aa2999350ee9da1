"""Plans: which arrays compiled code can process, and how.

A plan is created only if everything that the metadata says is in the lists below.  Anything else
is left to Python.
"""

from __future__ import annotations

import re
import sys
from dataclasses import fields
from enum import Enum
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from zarr_core.engine.read import read_open
from zarr_core.engine.scratch import Scratch, remote_memory
from zarr_core.extension import (
    BasicIndexer,
    ByteRange,
    ChunkDecodeError,
    CoordinateIndexer,
    NativePlan,
    OrthogonalIndexer,
    Store,
    check_prefix,
)
from zarr_core.selection.projection import project
from zarr_core.threads import available_threads, parallel_for

from zarr_native import _native
from zarr_native.codecs import class_name, native_form

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from zarr_core.engine.chain import PreparedCodecChain
    from zarr_core.extension import Buffer, ByteReader, StoredArray
    from zarr_core.selection.projection import ChunkProjection

    Array = np.ndarray[Any, Any]
    Coordinates = Collection[tuple[int, ...]]

# What a plan understands.  Names of the attributes and dimensions do not matter for elements.
_MEMBERS = frozenset({
    "shape", "data_type", "chunk_grid", "chunk_key_encoding", "codecs", "fill_value",
    "storage_transformers", "dimension_names", "attributes", "additional_fields", "document",
    "nonstandard", "fill_value_undefined", "data_type_fallbacks", "chunk_memory_layout",
})  # fmt: skip
_GRIDS = {"zarr_core.chunk_grids.RegularGrid"}
_KEY_ENCODINGS = {
    "zarr_core.chunk_key_encodings.DefaultEncoding",
    "zarr_core.chunk_key_encodings.V2Encoding",
}
_BYTES = "zarr_core.codecs.bytes.BytesCodec"
_TRANSPOSE = "zarr_codecs.transpose.TransposeCodec"
_CRC32C = "zarr_codecs.crc32c.Crc32cCodec"
_MEMORY = "zarr_core.stores.memory.MemoryStore"
_SHARDING = "zarr_sharding.codec.ShardingCodec"

_MAX_ITEM = 256  # bytes, as in native.h
_MAX_CODECS = 8
_MAX_KEY = 1000  # bytes, less than in native.h
_MAX_DIMS = 32
_POINTS_PER_CHUNK = 1000  # NumPy is faster for more points
_LARGE_NBYTES = 1 << 17  # larger chunks of remote stores count for the limit of memory
# The limit for chunks that are written to memory: Python does not copy larger ones.
_MAX_CHUNK_NBYTES = 1 << 21
_MAX_INNER_NBYTES = 1 << 17  # the same for inner chunks of shards
_NO_LIMIT = (1 << 62) - 1
_PLAIN_KEY = re.compile(r"[^\\\0]*").fullmatch


def create_plan(array: StoredArray) -> NativePlan | str:
    """Return the plan of an array, or the reason why compiled code cannot process it."""
    if sys.byteorder != "little":
        return "only machines with little-endian byte order are supported"
    try:
        return _plan(array)
    except _NotSupportedError as error:
        return str(error)
    except (ValueError, OverflowError) as error:  # from the compiled code
        return str(error)


class _NotSupportedError(Exception):
    """Something that compiled code does not do; the message says what."""


def _require(condition: object, otherwise: str) -> None:
    if not condition:
        raise _NotSupportedError(otherwise)


class Where(Enum):
    """Where the values of a store are."""

    FILES = 0
    MEMORY = 1
    REMOTE = 2


class Plan(NativePlan):
    """The plan of an array."""

    __slots__ = (
        "_is_large",
        "_outer",
        "_plan",
        "_result",
        "_view",
        "_where",
        "_writes",
        "dtype",
    )

    def __init__(
        self,
        plan: Any,
        dtype: np.dtype[Any],
        outer: tuple[int, ...],
        nbytes: int,
        *,
        where: Where,
        writes: bool,
        result: np.dtype[Any] | None,
    ) -> None:
        self._plan = plan
        self.dtype = dtype
        # Elements without a number in the buffer protocol, such as times, as plain bytes.
        is_number = dtype.isbuiltin == 1 and dtype.kind in "biufc"
        self._view = None if is_number else f"V{dtype.itemsize}"
        self._outer = outer
        self._where = where
        self._writes = writes
        # The dtype of results in C order; None if read_index() is not supported.
        self._result = result if self._view is None and where is not Where.REMOTE else None
        self._is_large = nbytes > _LARGE_NBYTES

    def read_index(self, array: StoredArray, index: Any) -> Any:
        if self._result is None:
            return None
        values = array.chunk_store.get if self._where is Where.MEMORY else None
        return _native.read_index(
            self._plan, index, np.empty, self._result, available_threads, values
        )

    def read(self, array: StoredArray, selection: Any, out: Array) -> Coordinates | None:
        dtype = out.dtype
        if dtype is not self.dtype and dtype != self.dtype:
            return None
        kind, where = type(selection), self._where
        if where is Where.REMOTE:
            return set(self._read_remote(array, selection, out)) if kind is BasicIndexer else None
        if self._view is not None:
            out = out.view(self._view)
        values = _getter(array) if where is Where.MEMORY else None
        left: Any = None
        if kind is BasicIndexer or kind is OrthogonalIndexer:
            left = _native.read_box(self._plan, selection.index, out, available_threads, values)
        elif kind is CoordinateIndexer and (index := selection.index):
            chunks = prod([axis.count for axis in array.axes], start=array.codecs.inner_chunk_count)
            if len(index[0]) <= _POINTS_PER_CHUNK * chunks:
                left = _native.read_points(self._plan, index, out, available_threads, values)
        return None if left is None else set(left)

    def write(self, array: StoredArray, selection: Any, value: Array) -> Coordinates | None:
        if type(selection) is not BasicIndexer or not self._writes or array.read_only:
            return None
        if any(part.step != 1 for part in selection.index):
            return None
        if self._view is not None:
            value = value.view(self._view)
        keep = _setter(array.chunk_store) if self._where is Where.MEMORY else None
        left = _native.write_box(self._plan, selection.index, value, available_threads, keep)
        return None if left is None else set(left)

    def _read_remote(
        self, array: StoredArray, selection: BasicIndexer, out: Array
    ) -> list[tuple[int, ...]]:
        """Decode and copy each value in the thread that fetched it, without the GIL.

        Python decodes what compiled code leaves to it, such as frames of zstd without their size,
        from the same value: each request costs time and money.
        """
        left: list[tuple[int, ...]] = []
        viewed = out if self._view is None else out.view(self._view)
        store, codecs, key, get = array.chunk_store, array.codecs, array.chunk_key, _getter(array)
        decoded = codecs.decoded.nbytes or 0

        def decode(projection: ChunkProjection, value: Buffer | None) -> None:
            chunk = projection.chunk_coords
            inside: Any = projection.chunk_selection  # a BasicIndexer
            index = tuple(
                slice(part.start + at * length, part.stop + at * length, part.step)
                for part, at, length in zip(inside.index, chunk, self._outer, strict=True)
            )
            part = projection.out_selection  # slices, so views
            if _native.read_box(self._plan, index, viewed[part], 1, [value]) == []:
                return
            if value is not None:
                try:
                    codecs.decode_into(value, out[part], inside)
                    return
                except ChunkDecodeError:  # the engine requests it again
                    pass
            left.append(chunk)

        def decode_large(projection: ChunkProjection, value: ByteReader) -> None:
            nbytes = value.size
            if nbytes > codecs.read_buffer_size:
                left.append(projection.chunk_coords)
                return
            with remote_memory.reserve(lambda: nbytes + decoded), Scratch(nbytes) as memory:
                value.read_into([(0, memory)])
                decode(projection, memory)

        def work(projection: ChunkProjection) -> None:
            name = key(projection.chunk_coords)
            if not self._is_large:
                decode(projection, get(name))
            elif not read_open(
                store, name, ByteRange(0), lambda value: decode_large(projection, value)
            ):
                decode(projection, None)

        parallel_for(project(selection, array.axes, complete=False), work, True, array.threads)
        return left


def _getter(array: StoredArray) -> Callable[[str], Buffer | None]:
    """A function that gets a value; one that is too large, which Python refuses, as empty."""
    store, limit = array.chunk_store, array.codecs.max_encoded_size
    if store.in_memory:
        return store.get
    get_limited = store.get_limited

    def get(key: str) -> Buffer | None:
        value = get_limited(key, limit)
        return b"" if isinstance(value, int) else value

    return get


def _setter(store: Store) -> Callable[[str, bytes | None], None]:
    """A function that stores or removes one value."""
    set_, erase = store.set, store.erase
    return lambda key, value: erase(key) if value is None else set_(key, value)


class _Shared(NamedTuple):
    """What arrays with the same resolved metadata share; the tuples are arguments of a plan."""

    dtype: np.dtype[Any]
    prefix: str
    key_length: int
    nbytes: int
    shapes_and_elements: tuple[Any, ...]
    chain: tuple[Any, ...]
    shard_index: tuple[bool, bool] | None
    separator_and_limit: tuple[Any, ...]


# Opening an array is fast, so the checks must not be repeated for each.
_shared: WeakKeyDictionary[Any, _Shared | str] = WeakKeyDictionary()


def _plan(array: StoredArray) -> Plan:
    _require(not array.metadata.additional_fields, "the metadata has additional fields")
    _require(array.chunk_store is array.store, "the metadata has a storage transformer")
    _require(
        not array.missing_is_error or array.codecs.inner_codecs is None,
        "missing inner chunks are errors",
    )
    _require(array.chunk_store.traits.chunk_reader is None, "decoded chunks are cached")
    shared = _shared.get(array.resolved)
    if shared is None:
        try:
            shared = _share(array)
        except _NotSupportedError as error:
            shared = str(error)
        _shared[array.resolved] = shared
    if isinstance(shared, str):
        raise _NotSupportedError(shared)
    store = array.chunk_store
    layout = store.traits.files
    where = Where.FILES
    if layout is None:
        where = Where.MEMORY if store.max_concurrency is None else Where.REMOTE
        _require(
            store.in_memory or where is Where.REMOTE,
            f"values of {type(store).__name__} are not local files",
        )
    if where is Where.REMOTE:
        # Python requests the inner chunks or the rows that it needs.
        _require(shared.shard_index is None, "shards in a remote store")
        _require(
            shared.separator_and_limit[1] == _NO_LIMIT, "uncompressed chunks in a remote store"
        )
    _require(_PLAIN_KEY(check_prefix(array.prefix)), "the path is not supported")
    prefix = array.prefix + shared.prefix
    _require(len(prefix.encode()) + shared.key_length < _MAX_KEY, "the chunk keys are too long")
    if layout is not None:
        writes = layout.writable
    else:  # other stores in memory, such as caches, may write to slow ones: Python uses threads
        writes = where is Where.MEMORY and class_name(store) == _MEMORY and not store.read_only
        writes = writes and shared.nbytes <= _MAX_CHUNK_NBYTES
        if shared.shard_index is not None:
            # The bytes are copied into one value, which takes longer than Python's calls.
            writes = writes and bool(shared.chain[1]) and shared.nbytes <= _MAX_INNER_NBYTES
    arguments: tuple[Any, ...] = (
        *shared.shapes_and_elements,
        array.missing_is_error,
        *shared.chain,
        shared.shard_index,
        layout.directory if layout else None,
        bool(layout and layout.follow_links),
        writes,
        prefix,
        *shared.separator_and_limit,
    )
    order = array.result_order or array.resolved.order
    dtype = array.resolved.dtype
    return Plan(
        _native.plan(*arguments),
        shared.dtype,
        shared.shapes_and_elements[1],
        shared.nbytes,
        where=where,
        writes=writes,
        result=dtype if order == "C" and dtype == shared.dtype else None,
    )


def _share(array: StoredArray) -> _Shared:
    metadata, resolved, codecs = array.metadata, array.resolved, array.codecs
    # Private members are caches.
    unknown = {field.name for field in fields(metadata) if field.name[0] != "_"} - _MEMBERS
    _require(not unknown, f"unknown members of the metadata: {', '.join(sorted(unknown))}")
    _require(not resolved.ignored, "an extension is ignored")
    _require(not metadata.data_type_fallbacks, "the data type has fallbacks")
    _require(metadata.chunk_memory_layout is None, "the metadata has a chunk memory layout")
    _require(0 < metadata.ndim <= _MAX_DIMS, "the number of dimensions is not supported")
    _require(all(metadata.shape), "the array has no elements")
    grid, encoding = class_name(resolved.grid), class_name(resolved.key_encoding)
    _require(grid in _GRIDS and resolved.is_uniform, f"the chunk grid {grid} is not supported")
    _require(encoding in _KEY_ENCODINGS, f"the chunk key encoding {encoding} is not supported")
    affixes = resolved.affixes
    _require(affixes is not None and len(affixes[1]) == 1, "the chunk keys are not supported")
    assert affixes is not None
    inner, index = codecs, None
    if codecs.inner_codecs is not None:
        inner, index = codecs.inner_codecs, _index(codecs)
    _require(inner.inner_codecs is None, "shards within shards are not supported")
    dtype, swap = _element(inner)
    order = _order(inner)
    capsules, sizes = _chain(inner)
    nbytes = inner.decoded.nbytes or 1
    return _Shared(
        dtype,
        affixes[0],
        sum(len(f"{axis.count}{affixes[1]}") for axis in resolved.axes),
        nbytes,
        (
            metadata.shape,
            codecs.decoded.shape,
            inner.decoded.shape,
            order,
            dtype.itemsize,
            swap,
            dtype.kind == "b",
            resolved.fill_value.tobytes(),
        ),
        (codecs.decoded.write_empty_chunks, capsules, sizes, inner.read_buffer_size),
        index,
        # Of a larger chunk that is not compressed, only the wanted rows are read.
        (affixes[1], nbytes - 1 if inner.prefers_partial_decode else _NO_LIMIT),
    )


def _element(codecs: PreparedCodecChain) -> tuple[np.dtype[Any], int]:
    """The dtype of the elements in memory, and how many bytes are reversed when they are stored."""
    name = class_name(codecs.array_to_bytes)
    _require(name == _BYTES, f"the array -> bytes codec {name} is not supported")
    dtype, stored = codecs.dtype, codecs.memory_dtype
    _require(
        stored is not None and not dtype.hasobject and dtype.kind != "T",
        f"elements of data type {dtype} are not stored as their memory",
    )
    assert stored is not None
    _require(
        0 < dtype.itemsize <= _MAX_ITEM, f"elements of {dtype.itemsize} bytes are not supported"
    )
    if stored == dtype:
        return dtype, 0
    swap = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    _require(
        dtype.isbuiltin == 1
        and dtype.kind in "iufc"
        and swap in (2, 4, 8)
        and stored == dtype.newbyteorder(),
        f"the byte order of {dtype} is not reversed by compiled code",
    )
    return dtype, swap


def _order(codecs: PreparedCodecChain) -> tuple[int, ...]:
    """The dimensions of a chunk in the order of an encoded one."""
    order = tuple(range(len(codecs.decoded.shape)))
    for codec in codecs.array_to_array:
        name = class_name(codec)
        _require(name == _TRANSPOSE, f"the array -> array codec {name} is not supported")
        by: Any = codec.order  # type: ignore[attr-defined]  # of _TRANSPOSE
        if by != "C":
            order = order[::-1] if by == "F" else tuple(order[axis] for axis in by)
    return order


def _chain(codecs: PreparedCodecChain) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    """The native forms of the bytes -> bytes codecs, and the sizes before each and at the end."""
    compressors = codecs.bytes_to_bytes
    _require(len(compressors) <= _MAX_CODECS, f"more than {_MAX_CODECS} codecs")
    size = codecs.decoded.nbytes
    sizes = [size]
    capsules = []
    for codec in compressors:
        capsule, reason = native_form(codec, size)
        _require(capsule is not None, reason)
        capsules.append(capsule)
        size = None if size is None else codec.encoded_size(size)
        sizes.append(size)
    return tuple(capsules), tuple(-1 if item is None else item for item in sizes)


def _index(codecs: PreparedCodecChain) -> tuple[bool, bool]:
    """Whether the index of a shard has a checksum, and whether it is at the start."""
    sharding = codecs.array_to_bytes
    name = class_name(sharding)
    _require(name == _SHARDING, f"the array -> bytes codec {name} is not supported")
    _require(len(codecs.names) == 1, "codecs before or after the sharding codec")
    index: Any = sharding.index_format(codecs.decoded)  # type: ignore[attr-defined]  # of _SHARDING
    chain = index.chain
    checksums = [class_name(codec) for codec in chain.bytes_to_bytes]
    _require(
        not chain.array_to_array
        and class_name(chain.array_to_bytes) == _BYTES
        and chain.memory_dtype == np.dtype("<u8")
        and checksums in ([], [_CRC32C]),
        f"the index codecs {', '.join(chain.names)} are not supported",
    )
    return bool(checksums), index.at_start
