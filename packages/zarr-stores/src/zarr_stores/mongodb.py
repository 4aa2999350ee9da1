"""A store in a collection of MongoDB, or of a compatible server.

Name:           mongodb
URL:            mongodb://[user@]host[:port]/[database][?collection=zarr_collection], or
                mongodb+srv://
Library:        pymongo
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from zarr_core.extension import (
    BufferByteReader,
    ByteReader,
    StoreError,
    StoreReadError,
    check_prefix,
)
from zarr_core.tools import key_lock

from zarr_stores._database import compare_and_swap, is_key, to_bytes
from zarr_stores._server import ServerStore
from zarr_stores.unknown_options import arguments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_core.extension import Buffer, Buffers, ByteRange, Change

__all__ = ["MongoDBStore"]

_BATCH_SIZE: Final = 200  # keys in one request
_MAX_ATTEMPTS: Final = 200


class MongoDBStore(ServerStore):
    """A store in a MongoDB collection, with the layout of zarr-python 2.

    Parameters
    ----------
    url : str
        ``mongodb://host:27017/database``; the default database is ``mongodb_zarr``.
    read_only : bool
        If True, changes raise an error and nothing is created.
    collection : str
        Name of the collection; created by the first write.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retry_timeout``,
        and options of ``pymongo.MongoClient``, such as ``replicaSet``, ``tlsCAFile``.

    Notes
    -----
    A document has the fields ``key``, ``value`` and ``version``.  The version is unique for
    each value; ``update`` uses it to detect concurrent changes, and zarr-python 2 ignores it.
    A unique index of the keys is created before the first write.  A document has at most
    16 MiB.  MongoDB cannot send parts of binary values, so values are always sent whole.
    ``timeout`` applies to a whole response.
    """

    schemes = ("mongodb", "mongodb+srv")
    port = 27017
    location_options = MappingProxyType({"collection": "zarr_collection"})
    url_options = frozenset({"authSource", "directConnection", "replicaSet", "tls"})
    secrets = frozenset(
        {
            "password",
            "authmechanismproperties",
            "proxypassword",
            "sslpemphrase",
            "tlscertificatekeyfilepassword",
        }
    )
    ignores_case = True
    library = "pymongo"
    max_concurrency = 32

    def __init__(
        self, url: str = "mongodb://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        self._path = self._path.rstrip("/") or "/mongodb_zarr"
        self._has_index = False

    # --- connections ---

    def library_options(self) -> Iterable[str]:
        from pymongo import MongoClient, common  # optional dependency

        return {*common.VALIDATORS} | arguments_of(MongoClient)

    def _connect(self) -> Any:
        from pymongo import MongoClient, WriteConcern  # optional dependency
        from pymongo.errors import PyMongoError

        milliseconds = round(self._connect_timeout * 1000)
        options = {
            "serverSelectionTimeoutMS": milliseconds,
            "connectTimeoutMS": milliseconds,
            "socketTimeoutMS": round(self._timeout * 1000),
            "appname": "zarr",
            "retryReads": False,  # ``request`` repeats them
            **self._options,
        }
        secrets = {word: it for word, it in self._secrets.items() if word != "password"}
        password = self._password()
        if self.user:
            secrets |= {"username": self.user, "password": password}
        address = f"{self.scheme}://{self._hosts or 'localhost'}{quote(self._path)}"
        try:
            client: Any = MongoClient(address, **options, **secrets)
            database = client.get_default_database()
            # By default writes are acknowledged after they are in the journal.
            concern = client.write_concern.document or {"w": "majority", "j": True}
            concern = WriteConcern(**{_CONCERN.get(word, word): it for word, it in concern.items()})
            return client, database.get_collection(
                self._location["collection"], write_concern=concern
            )
        except (PyMongoError, TypeError, ValueError) as error:
            raise StoreError(f"cannot open the collection: {self._reason(error)}", self) from error

    @staticmethod
    def _disconnect(resources: Any) -> None:
        from pymongo import timeout  # optional dependency

        with timeout(1):  # the server may not be reachable
            resources[0].close()

    def exceptions(self) -> tuple[type[BaseException], ...]:
        from bson.errors import BSONError  # optional dependency
        from pymongo.errors import PyMongoError

        return PyMongoError, BSONError

    def is_lost(self, error: BaseException) -> bool:
        from pymongo.errors import AutoReconnect, DuplicateKeyError  # optional dependency

        # DuplicateKeyError: another client inserted a document with this key at the same time.
        return isinstance(error, AutoReconnect | DuplicateKeyError)

    def _reason(self, error: BaseException) -> str:
        # Without the long description of the servers.
        return super()._reason(error).partition(", full error: ")[0].partition(", Timeout: ")[0]

    def _read(self, key: str, work: Callable[[Any], Any]) -> Any:
        return self.request(key, StoreReadError, "read", lambda: work(self._opened()[1]))

    def _write(self, key: str, work: Callable[[Any], Any], again: bool = True) -> Any:
        """Write to the collection; create its index first if necessary."""
        self._opened()  # reports a missing library
        from pymongo.errors import DocumentTooLarge  # optional dependency

        def written() -> Any:
            try:
                return work(self._opened()[1])
            except DocumentTooLarge as error:
                raise StoreError(
                    "the value exceeds the limit of 16 MiB for MongoDB documents: use smaller "
                    "chunks or shards",
                    self,
                    key,
                ) from error

        if not self._has_index:
            index = ("key", 1)
            self.request(
                *(key, StoreError, "written: the unique index of the keys cannot be created"),
                lambda: self._opened()[1].create_index([index], unique=True),
            )
            self._has_index = True
        return self.request(key, StoreError, "written", written, again)

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        found = self._read(key, lambda it: it.find_one({"key": key}, _VALUE))
        return None if found is None else self._value(key, found)

    def get_limited(
        self, key: str, limit: int, out: memoryview | None = None
    ) -> Buffer | int | None:
        self._check(key)
        size = {"$binarySize": "$value"}
        fits = {"$lte": [size, limit]}
        fields = {"_id": 0, "value": {"$cond": [fits, "$value", size]}}
        found = self._read(key, lambda it: it.find_one({"key": key}, fields))
        if found is None or isinstance(found.get("value"), int):
            return None if found is None else int(found["value"])
        return self._value(key, found)

    def _value(self, key: str, found: Mapping[str, Any]) -> bytes:
        value = found.get("value")
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the field 'value' of the document is not binary", self, key)

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Return parts of values in the given order; one request reads many values."""
        requested = list(key_ranges)
        wanted: dict[str, list[int]] = {}
        for number, (key, _) in enumerate(requested):
            self._check(key)
            wanted.setdefault(key, []).append(number)
        keys = list(wanted)
        parts: list[Buffer | None] = [None] * len(requested)

        def work(some: list[str]) -> Callable[[Any], None]:
            def read(collection: Any) -> None:
                for found in collection.find({"key": {"$in": some}}, {**_VALUE, "key": 1}):
                    value = self._value(found["key"], found)
                    for number in wanted[found["key"]]:
                        start, stop = requested[number][1].within(len(value))
                        parts[number] = value[start:stop]

            return read

        for first in range(0, len(keys), _BATCH_SIZE):
            some = keys[first : first + _BATCH_SIZE]
            self._read(some[0], work(some))
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ByteReader | None:
        self._check(key)
        value, _, version = self._look(key)
        if value is None:
            return None
        reader = BufferByteReader(value)
        reader.generation = version
        return reader

    def _look(self, key: str) -> tuple[bytes | None, dict[str, Any] | None, str | None]:
        """Return a value, a filter that matches this generation, and the generation."""
        found = self._read(key, lambda it: it.find_one({"key": key}, {**_VALUE, "version": 1}))
        if found is None:
            return None, None, None
        value, version = self._value(key, found), found.get("version")
        if version is not None:
            return value, {"key": key, "version": version}, str(version)
        # Written by zarr-python 2.
        return value, {"key": key, "value": value, "version": {"$exists": False}}, None

    def exists(self, key: str) -> bool:
        self._check(key)
        return self._read(key, lambda it: it.find_one({"key": key}, {"_id": 1})) is not None

    def getsize(self, key: str) -> int | None:
        self._check(key)
        steps = [{"$match": {"key": key}}, {"$project": {"size": {"$binarySize": "$value"}}}]
        for found in self._read(key, lambda it: list(it.aggregate(steps))):
            return int(found["size"])
        return None

    def generation(self, key: str) -> str | None:
        self._check(key)
        found = self._read(key, lambda it: it.find_one({"key": key}, {"version": 1, "_id": 0}))
        return str(found["version"]) if found else super().generation(key)

    # --- writeable ---

    def set(self, key: str, value: Buffers) -> None:
        self._check_writable(key)
        self._opened()  # reports a missing library
        document = _document(key, to_bytes(value))
        self._write(key, lambda it: it.replace_one({"key": key}, document, upsert=True))

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys; one request removes many."""
        names = list(keys)
        for key in names:
            self._check_writable(key)
        for first in range(0, len(names), _BATCH_SIZE):
            self._erase(names[first], {"key": {"$in": names[first : first + _BATCH_SIZE]}})

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix with one request."""
        self._check_prefix_writable(prefix)
        self._erase(prefix, _below(prefix))

    def _erase(self, key: str, which: dict[str, Any]) -> None:
        self.request(key, StoreError, "erased", lambda: self._opened()[1].delete_many(which))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding other changes of the key.

        Notes
        -----
        The new value is stored if the generation is unchanged.  Otherwise the update is retried.
        """
        self._check_writable(key)
        self._opened()  # reports a missing library
        from pymongo.errors import DuplicateKeyError  # optional dependency

        def swap(seen: dict[str, Any] | None, new: bytes | None) -> bool:
            if new is None:
                return bool(self._write(key, lambda it: it.delete_one(seen), False).deleted_count)
            document = _document(key, new)

            def work(collection: Any) -> bool:
                if seen is not None:
                    return bool(collection.replace_one(seen, document).matched_count)
                try:
                    collection.insert_one({**document})
                except DuplicateKeyError:
                    return False
                return True

            # The client library may have repeated a request that the server had processed.
            return self._write(key, work, False) or self._look(key)[2] == str(document["version"])

        with key_lock(self.url, key):
            if not compare_and_swap(change, lambda: self._look(key)[:2], swap, _MAX_ATTEMPTS):
                raise StoreError(
                    f"cannot be updated: other writers changed the key {_MAX_ATTEMPTS} times",
                    self,
                    key,
                )

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)

        def work() -> list[str]:
            found = self._opened()[1].find(_below(prefix), {"key": 1, "_id": 0})
            return [document["key"] for document in found]

        return filter(is_key, self.request(prefix, StoreReadError, "listed", work))

    def list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        check_prefix(prefix)
        rest = {"$substrBytes": ["$key", len(prefix.encode()), -1]}
        steps = [
            {"$match": _below(prefix)},
            {"$project": {"parts": {"$split": [rest, "/"]}}},
            {
                "$group": {
                    "_id": {
                        "name": {"$arrayElemAt": ["$parts", 0]},
                        "deeper": {"$gt": [{"$size": "$parts"}, 1]},
                    }
                }
            },
        ]

        def work() -> list[Any]:
            return [found["_id"] for found in self._opened()[1].aggregate(steps)]

        keys: list[str] = []
        prefixes: list[str] = []
        for found in self.request(prefix, StoreReadError, "listed", work):
            name = prefix + found["name"]
            if is_key(name):
                (prefixes if found["deeper"] else keys).append(name + "/" * found["deeper"])
        return keys, prefixes


_VALUE: Final = {"value": 1, "_id": 0}
_CONCERN: Final = {"wtimeoutMS": "wtimeout", "journal": "j"}


def _document(key: str, value: bytes) -> dict[str, Any]:
    from bson import ObjectId  # optional dependency

    return {"key": key, "value": value, "version": ObjectId()}


def _below(prefix: str) -> dict[str, Any]:
    """Return a filter for the keys below a prefix, in byte order: "0" follows "/"."""
    return {"key": {"$gte": prefix, "$lt": f"{prefix[:-1]}0"} if prefix else {"$gte": ""}}
