import pytest
from server_store_contract import SECRET, ServerStoreContract, unique
from zarr_core.extension import StoreError
from zarr_stores.databases.postgresql import PostgreSQLStore

pytest_plugins = ["servers.fixtures"]


class TestPostgreSQLStore(ServerStoreContract):
    name = "postgresql"
    kind = PostgreSQLStore

    @pytest.fixture(autouse=True)
    def server(self, postgres_server):
        self._server = postgres_server
        return postgres_server

    def at(self, place, server=None, **options):
        server = server or self._server
        address = f"{self._server.role}@{server.host}:{server.port}"
        return PostgreSQLStore(f"postgresql://{address}/postgres?table={place}", **options)

    def again(self, store, *, read_only):
        return PostgreSQLStore(store.url, read_only=read_only)

    def with_secret(self):
        server = self._server
        address = f"{server.host}:{server.port}"
        return PostgreSQLStore(f"postgresql://me:{SECRET}@{address}/postgres", retry_timeout=0)


@pytest.fixture
def connection(postgres_server):
    import psycopg

    with psycopg.connect(postgres_server.url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def store(postgres_server):
    with PostgreSQLStore(f"{postgres_server.url}?table={unique()}") as store:
        yield store


def table_of(store):
    return store.url.partition("table=")[2]


def test_the_table_can_be_used_by_others(store, connection):
    store.set("a/é", b"v" * 100_000)
    rows = connection.execute(f"select key, length(value) from {table_of(store)}").fetchall()
    assert rows == [("a/é", 100_000)]
    size = connection.execute(f"select pg_total_relation_size('{table_of(store)}')").fetchone()[0]
    assert size > 100_000  # not compressed
    connection.execute(f"insert into {table_of(store)} values ('../x', ''), ('a//b', '')")
    assert list(store.list()) == ["a/é"]
    assert store.list_dir("") == ([], ["a/"])


def test_any_table_name_is_quoted(postgres_server, connection):
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


def test_listing_skips_deeper_keys(store):
    keys = ["a", "a!", "a-b/c", "a/b/c", "a/b/d", "a/b0", "a0", "é/x", "é/\U0010ffff"]
    for key in keys:
        store.set(key, b"")
    found, prefixes = store.list_dir("")
    assert sorted(found) == ["a", "a!", "a0"]
    assert sorted(prefixes) == ["a-b/", "a/", "é/"]
    assert store.list_dir("a/") == (["a/b0"], ["a/b/"])
    assert sorted(store.list_dir("é/")[0]) == ["é/x", "é/\U0010ffff"]


def test_children_are_found_by_index(store, connection):
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


def test_a_key_too_long_for_an_index_raises(store):
    import random

    key = "".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=9000))
    with pytest.raises(StoreError, match="too long for an index"):
        store.set(key, b"v")
    assert list(store.list()) == []


def test_addresses():
    def url(text, **options):
        return PostgreSQLStore(text, **options).url

    assert url("postgresql://H:5432/d") == "postgresql://h/d"
    assert url("postgres://a%40b:c@h1:1,h2:2/d?sslmode=require") == (
        "postgres://a%40b@h1:1,h2:2/d?sslmode=require"
    )
    assert url("postgresql://[::1]:5433/d") == "postgresql://[::1]:5433/d"
    assert url("postgresql:///d?host=/run") == "postgresql:///d"
    assert url("postgresql://%2Frun%2Fx/d", sslpassword="s3cr") == "postgresql://%2frun%2fx/d"


def test_a_password(postgres_server, connection, monkeypatch, tmp_path, own_server):
    from servers.postgres_server import PostgresServer

    class WithPassword(PostgresServer):
        def command(self):
            rules = self.data / "cluster" / "pg_hba.conf"
            rules.write_text(
                "host all postgres 127.0.0.1/32 trust\n"
                + ("host all me 127.0.0.1/32 scram-sha-256\n")
            )
            return super().command()

    server = own_server(WithPassword)
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as it:
        it.execute("create role me login superuser password 's3cr/t'")
    address = f"{server.host}:{server.port}/postgres"
    with PostgreSQLStore(f"postgresql://me:s3cr%2Ft@{address}") as store:
        store.set("k", b"v")
        assert store.url == f"postgresql://me@{address}"
    monkeypatch.setenv("PGPASSWORD", "s3cr/t")
    with PostgreSQLStore(f"postgresql://me@{address}") as store:
        assert store.get("k") == b"v"
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("ZARR_TEST_SECRET", "s3cr/t")
    with PostgreSQLStore(f"postgresql://me@{address}?password_variable=ZARR_TEST_SECRET") as store:
        assert store.get("k") == b"v"
    with (
        PostgreSQLStore(f"postgresql://me:wrong@{address}") as store,
        pytest.raises(StoreError, match="password authentication failed") as failure,
    ):
        store.get("k")
    assert "wrong" not in str(failure.value)


def test_missing_privileges_raise(store, postgres_server, connection):
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


def test_a_missing_database_raises(postgres_server):
    url = postgres_server.url.replace("/postgres", "/nothere").replace("//nothere@", "//postgres@")
    with PostgreSQLStore(url) as store:
        for call in (
            lambda: store.get("k"),
            lambda: store.set("k", b""),
            lambda: store.exists("k"),
        ):
            with pytest.raises(StoreError, match="'k': .*\"nothere\" does not exist"):
                call()
