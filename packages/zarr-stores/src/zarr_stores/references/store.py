"""A store of chunks in files of other formats, located by kerchunk references.

Name:           reference
URL:            reference:///path/refs.json, reference+s3://bucket/refs.parq, reference::refs.parq;
                reference:// with the references in the option "fo", as in fsspec
Specification:  kerchunk, "References specification" (versions 0 and 1), and its Parquet layout

The file system of fsspec for references executes templates as code, and lets remote references read
local files.
"""

from __future__ import annotations

import os
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    StoreError,
    StoreReadError,
    StoreTraits,
    check_key,
    check_prefix,
)

from zarr_stores._reader_store import ReaderStore
from zarr_stores.references.entries import PartReader, Target
from zarr_stores.references.source import Source, source_of
from zarr_stores.references.targets import Targets
from zarr_stores.remedies import check_options
from zarr_stores.secrets import check_pickle, names_of_secrets, without_secrets
from zarr_stores.wrappers.read_only import ImmutableStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Self

    from zarr_core.extension import Buffer, ByteReader
    from zarr_core.interfaces.store import Listing

__all__ = ["ReferenceStore"]

REQUESTS = 64
_CHAINED = "reference::"
_SCHEME = "reference://"


class ReferenceStore(ImmutableStore, ReaderStore):
    """A read-only store of values that are parts of other files, located by references.

    Parameters
    ----------
    fo : str, os.PathLike or mapping
        References: the path or URL of a JSON document or of a directory of Parquet files, or
        the document itself.
    target : str, optional
        URL of references without a URL.
    root : str, optional
        Directory or URL to which relative targets are relative.  By default that of the
        document, or the current directory if the document itself is passed.
    allow : iterable of str, optional
        Prefixes of URLs, or directories, of allowed targets; other targets are not read.  By
        default a local document can refer to any target, and a remote document to remote
        targets only, not to local files.
    templates : mapping, optional
        Templates that replace those of the document.
    remote_protocol : str, optional
        The scheme of targets that have no scheme.
    remote_options : mapping, optional
        Options of the stores of remote targets, as ``storage_options`` for their URLs.
    target_protocol : str, optional
        Scheme of the URL of the document, if it has none.
    target_options : mapping, optional
        Options of the store of a remote document.
    max_concurrency : int, optional
        Maximum number of concurrent requests; by default 64, unless all targets are local files.

    Notes
    -----
    A JSON document is read once, when the object is created; Parquet files are read when they
    are needed.  A target that does not exist, or is shorter than the reference, raises an
    error.  Only chunks without a reference are missing chunks.

    Templates are expanded by an evaluator of names, numbers, strings, arithmetic and calls of
    templates.  No code of a document is executed.
    """

    read_only_reason: ClassVar[str] = "references are read-only"
    traits = StoreTraits(supports_erasing=False)

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
        max_concurrency: int | None = None,
    ) -> None:
        self._arguments: dict[str, Any] = {
            "target": target, "root": root, "allow": None if allow is None else tuple(allow),
            "templates": templates, "remote_protocol": remote_protocol,
            "remote_options": remote_options, "target_protocol": target_protocol,
            "target_options": target_options, "max_concurrency": max_concurrency,
        }  # fmt: skip
        self._fo = fo if isinstance(fo, str | os.PathLike) else dict(fo)
        source: Source = source_of(self._fo, target_protocol, target_options or {})
        self._source = source
        self._entries = source.entries(templates or {})
        self._targets = Targets(
            source.base if root is None else root, network=source.network,
            allow=self._arguments["allow"], remote_protocol=remote_protocol,
            remote_options=remote_options or {}, default=target,
        )  # fmt: skip
        local = not source.network and self._targets.all_local(self._entries.urls())
        self.max_concurrency = max_concurrency or (None if local else REQUESTS)

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Create a store from a URL of references.

        Parameters
        ----------
        url : str
            ``reference:///path``, ``reference+scheme://...``, ``reference::path``, the path of a
            JSON document, or ``reference://`` with the option ``fo``.
        read_only : bool
            Ignored, because the store is always read-only.
        **options
            Arguments of the class.  Options of fsspec that do not apply, such as
            ``simple_templates``, are ignored.

        Raises
        ------
        StoreError
            If an option is unknown, or the references are missing.
        """
        source_url = url.removeprefix(_CHAINED)
        if source_url.startswith(_SCHEME):
            source_url = source_url.removeprefix(_SCHEME)
        elif source_url.startswith("reference+"):
            source_url = source_url.removeprefix("reference+")
        fo = options.pop("fo", source_url)
        if source_url and fo is not source_url:
            reason = "the URL contains the references: do not pass fo"
            raise StoreError(reason, store=without_secrets(url))
        if fo is None or fo == "":
            raise StoreError("no references: pass them in the URL or as fo=")
        if "template_overrides" in options:
            options["templates"] = options.pop("template_overrides")
        for name in _FSSPEC_OPTIONS & options.keys():
            del options[name]
        check_options(options, signature(cls).parameters.keys() - {"fo"}, url)
        return cls(fo, **options)

    @classmethod
    def from_object(cls, location: Any, *, read_only: bool = False, **options: Any) -> Self | None:
        """Create a store from ``reference::path`` or the path of an existing JSON file."""
        if isinstance(location, str) and (
            location.startswith(_CHAINED)
            or (location.lower().endswith(".json") and os.path.isfile(location))
        ):
            return cls.from_url(location, read_only=read_only, **options)
        return None

    @property
    def url(self) -> str:
        return self._source.url

    # --- readable ---

    def get(self, key: str) -> Buffer | None:
        entry = self._entry(key)
        return entry if isinstance(entry, bytes) else super().get(key)

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        entry = self._entry(key)
        if entry is None:
            return None
        return (
            BufferByteReader(entry) if isinstance(entry, bytes) else self._opened(key, entry, first)
        )

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

    def _identity(self) -> tuple[Any, ...]:
        location_arguments = ("target", "root", "templates", "remote_protocol")
        return self._source.url, *(self._arguments[name] for name in location_arguments)

    def __repr__(self) -> str:
        return f"ReferenceStore({self.url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        check_pickle(self, names_of_secrets(self._arguments))
        return partial(type(self), **self._arguments), (self._fo,)

    # --- helpers ---

    def _entry(self, key: str) -> bytes | Target | None:
        return self._entries.get(check_key(key))

    def _opened(self, key: str, entry: Target, first: ByteRange | None = None) -> PartReader:
        """Open the target of a reference."""
        try:
            store, name = self._targets.resolve(entry.url)
            whole = store.open_value(name, entry.part(first))
            if whole is None:
                raise StoreReadError("does not exist")
            return PartReader(whole, entry)
        except StoreError as error:
            raise StoreReadError(
                f"refers to {without_secrets(entry.url)!r}, which {without_secrets(str(error))}",
                self,
                key,
            ) from error


_FSSPEC_OPTIONS = frozenset({
    "asynchronous", "cache_size", "fs", "loop", "max_block", "max_gap", "ref_storage_args",
    "simple_templates", "skip_instance_cache", "lazy",
})  # fmt: skip
