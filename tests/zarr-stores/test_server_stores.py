"""Stores on database servers: one contract, and what is peculiar to each."""

import logging
import random
import sys
import time

import numpy as np
import pytest
import zarr_core as zarr
from server_store_contract import ServerStoreContract, unique
from servers.faults import reset
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from zarr_core.extension import StoreError, StoreReadError
from zarr_stores.databases.mongodb import MongoDBStore
from zarr_stores.databases.postgresql import PostgreSQLStore
from zarr_stores.databases.redis import RedisStore

pytest_plugins = ["servers.fixtures"]


class TestRedisStore(ServerStoreContract):
    name = "redis"
    kind = RedisStore
    fixture = "redis_server"
    address = "redis://{login}{host}/{database}?prefix={place}"
    database = "0"
    missing = ("99", "index is out of range")

    @pytest.fixture
    def client(self, redis_server):
        import redis

        with redis.Redis.from_url(redis_server.url) as client:
            yield client

    def test_the_names_are_those_of_zarr_python_2(self, store, client):
        head = store.url.partition("prefix=")[2]
        store.set("a/.zarray", b"v")
        assert client.get(f"{head}:a/.zarray") == b"v"
        client.set(f"{head}:b", b"w")
        assert sorted(store.list()) == ["a/.zarray", "b"]
        assert RedisStore("redis://localhost").url == "redis://localhost/0"
        assert RedisStore("redis://LOCALHOST:6379/").url == "redis://localhost/0"
        assert RedisStore("redis://h/3?prefix=a*b").url == "redis://h/3?prefix=a%2Ab"

    def test_a_prefix_is_not_a_pattern(self, redis_server, client):
        place = unique()
        for prefix in ("*", "[a]", "a?", "\\", "a^-"):
            with RedisStore(redis_server.url, prefix=f"{place}{prefix}") as store:
                client.set(f"{place}{prefix[:-1]}a:other", b"")
                client.set(f"{place}zz:other", b"")
                store.set("k", b"v")
                assert list(store.list()) == ["k"]
                assert RedisStore(store.url) == store

    def test_foreign_names_are_not_keys(self, store, client):
        head = store.url.partition("prefix=")[2]
        for name in (b"", b"../x", b"a//b", b"\xff\xfe", b"a\\b"):
            client.set(head.encode() + b":" + name, b"v")
        store.set("k", b"v")
        assert list(store.list()) == ["k"]
        client.rpush(f"{head}:list", "x")
        with pytest.raises(StoreReadError, match=r"'list'.*WRONGTYPE"):
            store.get("list")
        with pytest.raises(StoreReadError, match=r"'list'.*WRONGTYPE"):
            store.open_value("list")
        assert store.get("k") == b"v"

    def test_a_failed_session_is_reused(self, store, client):
        head = store.url.partition("prefix=")[2]
        client.rpush(f"{head}:list", "x")
        for _ in range(3):
            with pytest.raises(StoreError):
                store.update("list", lambda reader: b"")
            store.update("k", lambda reader: b"v")
        assert client.llen(f"{head}:list") == 1

    def test_a_repeated_request_is_logged(self, proxy_before, server, caplog):
        caplog.set_level(logging.INFO, logger="zarr_core.retries")
        proxy = proxy_before(server, "tcp")
        with self.at(unique(), proxy) as store:
            store.set("k", bytes(300_000))
            proxy.break_connections()
            proxy.inject(reset(100_000))  # of the next connection
            assert bytes(store.get("k")) == bytes(300_000)
            assert f"{store} 'k' cannot be read (" in caplog.text
            assert "; repeating the request" in caplog.text

    def test_wrong_urls(self):
        for url in ("redis://h/one", "redis://h/-1", "mongodb://h/", "redis"):
            with pytest.raises(StoreError, match="redis://"):
                RedisStore(url)
        with pytest.raises(StoreError, match="option timeout is not a number"):
            RedisStore("redis://h/0?timeout=soon")

    def test_by_a_socket(self, own_server, tmp_path):
        class WithSocket(RedisServer):
            def command(self):
                return [*super().command(), "--unixsocket", tmp_path / "redis socket"]

        own_server(WithSocket)
        with RedisStore(f"unix://{tmp_path}/redis%20socket?db=2") as store:
            store.set("k", b"v")
            assert store.url == f"unix://{tmp_path}/redis%20socket?db=2"
            assert RedisStore.from_url(store.url).get("k") == b"v"
            assert RedisStore(f"unix://{tmp_path}/redis%20socket").get("k") is None

    def test_a_cluster_is_used_a_node_at_a_time(self, own_server):
        import redis

        class OfCluster(RedisServer):
            def command(self):
                return [*super().command(), "--cluster-enabled", "yes"]

        server = own_server(OfCluster)
        with (
            RedisStore(server.url) as store,
            pytest.raises(StoreError, match=r"in braces") as caught,
        ):
            store.set("k", b"v")
        assert "Hash slot not served" in str(caught.value)
        with redis.Redis.from_url(server.url) as client:
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            while client.execute_command("CLUSTER INFO").get("cluster_state") != "ok":
                pass
        with RedisStore(f"{server.url}?prefix=%7Bfield%7D") as store:
            array = zarr.create_array(store, data=np.arange(8), chunks=1)
            array[...] = 0
            zarr.remove(store)
            assert list(store.list()) == []
        with RedisStore(server.url) as store:
            for key in "abc":
                store.set(key, b"v")
            with pytest.raises(StoreError, match="in braces"):
                store.erase_values("abc")

    def test_a_prefix_within_another_one(self, redis_server, client):
        """Its keys would also be those of the shorter prefix, which lists and removes them."""
        name = unique()
        client.set(f"{name}:inner:k", b"1")
        with pytest.raises(StoreError, match="contains a colon"):
            RedisStore(redis_server.url, prefix=f"{name}:inner")
        with RedisStore(redis_server.url, prefix=f"{name}:inner", read_only=True) as store:
            assert store.get("k") == b"1"


def table_of(store):
    return store.url.partition("table=")[2]


class TestPostgreSQLStore(ServerStoreContract):
    name = "postgresql"
    kind = PostgreSQLStore
    fixture = "postgres_server"
    address = "postgresql://{login}{host}/{database}?table={place}"
    database = "postgres"
    missing = ("nothere", '"nothere" does not exist')

    @pytest.fixture
    def connection(self, postgres_server):
        import psycopg

        with psycopg.connect(postgres_server.url, autocommit=True) as connection:
            yield connection

    def test_the_table_can_be_used_by_others(self, store, connection):
        store.set("a/é", b"v" * 100_000)
        rows = connection.execute(f"select key, length(value) from {table_of(store)}").fetchall()
        assert rows == [("a/é", 100_000)]
        size = connection.execute(f"select pg_total_relation_size('{table_of(store)}')").fetchone()[
            0
        ]
        assert size > 100_000  # not compressed
        connection.execute(f"insert into {table_of(store)} values ('../x', ''), ('a//b', '')")
        assert list(store.list()) == ["a/é"]
        assert store.list_dir("") == ([], ["a/"])

    def test_any_table_name_is_quoted(self, postgres_server, connection):
        schema = 'a "b".%s;\'--'
        connection.execute('create schema if not exists "a ""b"".%s;\'--"')
        for table in ("100%", "x' OR '1", 'q"q', "Ünï.code"):
            with PostgreSQLStore(postgres_server.url, schema=schema, table=table) as store:
                store.set("k/%s", b"v")
                assert PostgreSQLStore(store.url) == store
                assert store.get("k/%s") == b"v"
                assert store.list_dir("k/") == (["k/%s"], [])
        with PostgreSQLStore(postgres_server.url, schema="not there") as store:
            assert store.get("k") is None
            with pytest.raises(StoreError, match="not there"):
                store.set("k", b"v")

    def test_children_are_found_by_index(self, store, connection):
        for number in range(50):
            store.set(f"a/{number}/zarr.json", b"")
        connection.execute(
            f"insert into {table_of(store)} select 'a/7/c/' || n, '' from generate_series(1, 50000) n"
        )
        connection.execute(f"analyze {table_of(store)}")
        words = store._sql.children
        values = {"prefix": "a/", "end": "a0", "skip": 3}
        plan = connection.execute(f"explain (analyze, buffers) {words}", values).fetchall()
        assert not any("Seq Scan on " in line and table_of(store) in line for (line,) in plan), plan
        assert len(store.list_dir("a/")[1]) == 50

    def test_a_key_too_long_for_an_index_raises(self, store):
        key = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9000))
        with pytest.raises(StoreError, match="too long for an index"):
            store.set(key, b"v")
        assert list(store.list()) == []

    def test_addresses(self):
        def url(text, **options):
            return PostgreSQLStore(text, **options).url

        assert url("postgresql://H:5432/d") == "postgresql://h/d"
        assert url("postgres://a%40b:c@h1:1,h2:2/d?sslmode=require") == (
            "postgres://a%40b@h1:1,h2:2/d?sslmode=require"
        )
        assert url("postgresql://[::1]:5433/d") == "postgresql://[::1]:5433/d"
        assert url("postgresql:///d?host=/run") == "postgresql:///d?host=%2Frun"
        stores = [PostgreSQLStore("postgresql://h/d", dbname=name) for name in "de"]
        assert stores[0] != stores[1]
        assert url("postgresql://%2Frun%2Fx/d", sslpassword="s3cr") == "postgresql://%2frun%2fx/d"

    def test_missing_privileges_raise(self, store, postgres_server, connection):
        store.set("k", b"v")
        role = f"reader{unique()}"
        connection.execute(f"create role {role} login")
        url = store.url.replace(f"{postgres_server.role}@", f"{role}@")
        table = f"table {table_of(store)}"
        with PostgreSQLStore(url) as other:
            for call in (
                lambda: other.get("k"),
                lambda: other.set("k", b"w"),
                lambda: other.update("k", lambda old: b"w"),
                lambda: other.erase("k"),
                lambda: other.exists("k"),
                lambda: list(other.list()),
            ):
                with pytest.raises(StoreError, match=f"permission denied for {table}"):
                    call()
            connection.execute(f"grant select on {table} to {role}")
            assert other.get("k") == b"v"
            with pytest.raises(StoreError, match=f"'k': .*permission denied for {table}"):
                other.set("k", b"w")
        assert store.get("k") == b"v"
        connection.execute(f"drop owned by {role}; drop role {role}")


class TestMongoDBStore(ServerStoreContract):
    name = "mongodb"
    kind = MongoDBStore
    fixture = "mongo_server"
    address = "mongodb://{login}{host}/{database}?directConnection=true&collection={place}"
    database = "zarr"
    test_a_slow_line_is_not_given_up = None  # the timeout of pymongo applies to the whole response
    test_a_missing_database_raises = None  # the first write creates it
    test_a_value_beyond_a_limit_is_not_received = None  # a document has at most 16 MiB
    # The client library rejects it, with another error.
    test_a_value_beyond_the_limit_of_the_server_is_rejected = None

    @pytest.fixture
    def collection(self, mongo_server, store):
        import pymongo

        with pymongo.MongoClient(mongo_server.url) as client:
            yield client["zarr"][store._location["collection"]]

    def test_the_documents_are_those_of_zarr_python_2(self, store, collection):
        store.set("a/.zarray", b"v")
        store.set("a/.zarray", b"w")
        (document,) = collection.find()
        assert (document["key"], document["value"]) == ("a/.zarray", b"w")
        assert collection.index_information()["key_1"]["unique"]
        assert MongoDBStore("mongodb://localhost").url == "mongodb://localhost/mongodb_zarr"

    def test_zarr_python_2_checksum_without_version(self, store, collection):
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

    def test_a_document_has_at_most_16_mib(self, store):
        store.set("k", bytes(15 << 20))
        for call in (
            lambda: store.set("k", bytes(17 << 20)),
            lambda: store.update("k", lambda _: bytes(17 << 20)),
        ):
            with pytest.raises(StoreError, match=r"'k': the value exceeds the limit of 16 MiB"):
                call()
        assert store.getsize("k") == 15 << 20

    def test_foreign_documents_are_not_keys(self, store, collection):
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

    def test_duplicate_documents_for_a_key_raise(self, store, collection):
        collection.insert_many([{"key": "k", "value": b"1"}, {"key": "k", "value": b"2"}])
        assert store.get("none") is None  # a server that has answered is asked again for 60 s
        began = time.monotonic()
        with pytest.raises(StoreError, match="unique index"):
            store.set("other", b"v")
        assert time.monotonic() - began < 30

    def test_wrong_options_say_so(self):
        for options in ({"colour": 1}, {"readPreference": "some"}, {"tls": "perhaps"}):
            with pytest.raises(StoreError, match="mongodb://h/d"):
                MongoDBStore("mongodb://h/d", **options).get("k")


# --- passwords ---


class RedisWithPassword(RedisServer):
    def command(self):
        users = ["--user", "me", "on", ">s3cr/t", "allkeys", "allcommands"]
        users += ["--user", "reader", "on", ">r3ad", "allkeys", "+@read", "+@connection"]
        return [*super().command(), *users]


class PostgresWithPassword(PostgresServer):
    def start(self):
        super().start()
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("create role me login superuser password 's3cr/t'")
        return self

    def command(self):
        rules = self.data / "cluster" / "pg_hba.conf"
        rules.write_text(
            "host all postgres 127.0.0.1/32 trust\nhost all me 127.0.0.1/32 scram-sha-256\n"
        )
        return super().command()


@pytest.mark.parametrize(
    ("server", "kind", "address", "variable", "message"),
    [
        (RedisWithPassword, RedisStore, "redis://{}{}/0", None, "invalid username-password"),
        (
            PostgresWithPassword,
            PostgreSQLStore,
            "postgresql://{}{}/postgres",
            "PGPASSWORD",
            "password authentication failed",
        ),
    ],
    ids=["redis", "postgresql"],
)
def test_a_password(server, kind, address, variable, message, own_server, monkeypatch):
    server = own_server(server)

    def url(login):
        return address.format(f"{login}@", f"{server.host}:{server.port}")

    def get(login, query="", **options):
        with kind(url(login) + query, **options) as store:
            return store.get("k")

    with kind(url("me:s3cr%2Ft")) as store:
        store.set("k", b"v")
        assert store.url == url("me")
    assert get("me", password="s3cr/t") == b"v"
    if variable:
        with monkeypatch.context() as patch:
            patch.setenv(variable, "s3cr/t")
            assert get("me") == b"v"
    monkeypatch.setenv("ZARR_TEST_SECRET", "s3cr/t")
    assert get("me", "?password_variable=ZARR_TEST_SECRET") == b"v"
    with pytest.raises(StoreError, match=f"{message}.*check the user name") as failure:
        get("me:wrong")
    assert "wrong" not in str(failure.value)
    if kind is RedisStore:
        with RedisStore(url("reader:r3ad")) as store:
            assert store.get("k") == b"v"
            for call in (store.set, store.update):
                with pytest.raises(StoreError, match="'k': .*permission"):
                    call("k", b"w" if call == store.set else lambda old: b"w")
            assert store.get("k") == b"v"


# --- client libraries that are not installed ---

STORES = {
    "redis://localhost:1/0": ("redis", "redis"),
    "mongodb://localhost:1/db": ("mongodb", "pymongo bson"),
    "postgresql://localhost:1/db": ("postgresql", "psycopg"),
}


@pytest.fixture(params=STORES, ids=[extra for extra, _ in STORES.values()])
def place(request, monkeypatch):
    """A URL whose client library cannot be imported, and the extra that installs the library."""
    extra, libraries = STORES[request.param]
    for name in list(sys.modules):
        of_store = name.startswith(f"zarr_stores.databases.{extra}_")
        if of_store or name.partition(".")[0] in libraries.split():
            monkeypatch.delitem(sys.modules, name)
    for name in libraries.split():
        monkeypatch.setitem(sys.modules, name, None)
    return request.param, extra


@pytest.mark.parametrize("mode", ["r", "r+", "a", "w", "w-"])
def test_open_names_the_extra_to_install(place, mode):
    url, extra = place
    with pytest.raises(StoreError) as caught:
        zarr.open(url, mode=mode, **({} if mode in ("r", "r+") else {"shape": 3}))
    assert f"pip install 'zarr-stores[{extra}]'" in str(caught.value)
    assert url in str(caught.value)
    assert "v3" not in str(caught.value)
