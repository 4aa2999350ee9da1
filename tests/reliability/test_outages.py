"""Servers that are killed and restarted while an array is written, and servers that hang."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import numpy as np
import pytest
import zarr_core as zarr
from object_stores import gcs_environment, s3_options
from servers.azure_server import AzureServer
from servers.gcs_server import GcsServer
from servers.http_server import NginxServer, WebDavServer
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
        case AzureServer():
            options = {
                "endpoint": server.url,
                "account_name": server.account,
                "account_key": server.key,
            }
            return f"az://{server.container}/{name}", options
        case GcsServer():
            account = gcs_environment(server.url)["GOOGLE_SERVICE_ACCOUNT_KEY"]
            options = {"base_url": server.url, "service_account_key": account}
            return f"gs://{server.bucket}/{name}", options
        case NginxServer():
            return server.url, {}
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


# WsgiDAV overwrites files in place, so a killed one leaves half values.
@pytest.mark.parametrize("server", DURABLE[:-1], indirect=True, ids=lambda kind: kind.name)
def test_a_failed_call_names_a_chunk_and_can_be_repeated(server):
    """After an outage that exceeds the limits, each chunk is old or new, and none is half."""
    url, options = url_and_options(server)
    old, new = np.full((500, 40), 1), np.random.default_rng(6).integers(2, 2**31, (500, 40))
    array = zarr.create_array(
        url, data=old, chunks=(1, 40), compressors=None, storage_options=options
    )
    limits = {"retry_timeout": 0.2, "connect_timeout": 0.3}
    hasty = zarr.open_array(url, storage_options=limits | options)
    assert hasty[0, 0] == 1
    written = threading.Event()
    failed = []

    def write():
        try:
            while not failed:  # a fast server stores all chunks before it is killed
                hasty[...] = new
                written.set()
        except StoreError as error:
            failed.append(str(error))
            written.set()

    writer = threading.Thread(target=write)
    writer.start()
    wait_until(lambda: written.is_set() or not np.array_equal(array[:1], old[:1]))
    server.kill()
    writer.join()
    assert "'c/" in failed[0] or "/c/" in failed[0]
    assert "retry_timeout" in failed[0]
    server.start()
    found = zarr.open_array(url, mode="r", storage_options=options)[...]
    assert all(
        np.array_equal(row, old[number]) or np.array_equal(row, new[number])
        for number, row in enumerate(found)
    )
    array[...] = new
    assert np.array_equal(zarr.open_array(url, storage_options=options)[...], new)


HUNG = [SeaweedServer, WebDavServer, NginxServer, AzureServer, GcsServer]


@pytest.mark.parametrize("kind", HUNG, ids=lambda kind: kind.name)
def test_a_hung_server_is_reported(own_server, kind):
    """Databases and SFTP have this test in their contract, s3fs in the tests of fsspec."""
    server = own_server(kind)
    url, options = url_and_options(server)
    limits = {"timeout": 0.5, "connect_timeout": 0.5, "retry_timeout": 0.2}
    store, _ = zarr.resolve_store_path(url, storage_options=limits | options)
    assert isinstance(store, ObjectStore)
    calls = [lambda: store.get("k"), lambda: store.exists("k"), lambda: store.open_value("k")]
    if not store.read_only:
        calls += [
            lambda: store.set("k", b"w"),
            lambda: store.erase("k"),
            lambda: store.update("k", lambda reader: b"w"),
        ]
    if store.supports_listing:
        calls += [lambda: list(store.list()), lambda: store.list_dir("")]
    if kind is not GcsServer:  # obstore cannot write to the emulator
        assert store.get("k") is None
    with server.frozen(), ThreadPoolExecutor(len(calls)) as pool:
        for call in [pool.submit(call) for call in calls]:
            with pytest.raises(StoreError, match="timeout"):
                call.result()


def test_a_hung_server_is_reported_by_fsspec(own_server):
    pytest.importorskip("aiohttp")
    server = own_server(NginxServer)
    store, _ = zarr.resolve_store_path(f"fsspec+{server.url}", storage_options={"timeout": 0.2})
    assert store.get("k") is None
    with server.frozen():
        for call in (lambda: store.exists("k"), lambda: store.get("k")):
            with pytest.raises(StoreError, match=r"timeout=0\.2"):
                call()
