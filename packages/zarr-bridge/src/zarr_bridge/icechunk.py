"""Icechunk sessions as stores, which contain only metadata documents and chunks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from zarr_core.extension import Store, StoreError, StoreReadError, StoreTraits, check_prefix
from zarr_core.interfaces.store import to_bytes

from zarr_bridge.stores import ZarrPythonStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Buffers

__all__ = ["IcechunkStore"]

_DOCUMENT = "zarr.json"
# Icechunk has no error classes for these; chunks without an array give "node not found".
_OUTSIDE = "not valid for array"
_NO_KEY = "invalid zarr key format"
_NO_SUCH = (_NO_KEY, "key not found", "node not found", _OUTSIDE)
_NO_NODE = "prefixes pointing to a group or array"


class IcechunkStore(ZarrPythonStore):
    """The store of an Icechunk session.

    Notes
    -----
    Changes become visible to others when the user commits the session; the store never
    commits.  A session that is read-only, or already committed, rejects changes.  The store can
    be pickled if Icechunk permits it: if the session is read-only, or a fork.

    Only metadata documents and chunks of version 3 can be set; other keys are always missing.
    Chunks beyond the edge of an array, which are written before the array grows, are kept in
    memory until it has grown.
    """

    traits = StoreTraits(metadata_first=True)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._pending: dict[str, bytes] = {}
        self._url = ""

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Open a repository for reading; to write, open a session and pass its store.

        Parameters
        ----------
        url : str
            ``icechunk:///absolute/path``, ``icechunk+s3://bucket/prefix`` or
            ``icechunk+gs://bucket/prefix``.
        read_only : bool
            Ignored: stores from URLs are always read-only.
        **options
            ``branch`` (default ``"main"``), ``tag`` or ``snapshot_id``; all other options are
            passed to the storage of Icechunk.  Credentials are read from the environment.

        Raises
        ------
        StoreError
            If the repository does not exist, or Icechunk rejects an option.
        """
        try:
            import icechunk

            version = {name: options.pop(name, None) for name in ("branch", "tag", "snapshot_id")}
            if not any(version.values()):
                version["branch"] = "main"
            scheme, _, location = url.removeprefix("icechunk+").partition("://")
            bucket, _, prefix = location.partition("/")
            if scheme == "s3":
                options = {"from_env": True, "anonymous": None, **options}
                storage = icechunk.s3_storage(bucket=bucket, prefix=prefix, **options)
            elif scheme in ("gs", "gcs"):
                storage = icechunk.gcs_storage(bucket=bucket, prefix=prefix, **options)
            else:
                storage = icechunk.local_filesystem_storage(unquote(location), **options)
            session = icechunk.Repository.open(storage).readonly_session(**version)
        except Exception as error:  # Icechunk has no common error class
            text = str(error).partition("\n")[0].strip()
            raise StoreError(
                f"cannot open the Icechunk repository: {type(error).__name__}: {text}", url
            ) from error
        store = cls(session.store, read_only=True)
        store._url = url
        return store

    @property
    def url(self) -> str:
        return self._url or super().url

    def get(self, key: str, part: Any = None) -> Buffer | None:
        value = super().get(key, part)
        return self._pending.get(key) if value is None else value

    def getsize(self, key: str) -> int | None:
        size = super().getsize(key)
        return len(self._pending[key]) if size is None and key in self._pending else size

    def set(self, key: str, value: Buffers) -> None:
        try:
            super().set(key, value)
        except StoreError as error:
            if _NO_KEY in str(error):
                error.add_note(
                    "Icechunk stores only metadata of version 3 and chunks with the chunk key "
                    'encoding "default"'
                )
            if _OUTSIDE not in str(error):
                raise
            self._pending[key] = to_bytes(value)
        if self._pending and key.endswith(_DOCUMENT):
            node = key.removesuffix(_DOCUMENT)
            for ahead in [name for name in list(self._pending) if name.startswith(node)]:
                early = self._pending.pop(ahead, None)
                if early is not None:  # otherwise another thread stores it
                    self.set(ahead, early)

    def erase(self, key: str) -> None:
        try:
            super().erase(key)
        except StoreError as error:
            # Another thread may have removed the array with its chunks.
            if not isinstance(error.__cause__, KeyError) or self.exists(key):
                raise
        self._pending.pop(key, None)

    def erase_prefix(self, prefix: str) -> None:
        check_prefix(prefix)
        self._require_writable(prefix)
        if prefix and self.exists(f"{prefix}{_DOCUMENT}"):
            path = f"{self._prefix}{prefix}".rstrip("/")
            self._call(prefix, lambda: self.store.delete_dir(path))
        else:
            super().erase_prefix(prefix)

    def list_prefix(self, prefix: str) -> Iterator[str]:
        try:
            return super().list_prefix(prefix)
        except StoreReadError as error:
            if _NO_NODE not in str(error):
                raise
        # The prefix is within an array, or does not exist.
        node = prefix
        while node and not self.exists(f"{node}{_DOCUMENT}"):
            node = node[: node.rstrip("/").rfind("/") + 1]
        document = self.get(f"{node}{_DOCUMENT}")
        if document is None or json.loads(bytes(document)).get("node_type") != "array":
            return iter(())
        return (key for key in super().list_prefix(node) if key.startswith(prefix))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        if self.exists(f"{prefix}{_DOCUMENT}"):
            return super().list_dir(prefix)
        return Store.list_dir(self, prefix)  # Icechunk lists missing chunks

    def fork(self) -> Self:
        """Return the store of a fork of the session, for writing in other processes.

        Raises
        ------
        StoreError
            If Icechunk cannot fork the session: version 1 requires that all changes are committed.
        """
        session = self._session
        try:
            # A fork can be pickled.
            forked = session.fork() if hasattr(session, "fork") else session
        except ValueError as error:
            raise StoreError(f"cannot fork the session: {error}", store=self) from error
        return type(self)(forked.store, self._prefix)

    def merge(self, forks: Sequence[Self]) -> None:
        """Merge changes in forks into the session, which commits them."""
        sessions = {id(fork.store): fork._session for fork in forks}  # noqa: SLF001 - of this class
        self._session.merge(*sessions.values())

    @property
    def _session(self) -> Any:
        return self.store.session

    def __reduce__(self) -> tuple[Any, ...]:
        if self._pending:
            raise StoreError(
                "cannot be pickled while it keeps chunks beyond the edge of an array", store=self
            )
        return super().__reduce__()

    def _require_writable(self, key: str) -> None:
        # Changes in a committed session would be lost.
        self.read_only = self.read_only or self._session.read_only
        super()._require_writable(key)

    def _is_missing(self, error: Exception) -> bool:
        return any(text in str(error) for text in _NO_SUCH)
