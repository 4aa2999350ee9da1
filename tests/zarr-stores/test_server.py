"""Stores of servers whose client library is not installed."""

import sys

import pytest
import zarr_core as zarr
from zarr_core.extension import ByteRange, StoreError

STORES = {
    "redis://localhost:1/0": ("redis", "redis"),
    "mongodb://localhost:1/db": ("mongodb", "pymongo bson"),
    "postgresql://localhost:1/db": ("postgresql", "psycopg"),
}
OPERATIONS = {
    "get": lambda store: store.get("k"),
    "get_partial_values": lambda store: store.get_partial_values([("k", ByteRange(0, 1))]),
    "open_value": lambda store: store.open_value("k"),
    "exists": lambda store: store.exists("k"),
    "getsize": lambda store: store.getsize("k"),
    "set": lambda store: store.set("k", b"v"),
    "erase": lambda store: store.erase("k"),
    "erase_values": lambda store: store.erase_values(["k", "l"]),
    "erase_prefix": lambda store: store.erase_prefix(""),
    "update": lambda store: store.update("k", lambda _: b"v"),
    "list_prefix": lambda store: list(store.list_prefix("")),
    "list_dir": lambda store: store.list_dir(""),
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


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_names_the_extra_to_install(place, operation):
    url, extra = place
    store, _ = zarr.resolve_store_path(url)
    with pytest.raises(StoreError, match=rf"pip install 'zarr-stores\[{extra}\]'"):
        OPERATIONS[operation](store)
