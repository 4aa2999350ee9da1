"""A store in a collection of MongoDB, or of a compatible server.

Name:           mongodb
URL:            mongodb://[user@]host[:port]/[database][?collection=zarr_collection], or
                mongodb+srv://
Library:        pymongo
"""

from __future__ import annotations

from contextlib import nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from zarr_core.extension import StoreError, StoreReadError

from zarr_stores.databases.database_store import SortedStore, is_key, key_range
from zarr_stores.databases.server_store import ServerStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

__all__ = ["MongoDBStore"]

_BATCH_SIZE: Final = 200  # keys in one request


class MongoDBStore(SortedStore, ServerStore):
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
    library = "pymongo"
    max_concurrency = 32

    def __init__(
        self, url: str = "mongodb://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        self._path = self._path.rstrip("/") or "/mongodb_zarr"
        self._has_index = False

    # --- connections ---

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
        secrets = {word: value for word, value in self._secrets.items() if word != "password"}
        password = self._password()
        if self.user:
            secrets |= {"username": self.user, "password": password}
        address = f"{self.scheme}://{self._hosts or 'localhost'}{quote(self._path)}"
        try:
            client: Any = MongoClient(address, **options, **secrets)
            database = client.get_default_database()
            # By default writes are acknowledged after they are in the journal.
            concern = client.write_concern.document or {"w": "majority", "j": True}
            concern = WriteConcern(
                **{_CONCERN.get(word, word): value for word, value in concern.items()}
            )
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

    def _failures(self) -> tuple[type[BaseException], ...]:
        from bson.errors import BSONError  # optional dependency
        from pymongo.errors import PyMongoError

        return PyMongoError, BSONError

    def is_lost(self, error: BaseException) -> bool:
        from pymongo.errors import AutoReconnect, DuplicateKeyError  # optional dependency

        if isinstance(error, DuplicateKeyError):
            # With an index, another client has inserted the key at the same time.  While the index
            # is created, several documents have one key, which does not change with time.
            return self._has_index
        return isinstance(error, AutoReconnect)

    def _reason(self, error: BaseException) -> str:
        # Without the long description of the servers.
        return super()._reason(error).partition(", full error: ")[0].partition(", Timeout: ")[0]

    @property
    def _collection(self) -> Any:
        return self._opened()[1]

    def _indexed(self) -> Any:
        """Return the collection, after creating its index if necessary."""
        if not self._has_index:
            self._collection.create_index([("key", 1)], unique=True)
            self._has_index = True
        return self._collection

    def _failure(
        self, error: BaseException, key: str, kind: type[StoreError], done: str
    ) -> StoreError:
        from pymongo.errors import DocumentTooLarge  # optional dependency

        if isinstance(error, DocumentTooLarge):
            reason = "the value exceeds the limit of 16 MiB for MongoDB documents: use smaller "
            return StoreError(f"{reason}chunks or shards", self, key)
        if done == "written" and not self._has_index:
            done += ": the unique index of the keys cannot be created"
        return super()._failure(error, key, kind, done)

    # --- operations ---

    def _get(self, key: str) -> bytes | None:
        document = self._collection.find_one({"key": key}, _VALUE)
        return None if document is None else self._value(key, document)

    def _value(self, key: str, document: Mapping[str, Any]) -> bytes:
        value = document.get("value")
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the field 'value' of the document is not binary", self, key)

    def _set(self, values: Sequence[tuple[str, bytes]]) -> None:
        collection = self._indexed()  # reports a missing library
        for key, value in values:
            collection.replace_one({"key": key}, _document(key, value), upsert=True)

    def _erase(self, keys: Sequence[str]) -> None:
        for first in range(0, len(keys), _BATCH_SIZE):
            self._collection.delete_many({"key": {"$in": keys[first : first + _BATCH_SIZE]}})

    def _list(self, prefix: str) -> list[str]:
        documents = self._collection.find(_below(prefix), {"key": 1, "_id": 0})
        return [key for document in documents if is_key(key := document["key"])]

    def _look(self, key: str) -> AbstractContextManager[tuple[bytes | None, Any]]:
        """Return a value, and a filter that matches only this generation of it."""

        def work() -> Any:
            return self._collection.find_one({"key": key}, {**_VALUE, "version": 1})

        document = self.request(key, StoreReadError, "read", work)
        if document is None:
            return nullcontext((None, None))
        value = self._value(key, document)
        if "version" in document:
            return nullcontext((value, {"key": key, "version": document["version"]}))
        # Written by zarr-python 2.
        return nullcontext((value, {"key": key, "value": value, "version": {"$exists": False}}))

    def _swap(self, key: str, expected: dict[str, Any] | None, new: bytes | None) -> bool:
        self._opened()  # reports a missing library
        from pymongo.errors import DuplicateKeyError  # optional dependency

        if new is None:
            return bool(self._collection.delete_one(expected).deleted_count)
        document = _document(key, new)
        collection = self._indexed()
        if expected is not None:
            if collection.replace_one(expected, document).matched_count:
                return True
        else:
            try:
                collection.insert_one({**document})
            except DuplicateKeyError:
                pass
            else:
                return True
        # The client library may have repeated a request that the server had processed.
        current = collection.find_one({"key": key}, {"version": 1})
        return current is not None and current.get("version") == document["version"]

    # --- faster ways ---

    def _erase_below(self, prefix: str) -> None:
        self._collection.delete_many(_below(prefix))

    def _children(self, prefix: str) -> list[str]:
        rest = {"$substrBytes": ["$key", len(prefix.encode()), -1]}
        parts = {"$slice": [{"$split": [rest, "/"]}, 2]}
        # The first segment, with a slash if others follow.
        name = {
            "$cond": [
                {"$gt": [{"$size": "$parts"}, 1]},
                {"$concat": [{"$arrayElemAt": ["$parts", 0]}, "/"]},
                {"$arrayElemAt": ["$parts", 0]},
            ]
        }
        steps = [
            {"$match": _below(prefix)},
            {"$project": {"parts": parts}},
            {"$group": {"_id": name}},
        ]
        return [prefix + document["_id"] for document in self._collection.aggregate(steps)]


_VALUE: Final = {"value": 1, "_id": 0}
_CONCERN: Final = {"wtimeoutMS": "wtimeout", "journal": "j"}


def _document(key: str, value: bytes) -> dict[str, Any]:
    from bson import ObjectId  # optional dependency

    return {"key": key, "value": value, "version": ObjectId()}


def _below(prefix: str) -> dict[str, Any]:
    """Return a filter for the keys below a prefix; MongoDB has text in byte order."""
    if not prefix:
        return {"key": {"$gte": ""}}
    first, end = key_range(prefix)
    return {"key": {"$gte": first, "$lt": end}}
