"""Servers that are killed and restarted while an array is written, and servers that hang."""

import threading
import time
from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import s3_options
from servers.http_server import WebDavServer
from servers.mongo_server import MongoServer
from servers.postgres_server import PostgresServer
from servers.redis_server import RedisServer
from servers.s3_server import SeaweedServer
from servers.sftp_server import SftpServer
from waits import wait_until
from zarr_core.errors import StoreError
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]


def url_and_options(server):
    """A new location on a server."""
    name = f"t{uuid4().hex}"
    address = f"{server.host}:{server.port}"
    match server:
        case RedisServer():
            return f"redis://{address}/0?prefix={name}", {}
        case PostgresServer():
            return f"{server.url}?table={name}", {}
        case MongoServer():
            return f"mongodb://{address}/zarr?collection={name}&directConnection=true", {}
        case SftpServer():
            options = {
                "client_keys": str(server.private_key),
                "known_hosts": str(server.known_hosts),
            }
            return f"sftp://{server.username}@{address}{server.root}/{name}", options
        case SeaweedServer():
            options = s3_options(server)
            del options["retry_config"]
            return f"s3://{server.bucket}/{name}", options
        case WebDavServer():
            return f"{server.url}/{name}", {"webdav": True, "conditional": False}


DURABLE = [SeaweedServer, RedisServer, PostgresServer, MongoServer, SftpServer, WebDavServer]


@pytest.fixture(params=DURABLE, ids=lambda kind: kind.name)
def server(request, own_server):
    return own_server(request.param)


def write_through_an_outage(server, chunks, seconds):
    """Write chunks while the server is killed for some seconds; compare what is stored."""
    url, options = url_and_options(server)
    # More than any server stores before it is killed.
    values = np.random.default_rng(5).integers(0, 2**31, (100_000, 50), dtype="int32")
    array = zarr.create_array(
        url, shape=values.shape, chunks=(1, 50), dtype="int32", storage_options=options
    )
    written, failed, restarted = [], [], threading.Event()

    def write():
        try:
            for row, value in enumerate(values):
                if row >= chunks and restarted.is_set():
                    return
                array[row] = value
                written.append(row)
        except BaseException as error:
            failed.append(error)

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: failed or len(written) > chunks // 4)
    server.kill()
    time.sleep(seconds)
    before = len(written)
    server.start()
    restarted.set()
    writer.join()
    assert not failed, failed
    assert before < len(written) < len(values)
    again = zarr.open_array(url, mode="r", storage_options=options)
    assert np.array_equal(again[: len(written)], values[: len(written)])


def test_a_write_survives_a_restart_of_the_server(server):
    write_through_an_outage(server, 100, 1)


@pytest.mark.slow
def test_a_write_survives_an_outage_of_20_seconds(server):
    write_through_an_outage(server, 500, 20)


def test_the_error_after_the_limit_names_the_limits_and_the_remedy(server):
    url, options = url_and_options(server)
    limits = {"retry_timeout": 1, "connect_timeout": 0.3}
    store, _ = zarr.resolve_store_path(url, storage_options=limits | options)
    store.set("a/k", b"v")
    server.kill()
    with pytest.raises(StoreError, match=r"a/k.*retr(?:y|ies).*retry_timeout"):
        store.set("a/k", b"w")
    server.start()
    assert bytes(store.get("a/k")) == b"v"


@pytest.mark.parametrize("kind", [SeaweedServer, WebDavServer], ids=lambda kind: kind.name)
def test_a_hung_server_is_reported(own_server, kind):
    server = own_server(kind)
    url, options = url_and_options(server)
    limits = {"timeout": 0.5, "connect_timeout": 0.5, "retry_timeout": 0.2}
    store, _ = zarr.resolve_store_path(url, storage_options=limits | options)
    assert isinstance(store, ObjectStore)
    store.set("k", b"v")
    with server.frozen():
        for call in (lambda: store.get("k"), lambda: store.set("k", b"w")):
            with pytest.raises(StoreError, match="timeout"):
                call()
