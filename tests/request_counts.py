"""Requests, bytes and round trips of common operations on stores behind a proxy."""

from __future__ import annotations

import json
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np
import zarr_core as zarr
from object_stores import s3_options
from servers.azure_server import AzureServer
from servers.gcs_server import GcsServer
from servers.gcs_writes import writable
from servers.http_server import NginxDavServer, NginxServer
from servers.proxy import Proxy
from servers.redis_server import RedisServer
from servers.s3_server import MotoServer
from zarr_core.extension import CachingStore
from zarr_stores.databases.redis import RedisStore
from zarr_stores.object import ObjectStore
from zarr_transfer import copy, copy_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from servers.process import Server
    from zarr_core.extension import Store

SILENCES = (0.03, 0.15, 0.6)
"""Seconds without requests after which a round is complete; longer ones for busy machines."""

PLACE = "field.zarr"
CHUNKS = 200
MEMBERS = 100
VARIABLES = 10
CHUNK = (64, 64)
SHARD = (1024, 1024)
INNER = (64, 64)
WINDOW = np.s_[100:300, 100:300]


class Counts(NamedTuple):
    """What an operation costs.

    Attributes
    ----------
    requests, trips, nbytes : int
        Number of requests, of sequential round trips, and of bytes in both directions.
    """

    requests: int
    trips: int
    nbytes: int


def field(shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Random values that compress to about half of their size."""
    return np.random.default_rng(5).normal(size=shape).round(1).astype("float32")


def fill(store: Store) -> None:
    """Write what the operations read."""
    copy_store(_hierarchies(), store)


@cache
def _hierarchies() -> Store:
    store = zarr.MemoryStore()
    chunked = {"chunks": (1, *CHUNK), "compressors": ["zstd"]}
    zarr.create_array(store, path="plain", data=field((CHUNKS, *CHUNK)), **chunked)
    zarr.create_array(
        store, path="sharded", data=field(SHARD), chunks=INNER, shards=SHARD, compressors=["zstd"]
    )
    for path in ("listed", "consolidated"):
        group = zarr.create_group(store, path=path)
        for number in range(MEMBERS):
            group.create_array(f"a{number}", shape=(10,), dtype="int16")
    zarr.consolidate_metadata(store, path="consolidated")
    _fill_dataset(store)
    return store


def _fill_dataset(store: Store) -> None:
    """Write a dataset of variables with ten chunks each, and consolidated metadata."""
    import xarray
    import zarr_xarray

    variable = ("t", "y"), field((10, 1000))
    names = [f"v{number}" for number in range(VARIABLES)]
    dataset = xarray.Dataset(dict.fromkeys(names, variable))
    encoding = {name: {"chunks": (1, 1000)} for name in names}
    zarr_xarray.to_zarr(
        dataset, store, group="dataset", mode="w", encoding=encoding, consolidated=True
    )


def _open(store: Store, local: Store) -> None:
    assert zarr.open_array(store, path="plain", mode="r").shape == (CHUNKS, *CHUNK)


def _open_consolidated(store: Store, local: Store) -> None:
    group = zarr.open_consolidated(store, path="consolidated", mode="r")
    assert len(group.members()) == MEMBERS


def _list(store: Store, local: Store) -> None:
    group = zarr.open_group(store, path="listed", mode="r")
    assert len(group.members()) == MEMBERS


def _read(store: Store, local: Store) -> None:
    values = zarr.open_array(store, path="plain", mode="r")[...]
    assert np.array_equal(values, field(values.shape))


def _window(store: Store, local: Store) -> None:
    if isinstance(store, CachingStore):
        store.discard_cached("sharded/c/0/0")  # which keeps the index
    _window_again(store, local)


def _window_again(store: Store, local: Store) -> None:
    values = zarr.open_array(store, path="sharded", mode="r")[WINDOW]
    assert np.array_equal(values, field(SHARD)[WINDOW])


def _write(store: Store, local: Store) -> None:
    zarr.create_array(
        store,
        path=f"w{uuid4()}",
        data=field((CHUNKS, *CHUNK)),
        chunks=(1, *CHUNK),
        compressors=["zstd"],
    )


def _xarray(store: Store, local: Store) -> None:
    import xarray

    with xarray.open_dataset(store, group="dataset", engine="zarr_core") as opened:
        assert np.array_equal(opened.load()["v3"], field((10, 1000)))


def _copy(store: Store, local: Store) -> None:
    copy(zarr.open_array(local, path="plain"), store, f"c{uuid4()}")


OPERATIONS: dict[str, Callable[[Store, Store], None]] = {
    "open an array": _open,
    f"open {MEMBERS} arrays with consolidated metadata": _open_consolidated,
    f"open {MEMBERS} arrays without it": _list,
    f"open, and read {CHUNKS} chunks": _read,
    "open, and read a window of a shard": _window,
    "open, and read a window of a shard again": _window_again,
    f"create, and write {CHUNKS} chunks": _write,
    f"open with xarray, and load {VARIABLES} variables": _xarray,
    f"copy an array of {CHUNKS} chunks from a directory": _copy,
}


UNSUPPORTED = {
    "HTTP": ("without it", "create", "copy"),
}
"""Parts of the names of operations that a kind of store does not support."""


def operations(store: str) -> list[str]:
    """Return the operations whose requests can be counted for a kind of store."""
    parts = UNSUPPORTED.get(store, ())
    return [name for name in OPERATIONS if not any(part in name for part in parts)]


# --- stores ---


def _s3(server: Any, url: str, place: str) -> Store:
    return ObjectStore.from_url(f"s3://{server.bucket}/{place}", **s3_options(server, url))


def _azure(server: Any, url: str, place: str) -> Store:
    return ObjectStore.from_url(
        f"az://{server.container}/{place}",
        account_name=server.account,
        account_key=server.key,
        endpoint=f"{url}/{server.account}",
    )


def _gcs(server: Any, url: str, place: str) -> Store:
    account = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
    return ObjectStore.from_url(
        f"gs://{server.bucket}/{place}", base_url=url, service_account_key=json.dumps(account)
    )


def _http(server: Any, url: str, place: str) -> Store:
    return ObjectStore.from_url(f"{url}/{place}")


def _webdav(server: Any, url: str, place: str) -> Store:
    return ObjectStore.from_url(f"{url}/dav/{place}", webdav=True, conditional=False)


def _redis(server: Any, url: str, place: str) -> Store:
    return RedisStore(f"{url.replace('http', 'redis')}/0?prefix={place}")


STORES: dict[str, tuple[type[Server], Callable[[Any, str, str], Store]]] = {
    "S3": (MotoServer, _s3),
    "Google Cloud": (GcsServer, _gcs),
    "Azure": (AzureServer, _azure),
    "HTTP": (NginxServer, _http),
    "WebDAV": (NginxDavServer, _webdav),
    "Redis": (RedisServer, _redis),
}


@contextmanager
def served(name: str) -> Iterator[tuple[Store, Proxy]]:
    """Start a server and a proxy before it; return a store with the hierarchies, and the proxy."""
    kind, connect = STORES[name]
    server = kind()
    try:
        server.start()
        with ExitStack() as stack:
            target: Any = server
            if isinstance(server, GcsServer):
                target = stack.enter_context(writable(server))
            proxy = stack.enter_context(
                Proxy(
                    target.port,
                    "tcp" if name == "Redis" else "http",
                    renames=server.minds_its_name,
                )
            )
            store = connect(target, proxy.url, PLACE)
            stack.callback(store.close)
            if isinstance(server, NginxServer) and not isinstance(server, NginxDavServer):
                fill(zarr.LocalStore(server.root / PLACE))
            else:
                fill(store)
            yield store, proxy
    finally:
        server.close()


def measure(name: str, silence: float) -> dict[str, Counts]:
    """Return what each operation costs for a kind of store."""
    with served(name) as (store, proxy):
        return {
            operation: count(store, proxy, operation, silence) for operation in operations(name)
        }


def count(store: Store, proxy: Proxy, operation: str, silence: float) -> Counts:
    """Return what an operation costs a program that has used the store before."""
    local = zarr.MemoryStore()
    zarr.create_array(
        local, path="plain", data=field((CHUNKS, *CHUNK)), chunks=(1, *CHUNK), compressors=["zstd"]
    )
    work = OPERATIONS[operation]
    work(store, local)  # imports modules, opens connections
    proxy.deliver_in_rounds(silence)
    proxy.forget()
    try:
        work(store, local)
        traffic = proxy.traffic
    finally:
        proxy.deliver_in_rounds(0)
    return Counts(traffic.delivered, traffic.rounds, traffic.sent + traffic.received)
