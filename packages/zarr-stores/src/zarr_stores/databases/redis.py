"""A store in Redis, or in a compatible server.

Name:           redis
URL:            redis://[user@]host[:port]/[database][?prefix=zarr]; rediss:// for TLS;
                unix:///path[?db=0] for a socket
Library:        redis
"""

from __future__ import annotations

from hashlib import sha1
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from zarr_core.extension import StoreError, StoreReadError

from zarr_stores.databases.database_store import INVALID_NAMES
from zarr_stores.databases.server_store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zarr_core.extension import Buffer

__all__ = ["RedisStore"]

_BATCH_SIZE: Final = 500  # keys in one request
_CLUSTER_ERRORS: Final = ("MovedError", "AskError", "ClusterCrossSlotError", "ClusterDownError")
_SPECIAL: Final = str.maketrans({sign: f"\\{sign}" for sign in "\\*?[]^-"})
# Arguments: the key; the checksum of the expected value, empty if missing; the new value, if any.
_SWAP: Final = """
local value = redis.call('GET', KEYS[1])
if (value and redis.sha1hex(value) or '') ~= ARGV[1] then return 0 end
if ARGV[2] then redis.call('SET', KEYS[1], ARGV[2]) else redis.call('UNLINK', KEYS[1]) end
return 1"""


class RedisStore(ServerStore):
    """A store in Redis, with the layout of zarr-python 2: ``prefix:key``.

    Parameters
    ----------
    url : str
        ``redis://host:6379/0``, where 0 is the number of the database.
    read_only : bool
        If True, changes raise an error.
    prefix : str
        Part of the Redis keys before the colon.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retry_timeout``,
        and options of ``redis.Redis.from_url``, such as ``ssl_ca_certs``.

    Notes
    -----
    Threads and processes can read and write concurrently.  ``update`` compares and replaces
    a value in one step on the server (``EVAL``), and detects changes by any program.  A value
    has at most 512 MiB.  Values, such as shards, are read as a whole, also for a part.  Listing
    scans all keys of the database, independent of the prefix.  The durability of writes
    depends on the configuration of the server (``appendonly``).
    """

    schemes = ("redis", "rediss", "unix")
    port = 6379
    location_options = MappingProxyType({"prefix": "zarr", "db": ""})
    secrets = frozenset({"password", "ssl_password"})
    library = "redis"
    product = "Redis"
    largest_value = 1 << 29
    max_concurrency = 32

    def __init__(
        self, url: str = "redis://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        number = self._location["db"]
        if self.scheme != "unix":  # the path of a unix URL is the socket
            number = self._path.strip("/") or number
        number = number or "0"
        if not (number.isascii() and number.isdecimal()):
            raise StoreError(f"the database must be a number, not {number!r}", self)
        self._database = int(number)
        if self.scheme == "unix":
            self._location["db"] = number.removeprefix("0")
        else:
            self._location["db"], self._path = "", f"/{self._database}"
        prefix = self._location["prefix"]
        if ":" in prefix and not read_only:
            raise StoreError(
                f"the prefix {prefix!r} contains a colon, so its keys would also be those of the "
                f"prefix {prefix.partition(':')[0]!r}, which could remove them; choose another, or "
                "open the store for reading",
                self,
            )
        self._head = f"{prefix}:"

    # --- connections ---

    def _connect(self) -> Any:
        import redis  # optional dependency
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        options = {
            "socket_timeout": self._timeout,
            "socket_connect_timeout": self._connect_timeout,
            "socket_keepalive": True,
            **self._options,
            **self._secrets,
            "username": self.user or None,
            "password": self._password(),
            "db": self._database,
            "decode_responses": False,
            "retry": Retry(NoBackoff(), 0),  # ``request`` retries requests
        }
        if self.scheme == "unix":
            del options["socket_keepalive"]
            url = f"unix://{self._path}"
        else:
            url = f"{self.scheme}://{self._hosts}"
        client = redis.Redis.from_url(url, **options)
        try:
            client.connection_pool.make_connection()  # checks the options; does not connect
        except TypeError as error:
            raise StoreError(f"an option is wrong: {error}", self) from error
        return client

    @staticmethod
    def _disconnect(resources: Any) -> None:
        resources.close()

    def _failures(self) -> tuple[type[BaseException], ...]:
        from redis.exceptions import RedisError  # optional dependency

        return RedisError, OSError

    def is_lost(self, error: BaseException) -> bool:
        from redis.exceptions import AuthenticationError, ConnectionError, TimeoutError

        lost = isinstance(error, ConnectionError | TimeoutError | OSError)
        return lost and not isinstance(error, AuthenticationError)

    def _reason(self, error: BaseException) -> str:
        message = super()._reason(error)
        if type(error).__name__ in _CLUSTER_ERRORS:
            message += (
                ". Clusters are not supported as a whole: use a prefix in braces, such as "
                "?prefix={field}, which keeps the store on one node, and the address of that node"
            )
        return message

    def _pipelined(self, *commands: tuple[Any, ...]) -> list[Any]:
        """Send several commands with one request; they are not executed atomically."""
        pipeline = self._opened().pipeline(transaction=False)
        for command in commands:
            pipeline.execute_command(*command)
        answers: list[Any] = pipeline.execute()
        return answers

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        value: bytes | None = self._opened().get(self._head + key)
        return value

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        for key, value in values:
            self._check_size(key, value)
            self._opened().set(self._head + key, value)

    def _erase(self, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), _BATCH_SIZE):
            names = (self._head + key for key in keys[first : first + _BATCH_SIZE])
            self._opened().unlink(*names)

    def _list(self, prefix: str) -> list[str]:
        pattern = f"{self._head}{prefix}".translate(_SPECIAL) + "*"
        skip = len(self._head.encode())
        # SCAN may return a key more than once.
        names = dict.fromkeys(self._opened().scan_iter(pattern, count=5000))
        return [name[skip:].decode(errors=INVALID_NAMES) for name in names]

    def _swap(self, key: str, expected: bytes | None, new: bytes | None) -> bool:
        checksum = "" if expected is None else sha1(expected, usedforsecurity=False).hexdigest()
        changed = () if new is None else (new,)
        for value in changed:
            self._check_size(key, value)
        return bool(self._opened().eval(_SWAP, 1, self._head + key, checksum, *changed))

    # --- faster ways ---

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        self._check(key)
        name = self._head + key
        value: bytes
        value, is_there = self.request(
            key, StoreReadError, "read",
            lambda: self._pipelined(("GETRANGE", name, 0, limit), ("EXISTS", name)),
        )  # fmt: skip
        if len(value) > limit:
            return max(len(value), self.getsize(key) or 0)
        return value if is_there else None

    def getsize(self, key: str) -> int | None:
        self._check(key)
        name = self._head + key
        size, is_there = self.request(
            key, StoreReadError, "read",
            lambda: self._pipelined(("STRLEN", name), ("EXISTS", name)),
        )  # fmt: skip
        return int(size) if is_there else None
