"""Several processes that use one bucket, and a server that is killed during writes."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest
import zarr_core as zarr
from concurrent_writers import CELLS, PER_THREAD, PROCESSES, THREADS
from object_stores import s3_environment, s3_store, same_place
from reliability_data import together
from servers.s3_server import SeaweedServer
from waits import wait_until
from zarr_core.extension import StoreError

pytest_plugins = ["servers.fixtures"]
PROGRAM = "concurrent_writers.py"


@pytest.fixture
def place(s3_durable, monkeypatch):
    """The URL of a prefix of the bucket, with the settings in the environment."""
    for name, value in s3_environment(s3_durable).items():
        monkeypatch.setenv(name, value)
    return f"s3://{s3_durable.bucket}/{uuid4()}"


def test_no_attribute_is_lost(place):
    zarr.create_array(place, shape=CELLS, dtype="i4")
    together(PROGRAM, place, "attributes", processes=PROCESSES)
    assert len(zarr.open_array(place).attrs) == PROCESSES * THREADS * PER_THREAD


def test_acknowledged_values_survive_a_killed_server(own_server):
    """A server that is killed during writes keeps all acknowledged values."""
    server = own_server(SeaweedServer)
    store = s3_store(server)
    store.set("before", b"v")
    acknowledged = {}
    stop = threading.Event()

    def write(thread):
        for number in range(10_000):
            key = f"{thread}/{number % 7}"
            value = bytes([thread, number % 251]) * 10_000
            try:
                store.set(key, value)
            except StoreError:
                acknowledged.setdefault(key, {None}).add(value)  # perhaps
                return
            acknowledged[key] = {value}
            if stop.is_set():
                return

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write, thread) for thread in range(4)]
        wait_until(lambda: len(acknowledged) >= 20)
        server.kill()
        stop.set()
        for writer in writers:
            writer.result()
    server.start()
    again = same_place(store, server)
    assert bytes(again.get("before")) == b"v"
    assert len(acknowledged) >= 20
    for key, values in acknowledged.items():
        found = again.get(key)
        # A value that was not acknowledged is complete if it is stored.
        assert (found if found is None else bytes(found)) in values, key
