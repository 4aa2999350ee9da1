import time

import pytest
from server_store_contract import SECRET, ServerStoreContract, unique
from zarr_core.extension import StoreError, StoreReadError
from zarr_stores.databases.mongodb import MongoDBStore

pytest_plugins = ["servers.fixtures"]


class TestMongoDBStore(ServerStoreContract):
    name = "mongodb"
    kind = MongoDBStore
    test_a_slow_line_is_not_given_up = None  # the timeout of pymongo applies to the whole response

    @pytest.fixture(autouse=True)
    def server(self, mongo_server):
        self._server = mongo_server
        return mongo_server

    def at(self, place, server=None, **options):
        server = server or self._server
        address = f"{server.host}:{server.port}/zarr?directConnection=true&collection={place}"
        return MongoDBStore(f"mongodb://{address}", **options)

    def again(self, store, *, read_only):
        return MongoDBStore(store.url, read_only=read_only)

    def with_secret(self):
        server = self._server
        address = f"{server.host}:{server.port}/zarr?directConnection=true"
        return MongoDBStore(f"mongodb://me:{SECRET}@{address}", retry_timeout=0, connect_timeout=1)


@pytest.fixture
def store(mongo_server):
    address = f"{mongo_server.host}:{mongo_server.port}"
    url = f"mongodb://{address}/zarr?directConnection=true"
    with MongoDBStore(url, collection=unique()) as store:
        yield store


@pytest.fixture
def collection(mongo_server, store):
    import pymongo

    with pymongo.MongoClient(mongo_server.url) as client:
        yield client["zarr"][store._location["collection"]]


def test_the_documents_are_those_of_zarr_python_2(store, collection):
    store.set("a/.zarray", b"v")
    store.set("a/.zarray", b"w")
    (document,) = collection.find()
    assert (document["key"], document["value"]) == ("a/.zarray", b"w")
    assert collection.index_information()["key_1"]["unique"]
    assert MongoDBStore("mongodb://localhost").url == "mongodb://localhost/mongodb_zarr"


def test_zarr_python_2_checksum_without_version(store, collection):
    store.set("k", b"v")
    first = store.generation("k")
    collection.replace_one({"key": "k"}, {"key": "k", "value": b"old"})
    assert store.generation("k") not in (None, first)
    calls = []

    def change(reader):
        calls.append(bytes(reader.read(0, reader.size)))
        if len(calls) == 1:
            collection.replace_one({"key": "k"}, {"key": "k", "value": b"newer"})
        return b"mine"

    store.update("k", change)
    assert calls == [b"old", b"newer"]
    assert store.get("k") == b"mine"


def test_a_document_has_at_most_16_mib(store):
    store.set("k", bytes(15 << 20))
    for call in (
        lambda: store.set("k", bytes(17 << 20)),
        lambda: store.update("k", lambda _: bytes(17 << 20)),
    ):
        with pytest.raises(StoreError, match=r"'k': the value exceeds the limit of 16 MiB"):
            call()
    assert store.getsize("k") == 15 << 20


def test_foreign_documents_are_not_keys(store, collection):
    foreign = [
        {"key": "../x"},
        {"key": "a//b"},
        {"key": 5},
        {"other": 1},
        {"key": "text", "value": "v"},
    ]
    store.set("a/k", b"v")
    collection.insert_many(foreign)
    assert sorted(store.list()) == ["a/k", "text"]
    assert store.list_dir("a/") == (["a/k"], [])
    for call in (store.get, store.open_value, lambda key: store.update(key, lambda _: b"")):
        with pytest.raises(StoreReadError, match="is not binary"):
            call("text")


def test_duplicate_documents_for_a_key_raise(store, collection):
    collection.insert_many([{"key": "k", "value": b"1"}, {"key": "k", "value": b"2"}])
    assert store.get("none") is None  # a server that has answered is asked again for 60 s
    began = time.monotonic()
    with pytest.raises(StoreError, match="unique index"):
        store.set("other", b"v")
    assert time.monotonic() - began < 30


def test_wrong_options_say_so():
    for options in ({"colour": 1}, {"readPreference": "some"}, {"tls": "perhaps"}):
        with pytest.raises(StoreError, match="mongodb://h/d"):
            MongoDBStore("mongodb://h/d", **options).get("k")
