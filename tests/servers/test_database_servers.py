"""Database servers start, respond, and keep acknowledged writes when they are killed."""

import pytest
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from servers.sftp_server import SftpServer

pytest_plugins = ["servers.fixtures"]


def in_redis(server):
    redis = pytest.importorskip("redis")

    def connect():
        return redis.Redis.from_url(server.url)

    def put(client, value):
        client.set("key", value)

    return connect, put, lambda client: client.get("key")


def in_mongo(server):
    pymongo = pytest.importorskip("pymongo")

    def connect():
        return pymongo.MongoClient(server.url)

    def put(client, value):
        client.test.values.replace_one({"_id": "key"}, {"value": value}, upsert=True)

    return connect, put, lambda client: client.test.values.find_one({"_id": "key"})["value"]


def in_postgres(server):
    psycopg = pytest.importorskip("psycopg")

    def connect():
        connection = psycopg.connect(server.url, autocommit=True)
        connection.execute("create table if not exists v (key text primary key, value bytea)")
        return connection

    def put(connection, value):
        connection.execute("delete from v")
        connection.execute("insert into v values ('key', %s)", [value])

    return connect, put, lambda connection: connection.execute("select value from v").fetchone()[0]


@pytest.mark.parametrize(
    ("kind", "client"),
    [(RedisServer, in_redis), (MongoServer, in_mongo), (PostgresServer, in_postgres)],
)
def test_a_database_has_what_it_acknowledged_before_it_was_killed(kind, client, own_server):
    server = own_server(kind)
    connect, put, get = client(server)
    port = server.port
    for value in (b"first", bytes(range(256)) * 400):
        with connect() as connection:
            put(connection, value)
        server.kill()
        assert not server.running
        server.start()
        with connect() as connection:
            assert get(connection) == value
    server.restart()
    with connect() as connection:
        assert get(connection) == value
    assert server.port == port


def sftp(server, *added):
    paramiko = pytest.importorskip("paramiko")
    with paramiko.SSHClient() as client:
        client.load_host_keys(str(server.known_hosts))
        keys = {"key_filename": str(server.private_key), "allow_agent": False}
        client.connect(server.host, server.port, server.username, look_for_keys=False, **keys)
        with client.open_sftp() as files, files.open(f"{server.root}/file", "ab+") as file:
            for data in added:
                file.write(data)
            file.seek(0)
            return file.read()


def test_sftp_keeps_its_files(own_server):
    server = own_server(SftpServer)
    assert sftp(server, b"one") == b"one"
    server.kill()
    with pytest.raises(OSError, match="connect"):
        sftp(server)
    server.start()
    assert sftp(server, b" two") == b"one two"
    assert (server.root / "file").read_bytes() == b"one two"
