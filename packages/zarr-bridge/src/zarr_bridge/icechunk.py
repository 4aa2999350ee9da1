"""Sessions of Icechunk as stores, which have documents with their chunks, nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from zarr_core.extension import Store, StoreError, StoreReadError, check_prefix

from zarr_bridge.stores import ZarrPythonStore, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from zarr_core.extension import Buffer, Pieces

__all__ = ["IcechunkStore"]

_DOCUMENT = "zarr.json"
# Icechunk has no classes of errors for them; "node not found" comes for chunks of no array.
_OUTSIDE = "not valid for array"
_NO_SUCH = ("invalid zarr key format", "key not found", "node not found", _OUTSIDE)
_NO_NODE = "prefixes pointing to a group or array"


class IcechunkStore(ZarrPythonStore):
    """The store of a session.

    Notes
    -----
    What is written becomes visible to others when the user of the session commits it;
    nothing here commits.  A session that is read only, or was committed, refuses changes.
    The store is pickled as Icechunk allows: if the session is read only, or a fork.

    Keys that are no documents or chunks of version 3 can be asked for, but not set.  Chunks
    beyond the edge of an array, as they are written before it grows, are kept in memory until
    it has grown.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._ahead: dict[str, bytes] = {}
        self._url = ""

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False, **options: Any) -> Self:
        """Read a repository at a URL; to write, open a session and give its store.

        Parameters
        ----------
        url : str
            ``icechunk:///absolute/path``, ``icechunk+s3://bucket/prefix`` or
            ``icechunk+gs://bucket/prefix``.
        read_only : bool
            Of no importance: nothing is written without a session to commit.
        **options
            ``branch`` (``"main"`` if nothing else is said), ``tag`` or ``snapshot_id``; all others
            are those of Icechunk for the storage.  Credentials come from the environment.

        Raises
        ------
        StoreError
            If there is no such repository, or Icechunk refuses an option.
        """
        try:
            import icechunk  # noqa: PLC0415 - lazy: few need it

            told = {name: options.pop(name, None) for name in ("branch", "tag", "snapshot_id")}
            if not any(told.values()):
                told["branch"] = "main"
            scheme, _, place = url.removeprefix("icechunk+").partition("://")
            bucket, _, prefix = place.partition("/")
            if scheme == "s3":
                options = {"from_env": True, "anonymous": None, **options}
                storage = icechunk.s3_storage(bucket=bucket, prefix=prefix, **options)
            elif scheme in ("gs", "gcs"):
                storage = icechunk.gcs_storage(bucket=bucket, prefix=prefix, **options)
            else:
                storage = icechunk.local_filesystem_storage(unquote(place), **options)
            session = icechunk.Repository.open(storage).readonly_session(**told)
        except Exception as error:  # a library of its own kind
            text = str(error).partition("\n")[0].strip()
            raise StoreError(
                f"Icechunk cannot open it: {type(error).__name__}: {text}", url
            ) from error
        store = cls(session.store, read_only=True)
        store._url = url
        return store

    @property
    def url(self) -> str:
        return self._url or super().url

    def get(self, key: str) -> Buffer | None:
        value = super().get(key)
        return self._ahead.get(key) if value is None else value

    def getsize(self, key: str) -> int | None:
        size = super().getsize(key)
        return len(self._ahead[key]) if size is None and key in self._ahead else size

    def set(self, key: str, value: Pieces) -> None:
        try:
            super().set(key, value)
        except StoreError as error:
            if _OUTSIDE not in str(error):
                raise
            self._ahead[key] = joined(value)
        if self._ahead and key.endswith(_DOCUMENT):
            node = key.removesuffix(_DOCUMENT)
            for ahead in [name for name in self._ahead if name.startswith(node)]:
                self.set(ahead, self._ahead.pop(ahead))

    def erase(self, key: str) -> None:
        super().erase(key)
        self._ahead.pop(key, None)

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
        # Within an array, or nowhere.
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
        return Store.list_dir(self, prefix)  # of chunks Icechunk lists what is not there

    def fork(self) -> Self:
        """A store of a fork of the session, for other processes to write into.

        Raises
        ------
        StoreError
            If Icechunk refuses, as its version 1 does where something is not committed.
        """
        session = self._session
        try:
            # A fork is its own: it pickles.
            forked = session.fork() if hasattr(session, "fork") else session
        except ValueError as error:
            raise StoreError(f"cannot be forked: {error}", store=self) from error
        return type(self)(forked.store, self._prefix)

    def merge(self, forks: Sequence[Self]) -> None:
        """Take over what was written into forks; it is committed with the session."""
        sessions = {id(fork.store): fork._session for fork in forks}  # noqa: SLF001 - of this class
        self._session.merge(*sessions.values())

    @property
    def _session(self) -> Any:
        return self.store.session  # type: ignore[attr-defined]  # of theirs

    def __reduce__(self) -> tuple[Any, ...]:
        if self._ahead:
            raise StoreError("cannot be pickled while an array is about to grow", store=self)
        return super().__reduce__()

    def _require_writable(self, key: str) -> None:
        # What was written by a session that is committed would be nowhere.
        self.read_only = self.read_only or self._session.read_only
        super()._require_writable(key)

    def _is_missing(self, error: Exception) -> bool:
        return any(text in str(error) for text in _NO_SUCH)
