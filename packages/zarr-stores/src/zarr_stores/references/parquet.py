"""References in a directory of Parquet files, each for some chunks of one array.

``.zmetadata`` contains all metadata documents (Zarr version 2) and the number of references in
a file.  ``PATH/refs.N.parq`` has the columns ``path``, ``offset``, ``size`` and ``raw``, with
the chunks of an array in C order.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from zarr_core.extension import Location, StoreError, read_metadata, strictjson

from zarr_stores.references.document import target
from zarr_stores.references.entries import References, Target
from zarr_stores.remedies import required

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from zarr_core.extension import JSON, Store

_COLUMNS = ("path", "offset", "size", "raw")
_CONSOLIDATED = ".zmetadata"
_FILE = re.compile(r"refs\.([0-9]{1,18})\.parq").fullmatch
_MOST_TABLES = 64  # files in memory
_MOST_FILES = 100_000  # limit for stores that cannot list their keys


class ParquetReferences(References):
    """References in Parquet files, which are read when one of their chunks is needed."""

    def __init__(self, store: Store, prefix: str) -> None:
        self._store = store
        self._prefix = prefix
        super().__init__(Location(store, key=prefix + _CONSOLIDATED))
        stored = read_metadata(store, prefix + _CONSOLIDATED)
        if stored is None:
            raise StoreError(
                "the directory contains no references (.zmetadata is missing)", store, prefix
            )
        document: Any = strictjson.loads(stored, self._location, constants=True)
        metadata = document.get("metadata") if isinstance(document, dict) else None
        size = document.get("record_size") if isinstance(document, dict) else None
        if not isinstance(metadata, dict):
            raise self._wrong("/metadata", "must be an object")
        if type(size) is not int or size < 1:
            raise self._wrong("/record_size", f"must be a positive integer, not {size!r}")
        self._record_size = size
        whole: JSON = {"metadata": metadata, "zarr_consolidated_format": 1}
        documents = {**metadata, _CONSOLIDATED: whole}
        self._entries = {key: strictjson.encode(value) for key, value in documents.items()}
        self._grids = {
            key.removesuffix(".zarray").rstrip("/"): self._grid(key, value)
            for key, value in metadata.items()
            if key.rpartition("/")[2] == ".zarray"
        }
        self._table = lru_cache(_MOST_TABLES)(self._read_table)

    def get(self, key: str) -> bytes | Target | None:
        if key in self._entries:
            return super().get(key)
        path, _, name = key.rpartition("/")
        counts = self._grids.get(path)
        number = None if counts is None else _number(name, counts)
        if number is None:
            return None
        record, row = divmod(number, self._record_size)
        return self._row(self._table(path, record), row, key)

    def keys(self, prefix: str) -> Iterator[str]:
        yield from super().keys(prefix)
        for path in self._grids:
            array_prefix = f"{path}/" if path else ""
            if array_prefix.startswith(prefix):
                yield from self._chunks(path, array_prefix)

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        keys, prefixes = super().list_dir(prefix)
        path = prefix.rstrip("/")
        if path in self._grids:
            keys += self._chunks(path, prefix)
        return keys, prefixes

    def urls(self) -> None:
        return None

    # --- records ---

    def _chunks(self, path: str, array_prefix: str) -> Iterator[str]:
        """Iterate over the keys of the chunks of an array that have a reference."""
        counts = self._grids[path]
        total = prod(counts)
        for record in self._files(array_prefix, -(-total // self._record_size)):
            first = record * self._record_size
            table = self._table(path, record)
            for row, there in enumerate(() if table is None else _there(table)):
                if there and first + row < total:
                    yield array_prefix + _name(first + row, counts)

    def _files(self, array_prefix: str, count: int) -> Iterable[int]:
        """Return the numbers of the files of an array, some of which may be missing."""
        prefix = f"{self._prefix}{array_prefix}"
        if self._store.supports_listing:
            keys, _ = self._store.list_dir(prefix)
            matches = (_FILE(key.removeprefix(prefix)) for key in keys)
            return sorted(
                number for match in matches if match and (number := int(match[1])) < count
            )
        if count > _MOST_FILES:
            raise StoreError(
                f"cannot list {count} files of references: the store does not support listing",
                self._store,
            )
        return range(count)

    def _row(self, table: Any, row: int, key: str) -> bytes | Target | None:
        if table is None or row >= table.num_rows:
            return None
        fields = {name: table.column(name)[row].as_py() for name in table.column_names}
        raw, url = fields.get("raw"), fields.get("path")
        if raw is not None:
            return raw.encode() if isinstance(raw, str) else bytes(raw)
        if not isinstance(url, str):
            return None
        offset, size = fields.get("offset") or 0, fields.get("size") or 0
        try:
            return target(url, offset, size) if offset or size else target(url)
        except ValueError as error:
            raise StoreError(f"the reference is not valid: {error}", self._store, key) from error

    def _read_table(self, path: str, record: int) -> Any:
        """Return the references of a file; None if the file does not exist."""
        key = f"{self._prefix}{path}/" if path else self._prefix
        key += f"refs.{record}.parq"
        data = self._store.get(key)
        return None if data is None else self._parsed(data, key)

    def _parsed(self, data: Any, key: str) -> Any:
        with required("pyarrow", "parquet", self._store):
            import pyarrow  # type: ignore[import-untyped]  # slow to import
            from pyarrow import parquet
        try:
            file = parquet.ParquetFile(pyarrow.BufferReader(data))
            present = [name for name in _COLUMNS if name in file.schema_arrow.names]
            if file.metadata.num_rows > self._record_size:
                raise StoreError(
                    f"has {file.metadata.num_rows} references, but record_size is "
                    f"{self._record_size}",
                    self._store,
                    key,
                )
            return file.read(columns=present)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            reason = f"is not a Parquet file of references: {error}"
            raise StoreError(reason, self._store, key) from error

    # --- metadata ---

    def _grid(self, key: str, value: Any) -> tuple[int, ...]:
        """Return the number of chunks of an array along each dimension."""
        shape = value.get("shape") if isinstance(value, dict) else None
        chunks = value.get("chunks") if isinstance(value, dict) else None
        lists = isinstance(shape, list) and isinstance(chunks, list) and len(shape) == len(chunks)
        if (
            not lists
            or not all(type(size) is int and size >= 0 for size in shape or ())
            or not all(type(length) is int and length >= 1 for length in chunks or ())
        ):
            raise self._wrong(f"/metadata/{key}", "must be an array with valid shape and chunks")
        return tuple(
            -(-size // length) for size, length in zip(shape or (), chunks or (), strict=True)
        )


def _there(table: Any) -> Iterable[bool]:
    """Return whether each row has a target or an inline value."""
    columns = [name for name in ("path", "raw") if name in table.column_names]
    return map(
        any, zip(*(table.column(name).is_valid().to_pylist() for name in columns), strict=True)
    )


def _name(number: int, counts: tuple[int, ...]) -> str:
    """Return the key of a chunk from its position in C order."""
    parts: list[str] = []
    for count in reversed(counts):
        number, part = divmod(number, count)
        parts.append(str(part))
    return ".".join(reversed(parts)) or "0"


def _number(name: str, counts: tuple[int, ...]) -> int | None:
    """Return the position of a chunk in C order from its key; None for other keys."""
    parts = name.split(".")
    if not counts:
        return 0 if name == "0" else None
    if len(parts) != len(counts) or not all(part.isascii() and part.isdigit() for part in parts):
        return None
    number = 0
    for part, count in zip(parts, counts, strict=True):
        if len(part) > 20 or (index := int(part)) >= count or str(index) != part:
            return None
        number = number * count + index
    return number
