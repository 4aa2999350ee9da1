"""Chunks that lie in files of other formats, found by references of kerchunk.

Name:           reference
URL:            reference:///path/refs.json, reference+s3://bucket/refs.parq, reference::refs.parq;
                reference:// with the document as the option "fo", as fsspec has it
Specification:  kerchunk, "References specification" (versions 0 and 1), and its Parquet layout
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import (
    BufferReader,
    ByteRange,
    StoreError,
    StoreReadError,
    check_key,
    check_prefix,
    run_in_threads,
)

from zarr_stores._refusing import RefusingStore
from zarr_stores.fsspec_secrets import names_of_secrets, without_secrets
from zarr_stores.references_places import Source, source_of
from zarr_stores.references_reader import PartReader
from zarr_stores.references_targets import Targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from zarr_core.extension import Buffer, ValueReader

    from zarr_stores.references_entries import Target

    # Named here, because within the class ``list`` is the operation of that name.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["ReferenceStore"]

REQUESTS = 32
_CHAINED = "reference::"
_SCHEME = "reference://"


class ReferenceStore(RefusingStore):
    """Keys whose values are parts of other files, as a document says; for reading only.

    Parameters
    ----------
    fo : str, os.PathLike or mapping
        The references: the path or URL of a JSON document or of a directory of Parquet files;
        or the document itself.
    target : str, optional
        The URL that references mean which have none.
    root : str, optional
        The directory, or URL, that relative targets are relative to; by default that of the
        document, or the present one if the document is given itself.
    allow : iterable of str, optional
        Beginnings of URLs, or directories, in which targets may be; no others are read.  By
        default a document from this machine may lead to anywhere, and one from a network only
        to networks: not to files of this machine.
    templates : mapping, optional
        Templates that take the place of those in the document.
    remote_protocol : str, optional
        The scheme of targets without one.  If it is given, ``remote_options`` are those of
        fsspec, through which targets are then read.
    remote_options : mapping, optional
        Options for the stores of targets in networks, as ``storage_options`` are for that URL.
    target_protocol : str, optional
        The scheme of the document's URL, if it has none.
    target_options : mapping, optional
        Options for the store of the document, if it is in a network.
    requests : int, optional
        How many requests to keep in flight; by default 32 unless all targets are local files.
    records : int
        How many files of Parquet to keep in memory.

    Notes
    -----
    The document is read once, when the object is made; of Parquet each file when it is
    needed.  A target that is missing, or shorter than a reference says, is an error: nothing
    is taken for a missing chunk but what the document does not name.

    Templates are filled in by a small evaluator of names, numbers, texts, arithmetic and
    calls of templates.  No code of a document is run.
    """

    why: ClassVar[str] = "references are for reading only"
    supports_erasing = False

    def __init__(
        self,
        fo: str | os.PathLike[str] | Mapping[str, Any],
        *,
        target: str | None = None,
        root: str | None = None,
        allow: Iterable[str] | None = None,
        templates: Mapping[str, str] | None = None,
        remote_protocol: str | None = None,
        remote_options: Mapping[str, Any] | None = None,
        target_protocol: str | None = None,
        target_options: Mapping[str, Any] | None = None,
        requests: int | None = None,
        records: int = 64,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "target": target, "root": root, "allow": None if allow is None else tuple(allow),
            "templates": templates, "remote_protocol": remote_protocol,
            "remote_options": remote_options, "target_protocol": target_protocol,
            "target_options": target_options, "requests": requests, "records": records,
        }  # fmt: skip
        self._fo = fo if isinstance(fo, str | os.PathLike) else dict(fo)
        source: Source = source_of(self._fo, target_protocol, target_options or {})
        self._source = source
        self._entries = source.entries(templates or {}, records)
        self._targets = Targets(
            source.base if root is None else root, network=source.network,
            allow=self._arguments["allow"], remote_protocol=remote_protocol,
            remote_options=remote_options or {}, default=target,
        )  # fmt: skip
        local = not source.network and self._targets.all_local(self._entries.urls())
        self.requests = requests or (None if local else REQUESTS)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from a URL of references.

        Parameters
        ----------
        url : str
            ``reference:///path``, ``reference+scheme://...``, ``reference::path``, the path of a
            JSON document; or ``reference://`` with the option ``fo``.
        read_only : bool
            No store of this kind can be changed.
        **options
            As of the class; those that only fsspec knows, such as ``simple_templates``, are
            passed over.

        Raises
        ------
        StoreError
            If an option is unknown, or there are no references.
        """
        place = url.removeprefix(_CHAINED)
        if place.startswith(_SCHEME):
            place = place.removeprefix(_SCHEME)
        elif place.startswith("reference+"):
            place = place.removeprefix("reference+")
        fo = options.pop("fo", place)
        if place and fo is not place:
            raise StoreError("the references are in the URL: give no fo", store=url)
        if fo is None or fo == "":
            raise StoreError("no references: give them in the URL, or by fo=", store=url)
        if "template_overrides" in options:
            options["templates"] = options.pop("template_overrides")
        for name in _OF_FSSPEC & options.keys():
            del options[name]
        if unknown := sorted(options.keys() - _OPTIONS):
            raise StoreError(f"references have no options {', '.join(unknown)}", store=url)
        return cls(fo, **options)

    @classmethod
    def is_for(cls, path: str) -> bool:
        """Whether it is a chain that begins with references, or a JSON document that is there."""
        if path.startswith(_CHAINED):
            return True
        return path.lower().endswith(".json") and os.path.isfile(path)

    @property
    def url(self) -> str:
        return self._source.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        entry = self._entry(key)
        if entry is None or isinstance(entry, bytes):
            return entry
        with self._opened(key, entry) as reader:
            return reader.read(0, reader.size)

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        """Parts of values, in the order asked for; those in one file are joined where near."""
        asked = [*key_ranges]
        values: Values = [None] * len(asked)
        by_file: dict[str, list[int]] = {}
        for number, (key, part) in enumerate(asked):
            entry = self._entry(key)
            if isinstance(entry, bytes):
                start, stop = part.within(len(entry))
                values[number] = entry[start:stop]
            elif entry is not None:
                by_file.setdefault(entry.url, []).append(number)

        def work(numbers: list[int]) -> None:
            readers: list[PartReader] = []
            parts: list[tuple[int, memoryview]] = []
            try:
                for number in numbers:
                    key, part = asked[number]
                    entry = self._entry(key)
                    assert entry is not None
                    assert not isinstance(entry, bytes)
                    shared = readers[0].whole if readers else None
                    reader = self._opened(key, entry, part, shared)
                    readers.append(reader)
                    start, stop = part.within(reader.size)
                    buffer = memoryview(bytearray(stop - start))
                    values[number] = buffer
                    if buffer:
                        parts.append((reader.start + start, buffer))
                if parts:
                    readers[0].whole.read_into(parts)
            finally:
                if readers:
                    readers[0].close()

        run_in_threads(by_file.values(), work, self.requests is not None, self.requests)
        return values

    def get_into(self, key: str, buffer: memoryview) -> int | None:
        reader = self.open_value(key, ByteRange(0, len(buffer)))
        if reader is None:
            return None
        with reader:
            count = min(reader.size, len(buffer))
            reader.read_into([(0, buffer[:count])])
            return reader.size

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        entry = self._entry(key)
        if entry is None:
            return None
        return BufferReader(entry) if isinstance(entry, bytes) else self._opened(key, entry, first)

    def exists(self, key: str) -> bool:
        return self._entry(key) is not None

    def getsize(self, key: str) -> int | None:
        entry = self._entry(key)
        if entry is None:
            return None
        if isinstance(entry, bytes):
            return len(entry)
        if entry.length is not None:
            return entry.length
        with self._opened(key, entry) as reader:
            return reader.size

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        return self._entries.keys(check_prefix(prefix))

    def list_dir(self, prefix: str) -> Listing:
        return self._entries.list_dir(check_prefix(prefix))

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReferenceStore):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._source.url)

    def _identity(self) -> tuple[Any, ...]:
        places = ("target", "root", "templates", "remote_protocol")
        return self._source.url, *(self._arguments[name] for name in places)

    def __repr__(self) -> str:
        return f"ReferenceStore({self.url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if found := names_of_secrets(self._arguments):
            raise StoreError(
                f"is not pickled, as anyone could read the credentials in it ({', '.join(found)}); "
                "give them by environment variables or files, where the library for the service "
                "looks for them",
                store=self,
            )
        return _unpickled, (type(self), self._fo, self._arguments)

    # --- helpers ---

    def _entry(self, key: str) -> bytes | Target | None:
        return self._entries.get(check_key(key))

    def _opened(
        self,
        key: str,
        entry: Target,
        first: ByteRange | None = None,
        whole: ValueReader | None = None,
    ) -> PartReader:
        """A reader of what a reference leads to."""
        try:
            if whole is None:
                store, name = self._targets.place(entry.url)
                whole = store.open_value(name, entry.part(first))
            if whole is None:
                raise StoreReadError("is not there")
            return PartReader(whole, entry)
        except StoreError as error:
            raise StoreReadError(
                f"leads to {without_secrets(entry.url)!r}, which {_said(error)}", self, key
            ) from error


def _said(error: StoreError) -> str:
    return without_secrets(str(error))


def _unpickled(kind: type[ReferenceStore], fo: Any, arguments: dict[str, Any]) -> ReferenceStore:
    return kind(fo, **arguments)


_OPTIONS = frozenset({
    "target", "root", "allow", "templates", "remote_protocol", "remote_options",
    "target_protocol", "target_options", "requests", "records",
})  # fmt: skip
_OF_FSSPEC = frozenset({
    "asynchronous", "cache_size", "fs", "loop", "max_block", "max_gap", "ref_storage_args",
    "simple_templates", "skip_instance_cache", "lazy",
})  # fmt: skip
