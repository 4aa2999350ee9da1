"""A store in a directory of an SFTP server.

Name:           sftp
URL:            sftp://[user@]host[:port]/absolute/path
Library:        asyncssh
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from zarr_core.extension import (
    BufferReader,
    StoreError,
    StoreKeyError,
    StoreReadError,
    ValueReader,
    check_prefix,
    key_lock,
)

from zarr_stores._database import joined
from zarr_stores._server import ServerStore

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator

    from asyncssh import SFTPClient
    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

    from zarr_stores.sftp_directory import Directory

__all__ = ["SFTPStore"]

T = TypeVar("T")

_TOGETHER: Final = 64  # parts that one call asks for at the same time
_TRIES: Final = 5


class SFTPStore(ServerStore):
    """Keys and values in files of a directory, which is created when first written to.

    Parameters
    ----------
    url : str
        ``sftp://user@host:22/path``; without a user the one who runs this.
    read_only : bool
        Refuse changes.
    fsync : bool
        Have every value on the disk of the server before ``set`` returns.
    lease : float
        Seconds for which ``update`` excludes others after the connection was lost.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retries``;
        whatever else ``asyncssh.connect`` takes, such as ``client_keys``, ``known_hosts``.

    Notes
    -----
    What OpenSSH uses is used: ``~/.ssh/config``, keys, the agent, known hosts; others are
    refused.  A value is written under another name and then renamed, so readers and crashes
    see the old value or the new one.  ``update`` excludes all clients by a lock file, for
    which the server must refuse to create what is there already, as OpenSSH does.

    The files are those of a store in a directory of the server, where names that begin with
    ``.`` and end in ``.zarr-partial`` are no keys.  Symbolic links that lead out of the
    directory are not followed.
    """

    schemes = ("sftp",)
    port = 22
    kept = frozenset({"client_keys", "config", "known_hosts"})
    secrets = frozenset({"password", "passphrase"})
    secret_from = (
        "password_variable='NAME', the name of an environment variable, or use a key with ssh-agent"
    )
    library = "asyncssh"
    requests = 32

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
        own = {"fsync": fsync, "lease": lease, **self._options}
        self._options = own  # which pickles have
        self._fsync = str(own["fsync"]).lower() not in ("false", "0", "")
        try:
            self._lease = float(own["lease"])
        except ValueError:
            raise StoreError("the option lease is not a number", self) from None
        self._path = "/" + "/".join(part for part in self._path.split("/") if part not in ("", "."))
        if "\0" in self._path or ".." in self._path.split("/"):
            raise StoreError("the path of the directory must not have '..' or NUL", self)

    # --- connections ---

    def _connect(self) -> Directory:
        from zarr_stores.sftp_directory import Directory  # noqa: PLC0415 - needs an extra
        from zarr_stores.sftp_link import Link  # noqa: PLC0415 - likewise

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

    def failures(self) -> tuple[type[BaseException], ...]:
        from asyncssh import Error, KeyEncryptionError, KeyImportError  # noqa: PLC0415 - an extra

        from zarr_stores.sftp_link import UnusableError  # noqa: PLC0415 - likewise

        return Error, OSError, KeyImportError, KeyEncryptionError, UnusableError

    def is_lost(self, error: BaseException) -> bool:
        from asyncssh import (  # noqa: PLC0415 - lazy: an extra, wanted by few
            ConnectionLost,
            SFTPConnectionLost,
            SFTPNoConnection,
        )

        kinds = ConnectionLost | SFTPConnectionLost | SFTPNoConnection | ConnectionError
        return isinstance(error, kinds | TimeoutError)

    def _reason(self, error: BaseException) -> str:
        from asyncssh import SFTPBadMessage, SFTPFailure  # noqa: PLC0415 - lazy: an extra

        reason = super()._reason(error)
        if isinstance(error, SFTPBadMessage):
            return f"too long, or no name on the server ({reason})"
        if isinstance(error, SFTPFailure):
            return f"the server says no more than {reason!r}; is its disk full?"
        return reason

    def _do(
        self, key: str, kind: type[StoreError], done: str,
        work: Callable[[Directory, SFTPClient], Awaitable[T]],
    ) -> T:  # fmt: skip
        def run() -> T:
            directory: Directory = self._opened()
            return directory.link.run(partial(work, directory))

        return self.ask(key, kind, done, run)

    def _check_to_change(self, key: str) -> None:
        super()._check_to_change(key)
        if ".zarr-" in key:
            from zarr_stores.sftp_files import is_ours  # noqa: PLC0415 - needs an extra

            if any(map(is_ours, key.encode().split(b"/"))):
                reason = "names that begin with '.' and end in '.zarr-partial' belong to the store"
                raise StoreKeyError(reason, self, key)

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        return self._do(key, StoreReadError, "read", lambda it, client: it.read(client, key))

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for, many at the same time."""
        from zarr_stores.sftp_directory import read_all  # noqa: PLC0415 - needs an extra

        asked = list(key_ranges)
        for key, _ in asked:
            self._check(key)
        parts: list[Buffer | None] = []
        for first in range(0, len(asked), _TOGETHER):
            some = asked[first : first + _TOGETHER]
            parts += self._do(some[0][0], StoreReadError, "read", partial(read_all, some))
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        from zarr_stores.sftp_reader import FileReader  # noqa: PLC0415 - needs an extra

        self._check(key)
        opened = self._do(
            key, StoreReadError, "read", lambda it, client: it.begin(client, key, first)
        )
        if opened is None:
            return None
        file, size, start, data = opened
        directory: Directory = self._opened()
        if not start and len(data) >= size:
            directory.link.begin_soon(file.close)
            return BufferReader(data)
        return FileReader(self, key, size, start, data, directory.link, file)

    def exists(self, key: str) -> bool:
        return self.getsize(key) is not None

    def getsize(self, key: str) -> int | None:
        self._check(key)
        return self._do(key, StoreReadError, "read", lambda it, client: it.size(client, key))

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        data = joined(value)
        self._do(key, StoreError, "written", lambda it, client: it.replace(client, key, data))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other such change of the key."""
        self._check_to_change(key)
        with key_lock(self.url, key):
            for _ in range(_TRIES):
                if self._change_leased(key, change):
                    return
        raise StoreError("the connection is too bad to keep others from changing it", self, key)

    def _change_leased(self, key: str, change: Change) -> bool:
        """Change a value while nobody else may; False if that right was lost on the way."""
        from zarr_stores.sftp_lease import Lease  # noqa: PLC0415 - needs an extra

        directory: Directory = self._opened()
        lease = Lease(directory, directory.path(key), self._lease)
        # Others may take any time.
        self.ask(
            key, StoreError, "locked", lambda: directory.link.run(lease.acquire, limited=False)
        )
        try:
            old = self._get(key)
            value = change(None if old is None else BufferReader(old))
            if isinstance(value, ValueReader) or (value is None and old is None):
                return True
            if value is None:
                return self._do(
                    key, StoreError, "erased", lambda it, client: it.erase(client, key, lease)
                )
            data = joined(value)
            return self._do(
                key, StoreError, "written", lambda it, client: it.replace(client, key, data, lease)
            )
        finally:
            self._do(key, StoreError, "unlocked", lambda _, client: lease.release(client))

    def erase(self, key: str) -> None:
        self._check_to_change(key)
        self._do(key, StoreError, "erased", lambda it, client: it.erase(client, key))

    def erase_prefix(self, prefix: str) -> None:
        self._check_prefix_to_change(prefix)
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
