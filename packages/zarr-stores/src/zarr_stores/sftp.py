"""A store in a directory of an SFTP server.

Name:           sftp
URL:            sftp://[user@]host[:port]/absolute/path
Library:        asyncssh
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zarr_core.extension import (
    BufferByteReader,
    ByteRange,
    ByteReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    check_prefix,
)
from zarr_core.tools import key_lock

from zarr_stores._database import to_bytes
from zarr_stores._server import ServerStore
from zarr_stores.unknown_options import arguments_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from asyncssh import SFTPClient
    from zarr_core.extension import Buffer, Buffers, Change

    from zarr_stores.sftp_directory import Directory

__all__ = ["SFTPStore"]

T = TypeVar("T")

_BATCH_SIZE: Final = 64  # parts in one batch of concurrent requests
_MAX_ATTEMPTS: Final = 5


class SFTPStore(ServerStore):
    """A store in a directory of an SFTP server, which is created by the first write.

    Parameters
    ----------
    url : str
        ``sftp://user@host:22/path``; by default the current user.
    read_only : bool
        If True, changes raise an error.
    fsync : bool
        Whether ``set`` returns only after the value is on the disk of the server.
    lease : float
        Seconds for which ``update`` excludes others after the connection is lost.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retry_timeout``,
        and options of ``asyncssh.connect``, such as ``client_keys``, ``known_hosts``.

    Notes
    -----
    The configuration of OpenSSH is used: ``~/.ssh/config``, keys, the agent and known hosts.
    Unknown hosts are rejected.  A value is written to a temporary file and renamed, so that
    readers always see the old or the new value.  ``update`` excludes all clients with a lock
    file.  This requires that the server does not create a file that exists, as OpenSSH.

    The files have the layout of a ``LocalStore``.  Names that begin with ``.`` and end in
    ``.zarr-partial`` are not keys.  Symbolic links that point outside the directory are not
    followed.
    """

    schemes = ("sftp",)
    port = 22
    url_options = frozenset({"client_keys", "config", "known_hosts"})
    secrets = frozenset({"password", "passphrase", "pkcs11_pin"})
    secret_hint = (
        "password_variable='NAME', the name of an environment variable, or use a key with ssh-agent"
    )
    store_options = frozenset({"fsync", "lease"})
    library = "asyncssh"
    max_concurrency = 32

    def __init__(
        self,
        url: str,
        read_only: bool = False,
        *,
        fsync: bool = False,
        lease: float = 10.0,
        **options: Any,
    ) -> None:
        super().__init__(url, read_only, **options)
        store_options = {"fsync": fsync, "lease": lease, **self._options}
        self._options = store_options  # pickled with the store
        self._fsync = str(store_options["fsync"]).lower() not in ("false", "0", "")
        try:
            self._lease = float(store_options["lease"])
        except ValueError:
            raise StoreError("the option lease is not a number", self) from None
        self._path = "/" + "/".join(part for part in self._path.split("/") if part not in ("", "."))
        if "\0" in self._path or ".." in self._path.split("/"):
            raise StoreError("the path of the directory must not contain '..' or NUL", self)

    # --- connections ---

    def library_options(self) -> Iterable[str]:
        import asyncssh  # optional dependency

        prepare = asyncssh.SSHClientConnectionOptions.prepare
        return arguments_of(asyncssh.connect, prepare, asyncssh.SSHClientConnectionOptions)

    def _connect(self) -> Directory:
        from zarr_stores.sftp_directory import Directory  # optional dependency
        from zarr_stores.sftp_link import Link

        host, colon, port = self._hosts.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = self._hosts, ""
        options = {
            "keepalive_interval": 15,
            **self._options,
            **self._secrets,
            "host": host.strip("[]"),
            "port": int(port) if port else (),
            "username": self.user or (),
        }
        del options["fsync"], options["lease"]
        if (password := self._password()) is not None:
            options["password"] = password
        link = Link(options, self._timeout, self._connect_timeout)
        root = self._path.rstrip("/").encode()
        return Directory(root, link, self._fsync)

    @staticmethod
    def _disconnect(resources: Directory) -> None:
        resources.link.close()

    def exceptions(self) -> tuple[type[BaseException], ...]:
        from asyncssh import Error, KeyEncryptionError, KeyImportError  # optional dependency

        from zarr_stores.sftp_link import UnusableError

        return Error, OSError, KeyImportError, KeyEncryptionError, UnusableError

    def is_lost(self, error: BaseException) -> bool:
        from asyncssh import (  # optional dependency
            ConnectionLost,
            SFTPConnectionLost,
            SFTPNoConnection,
        )

        kinds = ConnectionLost | SFTPConnectionLost | SFTPNoConnection | ConnectionError
        return isinstance(error, kinds | TimeoutError)

    def _reason(self, error: BaseException) -> str:
        from asyncssh import SFTPBadMessage, SFTPFailure  # optional dependency

        reason = super()._reason(error)
        if isinstance(error, SFTPBadMessage):
            return f"the name is too long, or not valid on the server ({reason})"
        if isinstance(error, SFTPFailure):
            return f"the server reports only {reason!r}; check whether its disk is full"
        return reason

    def _do(
        self, key: str, kind: type[StoreError], done: str,
        work: Callable[[Directory, SFTPClient], Awaitable[T]],
    ) -> T:  # fmt: skip
        def run() -> T:
            directory: Directory = self._opened()
            return directory.link.run(partial(work, directory))

        return self.request(key, kind, done, run)

    def _check_writable(self, key: str) -> None:
        super()._check_writable(key)
        if ".zarr-" in key:
            self._opened()  # reports a missing library
            from zarr_stores.sftp_files import is_reserved  # optional dependency

            if any(map(is_reserved, key.encode().split(b"/"))):
                reason = "names that begin with '.' and end in '.zarr-partial' are reserved"
                raise StoreKeyError(reason, self, key)

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        return self._do(key, StoreReadError, "read", lambda it, client: it.read(client, key))

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        reader = self.open_value(key, ByteRange(0, limit))
        if reader is None:
            return None
        with reader:
            return reader.size if reader.size > limit else reader.read(0, reader.size)

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Return parts of values in the given order, read concurrently."""
        requested = list(key_ranges)
        for key, _ in requested:
            self._check(key)
        self._opened()  # reports a missing library
        from zarr_stores.sftp_directory import read_all  # optional dependency

        parts: list[Buffer | None] = []
        for first in range(0, len(requested), _BATCH_SIZE):
            some = requested[first : first + _BATCH_SIZE]
            parts += self._do(some[0][0], StoreReadError, "read", partial(read_all, some))
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        self._check(key)
        self._opened()  # reports a missing library
        from zarr_stores.sftp_reader import FileReader  # optional dependency

        opened = self._do(
            key, StoreReadError, "read", lambda it, client: it.begin(client, key, first)
        )
        if opened is None:
            return None
        file, size, start, data = opened
        directory: Directory = self._opened()
        if not start and len(data) >= size:
            directory.link.start_task_threadsafe(file.close)
            return BufferByteReader(data)
        return FileReader(self, key, size, start, data, directory.link, file)

    def getsize(self, key: str) -> int | None:
        self._check(key)
        return self._do(key, StoreReadError, "read", lambda it, client: it.size(client, key))

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_writable(key)
        data = to_bytes(value)
        self._do(key, StoreError, "written", lambda it, client: it.replace(client, key, data))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other updates of the key."""
        self._check_writable(key)
        with key_lock(self.url, key):
            for _ in range(_MAX_ATTEMPTS):
                if self._change_leased(key, change):
                    return
        raise StoreError(
            "cannot be updated: the lock was lost repeatedly because of the connection", self, key
        )

    def _change_leased(self, key: str, change: Change) -> bool:
        """Change a value while holding a lease; return False if the lease was lost."""
        directory: Directory = self._opened()
        from zarr_stores.sftp_lease import Lease  # optional dependency

        lease = Lease(directory, directory.path(key), self._lease)
        # Without a timeout, because another client may hold the lease.
        self.request(
            key, StoreError, "locked", lambda: directory.link.run(lease.acquire, limited=False)
        )
        try:
            old = self._get(key)
            value = change(None if old is None else BufferByteReader(old))
            if isinstance(value, ByteReader) or (value is None and old is None):
                return True
            if value is None:
                return self._do(
                    key, StoreError, "erased", lambda it, client: it.erase(client, key, lease)
                )
            data = to_bytes(value)
            return self._do(
                key, StoreError, "written", lambda it, client: it.replace(client, key, data, lease)
            )
        finally:
            self._do(key, StoreError, "unlocked", lambda _, client: lease.release(client))

    def erase(self, key: str) -> None:
        self._check_writable(key)
        self._do(key, StoreError, "erased", lambda it, client: it.erase(client, key))

    def erase_prefix(self, prefix: str) -> None:
        self._check_prefix_writable(prefix)
        self._do(prefix, StoreError, "erased", lambda it, client: it.erase_prefix(client, prefix))

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)
        return iter(
            self._do(prefix, StoreReadError, "listed", lambda it, client: it.keys(client, prefix))
        )

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        return self._do(
            prefix, StoreReadError, "listed", lambda it, client: it.children(client, prefix)
        )
