import numpy as np
import pytest
import zarr_core as zarr
from server_store_contract import SECRET, ServerStoreContract, unique
from zarr_core.extension import ByteRange, StoreError, StoreReadError
from zarr_stores.databases.redis import RedisStore

pytest_plugins = ["servers.fixtures"]


class TestRedisStore(ServerStoreContract):
    name = "redis"
    kind = RedisStore

    @pytest.fixture(autouse=True)
    def server(self, redis_server):
        self._server = redis_server
        return redis_server

    def at(self, place, server=None, **options):
        server = server or self._server
        return RedisStore(f"redis://{server.host}:{server.port}/0?prefix={place}", **options)

    def again(self, store, *, read_only):
        return RedisStore(store.url, read_only=read_only)

    def with_secret(self):
        server = self._server
        return RedisStore(f"redis://me:{SECRET}@{server.host}:{server.port}/0", retry_timeout=0)


@pytest.fixture
def store(redis_server):
    with RedisStore(f"{redis_server.url}?prefix={unique()}") as store:
        yield store


@pytest.fixture
def client(redis_server):
    import redis

    with redis.Redis.from_url(redis_server.url) as client:
        yield client


def test_the_names_are_those_of_zarr_python_2(store, client):
    head = store.url.partition("prefix=")[2]
    store.set("a/.zarray", b"v")
    assert client.get(f"{head}:a/.zarray") == b"v"
    client.set(f"{head}:b", b"w")
    assert sorted(store.list()) == ["a/.zarray", "b"]
    assert RedisStore("redis://localhost").url == "redis://localhost/0"
    assert RedisStore("redis://LOCALHOST:6379/").url == "redis://localhost/0"
    assert RedisStore("redis://h/3?prefix=a*b").url == "redis://h/3?prefix=a%2Ab"


def test_a_prefix_is_not_a_pattern(redis_server, client):
    place = unique()
    for prefix in ("*", "[a]", "a?", "\\", "a^-"):
        with RedisStore(redis_server.url, prefix=f"{place}{prefix}") as store:
            client.set(f"{place}{prefix[:-1]}a:other", b"")
            client.set(f"{place}zz:other", b"")
            store.set("k", b"v")
            assert list(store.list()) == ["k"]
            assert RedisStore(store.url) == store


def test_foreign_names_are_not_keys(store, client):
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


def test_a_failed_session_is_reused(store, client):
    head = store.url.partition("prefix=")[2]
    client.rpush(f"{head}:list", "x")
    for _ in range(3):
        with pytest.raises(StoreError):
            store.update("list", lambda reader: b"")
        store.update("k", lambda reader: b"v")
    assert client.llen(f"{head}:list") == 1


def test_a_closed_reader_reads_no_more(store):
    store.set("k", bytes(200_000))
    reader = store.open_value("k", ByteRange(0, 10))
    reader.close()
    with pytest.raises(StoreReadError, match="'k': .*closed"):
        reader.read(100_000, 10)


def test_an_old_redis_sends_whole_values(store, monkeypatch):
    from zarr_stores.databases import redis_reader

    monkeypatch.setattr(redis_reader, "is_dirty", lambda state: None)
    store.set("k", b"v" * 100_000)
    with store.open_value("k") as reader:
        store.set("k", b"w")
        assert bytes(reader.read(99_999, 1)) == b"v"
    assert store.open_value("none") is None


def test_wrong_urls():
    for url in ("redis://h/one", "redis://h/-1", "mongodb://h/", "redis"):
        with pytest.raises(StoreError, match="redis://"):
            RedisStore(url)
    with pytest.raises(StoreError, match="option timeout is not a number"):
        RedisStore("redis://h/0?timeout=soon")


def test_by_a_socket(own_server, tmp_path):
    from servers.redis_server import RedisServer

    class WithSocket(RedisServer):
        def command(self):
            return [*super().command(), "--unixsocket", tmp_path / "redis socket"]

    own_server(WithSocket)
    with RedisStore(f"unix://{tmp_path}/redis%20socket?db=2") as store:
        store.set("k", b"v")
        assert store.url == f"unix://{tmp_path}/redis%20socket?db=2"
        assert RedisStore.from_url(store.url).get("k") == b"v"
        assert RedisStore(f"unix://{tmp_path}/redis%20socket").get("k") is None


def test_a_password(own_server, monkeypatch):
    from servers.redis_server import RedisServer

    class WithPassword(RedisServer):
        def command(self):
            users = ["--user", "me", "on", ">s3cr/t", "allkeys", "allcommands"]
            users += ["--user", "reader", "on", ">r3ad", "allkeys", "+@read", "+@connection"]
            return [*super().command(), *users]

    server = own_server(WithPassword)
    address = f"{server.host}:{server.port}/0"
    with RedisStore(f"redis://me:s3cr%2Ft@{address}") as store:
        store.set("k", b"v")
        assert store.url == f"redis://me@{address}"
    with RedisStore(f"redis://me@{address}", password="s3cr/t") as store:
        assert store.get("k") == b"v"
    monkeypatch.setenv("ZARR_TEST_SECRET", "s3cr/t")
    with RedisStore(f"redis://me@{address}?password_variable=ZARR_TEST_SECRET") as store:
        assert store.get("k") == b"v"
    with (
        RedisStore(f"redis://me:wrong@{address}") as store,
        pytest.raises(StoreError, match="invalid username-password"),
    ):
        store.get("k")
    with RedisStore(f"redis://reader:r3ad@{address}") as store:
        assert store.get("k") == b"v"
        for call in (store.set, store.update):
            with pytest.raises(StoreError, match="'k': .*permission"):
                call("k", b"w" if call == store.set else lambda old: b"w")
        assert store.get("k") == b"v"


def test_a_cluster_is_used_a_node_at_a_time(own_server):
    import redis
    from servers.redis_server import RedisServer

    class OfCluster(RedisServer):
        def command(self):
            return [*super().command(), "--cluster-enabled", "yes"]

    server = own_server(OfCluster)
    with RedisStore(server.url) as store, pytest.raises(StoreError, match=r"in braces") as caught:
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


def test_a_missing_database_raises(redis_server):
    with RedisStore(f"redis://{redis_server.host}:{redis_server.port}/99") as store:
        for call in (
            lambda: store.get("k"),
            lambda: store.set("k", b""),
            lambda: store.exists("k"),
        ):
            with pytest.raises(StoreError, match="'k': .*index is out of range"):
                call()


def test_a_prefix_within_another_one(redis_server, client):
    """Its keys would also be those of the shorter prefix, which lists and removes them."""
    name = unique()
    client.set(f"{name}:inner:k", b"1")
    with pytest.raises(StoreError, match="contains a colon"):
        RedisStore(redis_server.url, prefix=f"{name}:inner")
    with RedisStore(redis_server.url, prefix=f"{name}:inner", read_only=True) as store:
        assert store.get("k") == b"1"
