"""A store in any file system that fsspec knows.

Name:           fsspec, with the schemes that no other store has (ftp, github, hdfs, hf ...)
URL:            as fsspec has them; ``fsspec+s3://`` for schemes of other stores; chains with ``::``
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarr_core.extension import (
    LocalStore,
    Store,
    StoreCapabilityError,
    StoreError,
    StoreReadError,
    StoreReadOnlyError,
    check_key,
    check_prefix,
    key_lock,
)

from zarr_stores._database import is_key, joined
from zarr_stores.fsspec_calls import MISSING, Calls
from zarr_stores.fsspec_files import PARTIAL, found, listed, objection, put, remove
from zarr_stores.fsspec_place import SUFFIXES, Place, place_of
from zarr_stores.fsspec_reader import opened_file, opened_ranges
from zarr_stores.fsspec_secrets import without_secrets
from zarr_stores.fsspec_traits import Traits, path_in, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces, ValueReader

    # Named here, because within the class ``list`` is the operation of that name.
    Values = list[Buffer | None]
    Listing = tuple[list[str], list[str]]

__all__ = ["FsspecStore"]

REQUESTS = 32
GAP_BYTES = 1 << 17


class FsspecStore(Store):
    """Keys and values in a directory of a file system of fsspec.

    Parameters
    ----------
    fs : AbstractFileSystem or Place
        The file system, synchronous or not; or what this class made of a URL.
    path : str
        The directory, as a path in it.
    read_only : bool
        Refuse changes.
    requests : int, optional
        How many requests to keep in flight; 32 for file systems that can do that, None for
        the others.
    gap_bytes : int
        Unneeded bytes between two parts of a value that are read rather than skipped.

    Notes
    -----
    ``update`` excludes other threads of this process.  Other processes are not excluded: no
    file system of fsspec says how.  Use the stores for S3, GCS, Azure, local directories where
    several processes write to one chunk or shard.

    A value takes the place of the old one at once where the file system renames files (local,
    SFTP); elsewhere it is sent in one piece, and whether readers see a part of it is up to the
    service.  Listings are never remembered.  Only ``FileNotFoundError`` means that a key is
    missing.  Parts of large values are checked afterwards to be of one version.
    """

    def __init__(
        self,
        fs: Any,
        path: str = "",
        read_only: bool = False,
        *,
        requests: int | None = None,
        gap_bytes: int = GAP_BYTES,
    ) -> None:
        self._place = place = fs if isinstance(fs, Place) else Place(fs, path)
        self.realm = place.realm
        self._traits = traits = Traits(place.fs())
        # As the file system writes it: some want a slash at the beginning.
        self._base: str = place.path("x")[:-1]
        self.calls = Calls(place, traits, place)
        """Through it goes everything that is asked of the file system."""
        self.read_only = read_only or bool(traits.read_only)
        self.supports_listing = not traits.http
        self.requests = requests or (REQUESTS if traits.waits else None)
        self.gap_bytes = gap_bytes

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Make a store from a URL of fsspec, or a chain of them.

        Parameters
        ----------
        url : str
            Such as ``ftp://host/field.zarr``, ``fsspec+s3://bucket/field.zarr``,
            ``simplecache::s3://bucket/field.zarr``, ``zip://::https://host/field.zip``.
        read_only : bool
            Refuse changes.
        **options
            ``requests`` and ``gap_bytes`` of the class; all others go to fsspec.  Of a chain,
            those for one file system stand under its name: ``{"s3": {"anon": True}}``.

        Raises
        ------
        StoreError
            If fsspec, or the library for the scheme, is not there, or refuses the arguments.
        """
        if "reference" in (part.partition("://")[0] for part in url.split("::")):
            # fsspec lets references from a network lead to files of this machine.
            raise StoreError(
                "references are read by a store of their own: reference+https://host/refs.json, "
                'reference+s3://bucket/refs.parq, or reference:// with the option "fo"',
                store=without_secrets(url),
            )
        manners = {name: options.pop(name) for name in ("requests", "gap_bytes") if name in options}
        return cls(Place.at(url, options), read_only=read_only, **manners)

    @classmethod
    def is_for(cls, path: str) -> bool:
        """Whether it is an archive; all other names are schemes and no suffixes."""
        return super().is_for(path) and path.lower().endswith(SUFFIXES)

    @classmethod
    def from_object(cls, place: Any, *, read_only: bool = False) -> Store | None:
        """Make a store of a file system, a mapper of fsspec, a path of universal_pathlib.

        Notes
        -----
        What leads to a local directory becomes a :class:`LocalStore`.  Which exceptions a
        mapper takes for a missing key is of no importance.
        """
        known = place_of(place)
        if known is None:
            return None
        if Traits(known.fs()).local:
            return LocalStore(known.root, read_only=read_only)
        return cls(known, read_only=read_only)

    @property
    def url(self) -> str:
        return self._place.url

    # --- readable ---

    def get(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            with self.calls.reading(key, path) as fs:
                data: bytes = fs.cat_file(path, **self._traits.whole)
                return data
        except MISSING:
            return None

    def get_partial_values(self, key_ranges: Iterable[tuple[str, ByteRange]]) -> Values:
        asked = list(key_ranges)
        # Not every file system counts from the end, or cuts what reaches beyond it.
        sizes = {key: self.getsize(key) for key in dict.fromkeys(key for key, _ in asked)}
        values: Values = [None if sizes[key] is None else b"" for key, _ in asked]
        ranges: list[tuple[str, int, int, int]] = []
        places: list[int] = []
        for number, (key, part) in enumerate(asked):
            size = sizes[key] or 0
            start, stop = part.within(size)
            if start < stop:
                ranges.append((key, start, stop, size))
                places.append(number)
        for number, value in zip(places, self.cat_ranges(ranges), strict=True):
            values[number] = value
        return values

    def cat_ranges(self, ranges: Sequence[tuple[str, int, int, int]]) -> Values:
        """Ranges of values, as many at the same time as the file system can.

        Parameters
        ----------
        ranges : sequence of (str, int, int, int)
            The key, the first byte, the one behind the last, the length of the value.

        Returns
        -------
        list of buffers
            None where the key is missing.
        """
        if not ranges:
            return []
        paths = [self._path(key) for key, *_ in ranges]
        starts, stops = ([one[index] for one in ranges] for index in (1, 2))
        values: Values = []
        with self.calls.reading(ranges[0][0], paths[0]) as fs:
            got = fs.cat_ranges(paths, starts, stops, on_error="return")
        for (key, start, stop, size), value in zip(ranges, got, strict=True):
            try:
                with self.calls.naming(key):
                    if isinstance(value, BaseException):
                        raise value
            except MISSING:
                values.append(None)
                continue
            # A server without ranges sends all.
            part = memoryview(value)[start:stop] if len(value) == size else value
            if len(part) != stop - start:
                raise StoreReadError(
                    f"{len(part)} bytes came of the {stop - start} from {start}", self, key
                )
            values.append(part)
        return values

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        if self._traits.memory:
            return super().open_value(key, first)
        path = self._path(key)
        if self._traits.handles:
            return opened_file(self, key, path)
        return opened_ranges(self, key, path, self._traits, first)

    def info(self, key: str) -> Mapping[str, Any] | None:
        """What the file system says about the file of a key; None if there is no file."""
        path = self._path(key)
        try:
            with self.calls.reading(key) as fs:
                fs.invalidate_cache()
                told: Mapping[str, Any] = fs.info(path)
        except MISSING:
            return None
        return None if told.get("type") == "directory" else told

    def exists(self, key: str) -> bool:
        return self.info(key) is not None

    def getsize(self, key: str) -> int | None:
        info = self.info(key)
        if info is None:
            return None
        size = info.get("size")
        return super().getsize(key) if size is None else int(size)

    def version(self, key: str) -> str | None:
        info = self.info(key)
        return None if info is None else version_of(info) or super().version(key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        path = self._path(key)
        self._require_writable(key)
        data = joined(value)
        with self.calls.writing(key) as fs:
            put(fs, self._traits, path, data)
            fs.invalidate_cache()

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other threads of this process."""
        self._path(key)
        self._require_writable(key)
        with key_lock(repr(self._place.identity), key):
            self._change(key, change)

    def erase(self, key: str) -> None:
        path = self._path(key)
        self._require_writable(key)
        with self.calls.writing(key) as fs:
            remove(fs, self._traits, path, len(self._base) - 1)
            fs.invalidate_cache()

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        super().erase_prefix(prefix)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        directory = self._directory(prefix)
        if self._traits.flat or self._traits.memory:
            try:
                with self.calls.reading(prefix) as fs:
                    fs.invalidate_cache()
                    names = found(fs, directory)
            except MISSING:
                return iter(())
            return iter([key for key in map(self._key, names) if _is_listed(key, prefix)])
        all_keys: list[str] = []
        below = [(prefix, directory)]
        while below:  # no recursion: keys may be deep
            keys, prefixes = self._children(*below.pop())
            all_keys += keys
            below += ((one, f"{self._base}{one}".rstrip("/")) for one in prefixes)
        return iter(all_keys)

    def list_dir(self, prefix: str) -> Listing:
        return self._children(prefix, self._directory(prefix))

    def _children(self, prefix: str, directory: str) -> Listing:
        try:
            with self.calls.reading(prefix) as fs:
                fs.invalidate_cache()
                entries = listed(fs, directory)
        except MISSING:
            return [], []
        keys: list[str] = []
        prefixes: dict[str, None] = {}
        for entry in entries:
            key = self._key(entry["name"])
            if _is_listed(key, prefix):
                if entry.get("type") == "directory":
                    prefixes[f"{key}/"] = None
                else:
                    keys.append(key)
        return keys, list(prefixes)

    # --- the object ---

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FsspecStore):
            return NotImplemented
        return self._place.identity == other._place.identity

    def __hash__(self) -> int:
        return hash(self._place.identity)

    def __repr__(self) -> str:
        return f"FsspecStore({str(self)!r}{', read_only=True' if self.read_only else ''})"

    def __str__(self) -> str:
        return str(self._place)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self  # a store is a place

    def __reduce__(self) -> tuple[Any, ...]:
        if self._traits.memory:
            raise StoreError(
                "cannot be pickled: the memory of another process has other values", store=self
            )
        if self._place.secrets:
            raise StoreError(
                "is not pickled, as anyone could read the credentials in it "
                f"({', '.join(self._place.secrets)}); give them by environment variables or "
                "files, where the library for the service looks for them",
                store=self,
            )
        manners = self.read_only, self.requests, self.gap_bytes
        return _unpickled, (type(self), self._place.recipe(), manners)

    # --- helpers ---

    def _path(self, key: str) -> str:
        check_key(key)
        path = path_in(self._place.fs(), self._traits, self._base, key)
        return self._followed(path, key)

    def _directory(self, prefix: str) -> str:
        check_prefix(prefix)
        if not self.supports_listing:
            raise StoreCapabilityError("HTTP servers do not list what they have", self, prefix)
        path = f"{self._base}{prefix}".rstrip("/") or self._place.root
        return self._followed(path, prefix)

    def _followed(self, path: str, key: str) -> str:
        if self._traits.local and (reason := objection(self._base, path)):
            raise StoreReadError(reason, store=self, key=key)
        return path

    def _key(self, name: str) -> str:
        """The key of a path in a listing; file systems do not agree about slashes before it."""
        base = self._base.lstrip("/")
        path = str(name).lstrip("/")
        return path[len(base) :] if path.startswith(base) else ""

    def _require_writable(self, key: str) -> None:
        if self.read_only:
            why = self._traits.read_only or "the store is open for reading only"
            raise StoreReadOnlyError(why, store=self, key=key)


def _is_listed(key: str, prefix: str) -> bool:
    return is_key(key, prefix) and not (key.endswith(PARTIAL) and "/." in f"/{key}")


def _unpickled(
    kind: type[FsspecStore], recipe: tuple[Any, Any], manners: tuple[Any, ...]
) -> FsspecStore:
    first, second = recipe
    place = Place.at(first, second) if isinstance(first, str) else Place(first, second)
    read_only, requests, gap_bytes = manners
    return kind(place, read_only=read_only, requests=requests, gap_bytes=gap_bytes)
