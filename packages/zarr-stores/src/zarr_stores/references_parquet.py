"""References in a directory of Parquet files, each with those of some chunks of one array.

``.zmetadata`` holds all documents of version 2 and the number of references in a file;
``PATH/refs.N.parq`` has the columns ``path``, ``offset``, ``size`` and ``raw``, with the chunks
of an array in C order.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import MetadataValidationError, Problem, StoreError, strictjson

from zarr_stores._forked import in_children
from zarr_stores.references_document import target
from zarr_stores.references_entries import Entries, SortedKeys, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import JSON, Store

_COLUMNS = ("path", "offset", "size", "raw")
_CONSOLIDATED = ".zmetadata"
_FILE = re.compile(r"refs\.([0-9]{1,18})\.parq").fullmatch
_MOST_FILES = 100_000  # of a store that cannot tell which there are


class Records(Entries):
    """References of which each file is read when one of its chunks is asked for.

    Parameters
    ----------
    store : Store
        The directory.
    prefix : str
        Where it is in the store: empty, or ending in ``/``.
    count : int
        How many files to keep in memory.

    Raises
    ------
    StoreError
        If there are no such references.
    MetadataError
        If their metadata is wrong.
    """

    def __init__(self, store: Store, prefix: str, count: int) -> None:
        self._store = store
        self._prefix = prefix
        self._where = f"{store} {prefix + _CONSOLIDATED!r}"
        stored = store.get(prefix + _CONSOLIDATED)
        if stored is None:
            raise StoreError("there are no references: no .zmetadata", store, prefix)
        document: Any = strictjson.loads(stored, self._where, constants=True)
        metadata = document.get("metadata") if isinstance(document, dict) else None
        size = document.get("record_size") if isinstance(document, dict) else None
        if not isinstance(metadata, dict):
            raise self._wrong("/metadata", "must be an object")
        if type(size) is not int or size < 1:
            raise self._wrong("/record_size", f"{size!r} is no number of references")
        self._record_size = size
        self._documents = {key: strictjson.encode(value) for key, value in metadata.items()}
        whole: JSON = {"metadata": metadata, "zarr_consolidated_format": 1}
        self._documents[_CONSOLIDATED] = strictjson.encode(whole)
        self._grids = {
            key.removesuffix(".zarray").rstrip("/"): self._grid(key, value)
            for key, value in metadata.items()
            if key.rpartition("/")[2] == ".zarray"
        }
        self._sorted = SortedKeys(self._documents)
        self._guard = threading.Lock()
        in_children(self, Records._renew)
        self._count = max(1, count)
        self._tables: OrderedDict[tuple[str, int], Any] = OrderedDict()

    def _renew(self) -> None:
        self._guard = threading.Lock()

    def get(self, key: str) -> bytes | Target | None:
        if key in self._documents:
            return self._documents[key]
        path, _, name = key.rpartition("/")
        counts = self._grids.get(path)
        number = None if counts is None else _number(name, counts)
        if number is None:
            return None
        record, row = divmod(number, self._record_size)
        return self._row(self._table(path, record), row, key)

    def keys(self, prefix: str) -> Iterator[str]:
        yield from self._sorted.below(prefix)
        for path in self._grids:
            place = f"{path}/" if path else ""
            if place.startswith(prefix):
                yield from self._chunks(path, place)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        keys, prefixes = self._sorted.list_dir(prefix)
        path = prefix.rstrip("/")
        if path in self._grids:
            keys += self._chunks(path, prefix)
        return keys, prefixes

    def urls(self) -> None:
        return None

    # --- records ---

    def _chunks(self, path: str, place: str) -> Iterator[str]:
        """Keys of the chunks of an array that have a reference."""
        counts = self._grids[path]
        total = prod(counts)
        for record in self._files(place, -(-total // self._record_size)):
            first = record * self._record_size
            table = self._table(path, record)
            for row, there in enumerate(() if table is None else _there(table)):
                if there and first + row < total:
                    yield place + _name(first + row, counts)

    def _files(self, place: str, count: int) -> Iterable[int]:
        """Numbers of the files of an array, of which there may be fewer than there could be."""
        prefix = f"{self._prefix}{place}"
        if self._store.supports_listing:
            keys, _ = self._store.list_dir(prefix)
            found = (_FILE(key.removeprefix(prefix)) for key in keys)
            return sorted(number for it in found if it and (number := int(it[1])) < count)
        if count > _MOST_FILES:
            raise StoreError(f"{count} files of references are too many to ask for", self._store)
        return range(count)

    def _row(self, table: Any, row: int, key: str) -> bytes | Target | None:
        if table is None or row >= table.num_rows:
            return None
        found = {name: table.column(name)[row].as_py() for name in table.column_names}
        raw, url = found.get("raw"), found.get("path")
        if raw is not None:
            return raw.encode() if isinstance(raw, str) else bytes(raw)
        if not isinstance(url, str):
            return None
        offset, size = found.get("offset") or 0, found.get("size") or 0
        try:
            return target(url, offset, size) if offset or size else target(url)
        except ValueError as error:
            raise StoreError(f"the reference is wrong: {error}", self._store, key) from error

    def _table(self, path: str, record: int) -> Any:
        """The references of a file; None if there is no such file."""
        place = path, record
        with self._guard:
            if place in self._tables:
                self._tables.move_to_end(place)
                return self._tables[place]
        key = (
            f"{self._prefix}{path}/refs.{record}.parq"
            if path
            else f"{self._prefix}refs.{record}.parq"
        )
        data = self._store.get(key)
        table = None if data is None else self._parsed(data, key)
        with self._guard:
            self._tables[place] = table
            while len(self._tables) > self._count:
                self._tables.popitem(last=False)
        return table

    def _parsed(self, data: Any, key: str) -> Any:
        try:
            import pyarrow  # type: ignore[import-untyped]  # noqa: PLC0415 - heavy, and an extra
            from pyarrow import parquet  # noqa: PLC0415 - as above
        except ImportError as error:
            raise StoreError(
                "references in Parquet take pyarrow: pip install 'zarr-stores[parquet]'",
                self._store,
            ) from error
        try:
            file = parquet.ParquetFile(pyarrow.BufferReader(data))
            present = [name for name in _COLUMNS if name in file.schema_arrow.names]
            if file.metadata.num_rows > self._record_size:
                raise StoreError(
                    f"has {file.metadata.num_rows} references, more than {self._record_size}",
                    self._store,
                    key,
                )
            return file.read(columns=present)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise StoreError(f"is no file of references: {error}", self._store, key) from error

    # --- metadata ---

    def _grid(self, key: str, value: Any) -> tuple[int, ...]:
        """How many chunks an array has along each dimension."""
        shape = value.get("shape") if isinstance(value, dict) else None
        chunks = value.get("chunks") if isinstance(value, dict) else None
        lists = isinstance(shape, list) and isinstance(chunks, list) and len(shape) == len(chunks)
        if (
            not lists
            or not all(type(size) is int and size >= 0 for size in shape or ())
            or not all(type(length) is int and length >= 1 for length in chunks or ())
        ):
            raise self._wrong(f"/metadata/{key}", "is no array with a shape and chunks")
        return tuple(
            -(-size // length) for size, length in zip(shape or (), chunks or (), strict=True)
        )

    def _wrong(self, pointer: str, message: str) -> MetadataValidationError:
        return MetadataValidationError(self._where, [Problem(pointer, message)])


def _there(table: Any) -> Iterable[bool]:
    """Which rows lead to something."""
    columns = [name for name in ("path", "raw") if name in table.column_names]
    return map(
        any, zip(*(table.column(name).is_valid().to_pylist() for name in columns), strict=True)
    )


def _name(number: int, counts: tuple[int, ...]) -> str:
    """The key of a chunk, counted in C order."""
    parts: list[str] = []
    for count in reversed(counts):
        number, part = divmod(number, count)
        parts.append(str(part))
    return ".".join(reversed(parts)) or "0"


def _number(name: str, counts: tuple[int, ...]) -> int | None:
    """Which chunk a key is, counted in C order; None if it is none of the array's."""
    parts = name.split(".")
    if not counts:
        return 0 if name == "0" else None
    if len(parts) != len(counts) or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    number = 0
    for part, count in zip(parts, counts, strict=True):
        if len(part) > 20 or (place := int(part)) >= count or str(place) != part:
            return None
        number = number * count + place
    return number
