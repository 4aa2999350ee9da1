"""A store in a collection of MongoDB, or of what is compatible with it.

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
    BufferReader,
    StoreError,
    StoreReadError,
    ValueReader,
    check_prefix,
    key_lock,
)

from zarr_stores._database import change_freely, is_key, joined
from zarr_stores._server import ServerStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from zarr_core.extension import Buffer, ByteRange, Change, Pieces

__all__ = ["MongoDBStore"]

_TOGETHER: Final = 200  # keys in one request
_TRIES: Final = 200


class MongoDBStore(ServerStore):
    """Keys and values in documents of a collection, as zarr-python 2 has them.

    Parameters
    ----------
    url : str
        ``mongodb://host:27017/database``; without a name the database is ``mongodb_zarr``.
    read_only : bool
        Refuse changes, and create nothing.
    collection : str
        Name of the collection, which is created when first written to.
    **options
        ``password``, ``password_variable``, ``timeout``, ``connect_timeout``, ``retries``;
        whatever else a ``MongoClient`` takes, such as ``replicaSet``, ``tlsCAFile``.

    Notes
    -----
    A document has ``key``, ``value`` and what zarr-python 2 does not look at: ``version``,
    another one for each value, by which ``update`` excludes everyone else.  A unique index
    over the keys is made before anything is written.  A document has at most 16 MiB.
    MongoDB has no way to send parts of binary values, so values are always sent whole;
    ``timeout`` is for all of an answer.
    """

    schemes = ("mongodb", "mongodb+srv")
    port = 27017
    place = MappingProxyType({"collection": "zarr_collection"})
    kept = frozenset({"authSource", "directConnection", "replicaSet", "tls"})
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
    requests = 32

    def __init__(
        self, url: str = "mongodb://localhost", read_only: bool = False, **options: Any
    ) -> None:
        super().__init__(url, read_only, **options)
        self._path = self._path.rstrip("/") or "/mongodb_zarr"
        self._has_index = False

    # --- connections ---

    def _connect(self) -> Any:
        from pymongo import MongoClient, WriteConcern  # noqa: PLC0415 - lazy: an extra
        from pymongo.errors import PyMongoError  # noqa: PLC0415 - likewise

        milliseconds = round(self._connect_timeout * 1000)
        options = {
            "serverSelectionTimeoutMS": milliseconds,
            "connectTimeoutMS": milliseconds,
            "socketTimeoutMS": round(self._timeout * 1000),
            "appname": "zarr",
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
            # What is acknowledged is in the journal.
            concern = client.write_concern.document or {"w": "majority", "j": True}
            concern = WriteConcern(**{_CONCERN.get(word, word): it for word, it in concern.items()})
            return client, database.get_collection(self._place["collection"], write_concern=concern)
        except (PyMongoError, TypeError, ValueError) as error:
            raise StoreError(f"cannot be opened: {self._reason(error)}", self) from error

    @staticmethod
    def _disconnect(resources: Any) -> None:
        from pymongo import timeout  # noqa: PLC0415 - lazy: an extra, wanted by few

        with timeout(1):  # not to say goodbye to a server that has gone
            resources[0].close()

    def failures(self) -> tuple[type[BaseException], ...]:
        from bson.errors import BSONError  # noqa: PLC0415 - lazy: an extra, wanted by few
        from pymongo.errors import PyMongoError  # noqa: PLC0415 - likewise

        return PyMongoError, BSONError

    def is_lost(self, error: BaseException) -> bool:
        from pymongo.errors import (  # noqa: PLC0415 - lazy: an extra, wanted by few
            AutoReconnect,
            DuplicateKeyError,
            ServerSelectionTimeoutError,
        )

        # Two that make a document for one key at the same time: one of them has to wait.
        lost = isinstance(error, AutoReconnect | DuplicateKeyError)
        # The last has been tried again and again already.
        return lost and not isinstance(error, ServerSelectionTimeoutError)

    def _reason(self, error: BaseException) -> str:
        # Not the whole description of the servers behind it.
        return super()._reason(error).partition(", full error: ")[0].partition(", Timeout: ")[0]

    def _read(self, key: str, work: Callable[[Any], Any]) -> Any:
        return self.ask(key, StoreReadError, "read", lambda: work(self._opened()[1]))

    def _write(self, key: str, work: Callable[[Any], Any], again: bool = True) -> Any:
        """Change something in the collection, which has its index afterwards."""
        from pymongo.errors import DocumentTooLarge  # noqa: PLC0415 - lazy: an extra

        def written() -> Any:
            try:
                return work(self._opened()[1])
            except DocumentTooLarge as error:
                reason = "larger than the 16 MiB that documents of MongoDB may have"
                raise StoreError(
                    f"{reason}: make the chunks or shards smaller", self, key
                ) from error

        if not self._has_index:
            index = ("key", 1)
            self.ask(
                *(key, StoreError, "written: there can be no unique index over the keys"),
                lambda: self._opened()[1].create_index([index], unique=True),
            )
            self._has_index = True
        return self.ask(key, StoreError, "written", written, again)

    # --- readable ---

    def _get(self, key: str) -> bytes | None:
        found = self._read(key, lambda it: it.find_one({"key": key}, _VALUE))
        return None if found is None else self._value(key, found)

    def _value(self, key: str, found: Mapping[str, Any]) -> bytes:
        value = found.get("value")
        if isinstance(value, bytes):
            return value
        raise StoreReadError("the document has no binary value", self, key)

    def get_partial_values(
        self, key_ranges: Iterable[tuple[str, ByteRange]]
    ) -> list[Buffer | None]:
        """Parts of values, in the order asked for; many values with one request."""
        asked = list(key_ranges)
        wanted: dict[str, list[int]] = {}
        for number, (key, _) in enumerate(asked):
            self._check(key)
            wanted.setdefault(key, []).append(number)
        keys = list(wanted)
        parts: list[Buffer | None] = [None] * len(asked)

        def work(some: list[str]) -> Callable[[Any], None]:
            def read(collection: Any) -> None:
                for found in collection.find({"key": {"$in": some}}, {**_VALUE, "key": 1}):
                    value = self._value(found["key"], found)
                    for number in wanted[found["key"]]:
                        start, stop = asked[number][1].within(len(value))
                        parts[number] = value[start:stop]

            return read

        for first in range(0, len(keys), _TOGETHER):
            some = keys[first : first + _TOGETHER]
            self._read(some[0], work(some))
        return parts

    def open_value(self, key: str, first: ByteRange | None = None) -> ValueReader | None:
        self._check(key)
        value, _, version = self._look(key)
        if value is None:
            return None
        reader = BufferReader(value)
        reader.version = version
        return reader

    def _look(self, key: str) -> tuple[bytes | None, dict[str, Any] | None, str | None]:
        """A value, how to find it if nobody has changed it, its version."""
        found = self._read(key, lambda it: it.find_one({"key": key}, {**_VALUE, "version": 1}))
        if found is None:
            return None, None, None
        value, version = self._value(key, found), found.get("version")
        if version is not None:
            return value, {"key": key, "version": version}, str(version)
        # Of zarr-python 2.
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

    def version(self, key: str) -> str | None:
        self._check(key)
        found = self._read(key, lambda it: it.find_one({"key": key}, {"version": 1, "_id": 0}))
        return str(found["version"]) if found else super().version(key)

    # --- writeable ---

    def set(self, key: str, value: Pieces) -> None:
        self._check_to_change(key)
        document = _document(key, joined(value))
        self._write(key, lambda it: it.replace_one({"key": key}, document, upsert=True))

    def erase(self, key: str) -> None:
        self.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Remove several keys, many with one request."""
        names = list(keys)
        for key in names:
            self._check_to_change(key)
        for first in range(0, len(names), _TOGETHER):
            self._erase(names[first], {"key": {"$in": names[first : first + _TOGETHER]}})

    def erase_prefix(self, prefix: str) -> None:
        """Remove every key below a prefix with one request."""
        self._check_prefix_to_change(prefix)
        self._erase(prefix, _below(prefix))

    def _erase(self, key: str, which: dict[str, Any]) -> None:
        self.ask(key, StoreError, "erased", lambda: self._opened()[1].delete_many(which))

    def update(self, key: str, change: Change) -> None:
        """Read, change and write a value, excluding every other change of the key.

        Notes
        -----
        The new value is stored if the version is still the one that was read; else all is
        done again.
        """
        from pymongo.errors import DuplicateKeyError  # noqa: PLC0415 - lazy: an extra

        self._check_to_change(key)

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

            # The library may have repeated what the server had done already.
            return self._write(key, work, False) or self._look(key)[2] == str(document["version"])

        with key_lock(self.url, key):
            if not change_freely(change, lambda: self._look(key)[:2], swap, _TRIES):
                raise StoreError(f"others have changed the key {_TRIES} times meanwhile", self, key)

    # --- listable ---

    def list_prefix(self, prefix: str) -> Iterator[str]:
        check_prefix(prefix)

        def work() -> list[str]:
            found = self._opened()[1].find(_below(prefix), {"key": 1, "_id": 0})
            return [document["key"] for document in found]

        return filter(is_key, self.ask(prefix, StoreReadError, "listed", work))

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
        for found in self.ask(prefix, StoreReadError, "listed", work):
            name = prefix + found["name"]
            if is_key(name):
                (prefixes if found["deeper"] else keys).append(name + "/" * found["deeper"])
        return keys, prefixes


_VALUE: Final = {"value": 1, "_id": 0}
_CONCERN: Final = {"wtimeoutMS": "wtimeout", "journal": "j"}


def _document(key: str, value: bytes) -> dict[str, Any]:
    from bson import ObjectId  # noqa: PLC0415 - lazy: an extra, wanted by few

    return {"key": key, "value": value, "version": ObjectId()}


def _below(prefix: str) -> dict[str, Any]:
    """What finds the keys below a prefix: strings are compared by their bytes, "0" follows "/"."""
    return {"key": {"$gte": prefix, "$lt": f"{prefix[:-1]}0"} if prefix else {"$gte": ""}}
