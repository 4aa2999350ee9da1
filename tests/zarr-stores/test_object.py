"""Object stores: options, credentials, processes, and servers with few features."""

import copy
import io
import logging
import os
import pickle
import signal
import traceback
from datetime import timedelta

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from object_stores import FEW_RETRIES, NO_RETRIES, s3_options, s3_store, same_place
from servers import faults
from store_contract import get_into
from zarr_core.extension import (
    ByteRange,
    StoreCapabilityError,
    StoreError,
    StoreReadError,
    StoreReadOnlyError,
)
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]
SECRET = "BEEFc0ffee4242secret"


# --- URLs ---


@pytest.mark.parametrize(
    ("url", "options", "kind", "expected"),
    [
        ("s3://b/p/q", {}, "S3Store", "s3://b/p/q"),
        ("s3://b/p/q/", {}, "S3Store", "s3://b/p/q"),
        ("s3a://b", {}, "S3Store", "s3://b"),
        ("s3://b/a%20b/%C3%A9", {}, "S3Store", "s3://b/a%20b/%C3%A9"),
        ("gs://b/p", {"skip_signature": True}, "GCSStore", "gs://b/p"),
        ("gcs://b/p", {"skip_signature": True}, "GCSStore", "gs://b/p"),
        ("az://c/p", {"account_name": "acc", "skip_signature": True}, "AzureStore", "az://c/p"),
        ("azure://c/p", {"account_name": "acc", "skip_signature": True}, "AzureStore", "az://c/p"),
        ("abfs://c@acc.dfs.core.windows.net/p", {"skip_signature": True}, "AzureStore", "az://c/p"),
        ("abfss://c@acc.dfs.core.windows.net/p", {"skip_signature": True}, "AzureStore", "az://c/p"),
        ("https://h/p/q.zarr", {}, "HTTPStore", "https://h/p/q.zarr"),
        ("http://h:8000/", {}, "HTTPStore", "http://h:8000"),
        ("https://h/p/q", {"webdav": True}, "HTTPStore", "https://h/p/q"),
    ],
)  # fmt: skip
def test_urls(url, options, kind, expected, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acc")
    store = ObjectStore.from_url(url, **options)
    assert type(store.store).__name__ == kind
    assert store.url == expected
    assert store.max_concurrency == (64 if kind == "HTTPStore" else 256)
    assert ObjectStore.from_url(store.url, **options) == store
    assert hash(ObjectStore.from_url(store.url, **options)) == hash(store)
    assert copy.copy(store) == copy.deepcopy(store) == pickle.loads(pickle.dumps(store)) == store


def test_locations_differ():
    def at(url, **options):
        return ObjectStore.from_url(url, **options)

    stores = [
        at("s3://b/p"),
        at("s3://b/q"),
        at("s3://c/p"),
        at("s3://b/p", endpoint="https://one"),
        at("s3://b/p", endpoint="https://two"),
        at("gs://b/p", skip_signature=True),
        at("az://b/p", account_name="one", skip_signature=True),
        at("az://b/p", account_name="two", skip_signature=True),
        at("https://b/p"),
        at("http://b/p"),
        at("https://b/p?version=1"),
    ]
    assert len(set(stores)) == len(stores)


def test_messages_name_the_server(monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)

    def told(url, **options):
        store = ObjectStore.from_url(url, **options)
        assert str(store) in repr(store)
        return str(store)

    here = f"http://me:{SECRET}@127.0.0.1:1/"
    for name in ("endpoint", "endpoint_url"):
        config = {f"aws_{name}": here}
        assert told("s3://b/p", config=config) == "s3://b/p at http://127.0.0.1:1"
    assert told("s3://b/p") == "s3://b/p"
    assert told("az://c/p", account_name="acc", skip_signature=True) == "az://c/p at acc"
    assert told("gs://b", base_url=here, skip_signature=True) == "gs://b at http://127.0.0.1:1"
    assert told(f"https://h/p?X-Amz-Signature={SECRET}") == "https://h/p"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    keys = {"access_key_id": "me", "secret_access_key": SECRET, "region": "r"}
    store = ObjectStore.from_url("s3://b/p", retry_config={"max_retries": 0}, **keys)
    for call in (
        lambda: store.get("k"),
        lambda: store.update("k", bytes),
        lambda: zarr.open(store),
    ):
        with pytest.raises(
            StoreError, match="s3://b/p at http://127.0.0.1:1.*: Connection refused"
        ):
            call()


def test_settings_reach_obstore():
    store = ObjectStore.from_url(
        "s3://b",
        config={"region": "eu-west-1"},
        endpoint="http://127.0.0.1:9",
        client_options={"user_agent": "me"},
        connect_timeout="7s",
        skip_signature=True,
        retry_config={"max_retries": 3, "retry_timeout": 9, "backoff": {"init_backoff": 0.5}},
        max_concurrency=7,
    )
    assert store.store.config == {
        "region": "eu-west-1",
        "endpoint": "http://127.0.0.1:9",
        "bucket": "b",
        "skip_signature": "true",
    }
    assert store.store.client_options["user_agent"] == "me"
    assert store.store.client_options["connect_timeout"] == "7s"
    assert store.store.client_options["allow_http"] == "true"
    assert store.store.retry_config["backoff"]["init_backoff"] == timedelta(seconds=0.5)
    assert store.max_concurrency == 7


# --- credentials ---

CREDENTIALS = {
    "key": ("s3://b/p", {"access_key_id": "me", "secret_access_key": SECRET}),
    "token": ("s3://b/p", {"session_token": SECRET}),
    "config": (
        "s3://b/p",
        {"config": {"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": SECRET}},
    ),
    "encryption": ("s3://b/p", {"sse_customer_key_base64": SECRET}),
    "bearer": ("gs://b/p", {"bearer_token": SECRET}),
    "account": ("az://b/p", {"account_name": "a", "account_key": SECRET}),
    "sas": ("az://b/p", {"account_name": "a", "sas_token": f"sv=1&sig={SECRET}"}),
    "header": ("https://h/p", {"client_options": {"default_headers": {"Authorization": SECRET}}}),
    "proxy": ("https://h/p", {"client_options": {"proxy_url": f"http://me:{SECRET}@proxy"}}),
    "password": (f"https://me:{SECRET}@h/p", {}),
    "signature": (f"https://h/p?X-Amz-Signature={SECRET}", {}),
    "password dav": (f"https://me:{SECRET}@h/p", {"webdav": True}),
}


@pytest.mark.parametrize("case", CREDENTIALS)
def test_credentials_are_not_shown(case, caplog):
    url, options = CREDENTIALS[case]
    if "account_key" in options:
        options = {**options, "account_key": "QkVFRmMwZmZlZTQyNDJzZWNyZXQ="}
    with caplog.at_level(logging.DEBUG):
        store = ObjectStore.from_url(
            url, max_concurrency=3, retry_config={"max_retries": 0}, **options
        )
        seen = [repr(store), str(store), store.url, repr(vars(store)["_location"])]
        with pytest.raises(StoreError, match="cannot be pickled") as caught:
            pickle.dumps(store)
        seen.append(str(caught.value))
    for text in [*seen, caplog.text]:
        assert SECRET not in text
        assert "QkVFRmMw" not in text
    assert copy.deepcopy(store) == store


SIGNED = {
    "password": (f"http://me:{SECRET}@{{}}/p", {"webdav": True}),
    "signature": (f"http://{{}}/p?X-Amz-Signature={SECRET}", {"webdav": True}),
    "azure": ("az://c/p", {"account_name": "a", "sas_token": f"sv=2020-01-01&sig={SECRET}"}),
}


@pytest.mark.parametrize("case", SIGNED)
def test_errors_contain_no_signed_urls(case):
    url, options = SIGNED[case]
    with responding(lambda request: (500, {}, b"")) as server:
        options = options | ({"endpoint": f"{server.url}/a"} if case == "azure" else {})
        url = url.format(server.url.partition("//")[2])
        store = ObjectStore.from_url(url, retry_config=NO_RETRIES, **options)
        for call in (store.get, store.exists, lambda key: list(store.list_dir(""))):
            with pytest.raises(StoreError) as caught:
                call("k")
            assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_credentials_of_the_environment_are_not_pickled(s3_server, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    store = ObjectStore.from_url(f"s3://{s3_server.bucket}/env", endpoint=s3_server.url)
    store.set("k", b"v")
    data = pickle.dumps(store)
    assert SECRET.encode() not in data
    assert bytes(pickle.loads(data).get("k")) == b"v"


# --- processes ---


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_raises(s3_server):
    store = s3_store(s3_server)
    store.set("k", b"v")
    child = os.fork()
    if not child:
        signal.alarm(100)  # it would hang
        try:
            store.get("k")
        except StoreError as error:
            os._exit(7 if "spawn" in str(error) else 8)
        os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert bytes(store.get("k")) == b"v"


# --- conditions ---


def test_without_conditions_the_last_writer_wins(s3_server):
    store = s3_store(s3_server, conditional=False)
    store.set("k", b"0")

    def change(reader):
        store.set("k", b"lost")
        return b"1"

    store.update("k", change)
    assert bytes(store.get("k")) == b"1"


def test_a_service_without_conditions_is_detected(tmp_path):
    from obstore.store import LocalStore

    store = ObjectStore(LocalStore(tmp_path))
    store.set("k", b"0")
    store.update("k", lambda reader: bytes(reader.read(0, 1)) + b"1")
    store.update("n", lambda reader: b"new")
    assert bytes(store.get("k")) == b"01"
    assert bytes(store.get("n")) == b"new"
    with pytest.raises(StoreError, match="pickle"):
        pickle.dumps(store)


def test_another_store_of_obstore_has_a_root(tmp_path):
    from obstore.store import MemoryStore

    inner = MemoryStore()
    store = ObjectStore(inner, root="a/b")
    assert list(store.list()) == []
    zarr.create_array(store, path="x", data=np.arange(5))
    assert sorted(item["path"] for page in inner.list() for item in page)[0].startswith("a/b/x/")
    assert zarr.open_array(ObjectStore(inner, root="/a/b/x/"))[3] == 3
    assert store != ObjectStore(inner)
    assert store == ObjectStore(inner, root="a/b/")


def test_a_store_of_obstore_can_be_opened(tmp_path):
    import obstore.store as obstore

    place = obstore.MemoryStore()
    zarr.create_array(place, path="x", data=np.arange(5))
    assert zarr.open(place)["x"][3] == 3
    assert isinstance(zarr.open(place, mode="r").store, ObjectStore)
    zarr.save(obstore.LocalStore(tmp_path), np.arange(3))
    assert zarr.open(tmp_path)[2] == 2
    plain, _ = zarr.resolve_store_path(obstore.HTTPStore("http://127.0.0.1:1/"))
    assert plain.read_only
    assert not plain.supports_listing
    with pytest.raises(StoreError, match="cannot open a store from .*BytesIO"):
        zarr.resolve_store_path(io.BytesIO())


# --- large values ---


def test_a_large_value_goes_in_parts(s3_server, proxy_before):
    proxy = proxy_before(s3_server)
    store = s3_store(s3_server, proxy.url)
    pieces = [np.random.default_rng(n).bytes(9_000_000) for n in range(4)]
    store.set("k", pieces)
    assert [exchange.method for exchange in proxy.traffic.exchanges].count("PUT") == 5
    assert store.getsize("k") == 36_000_000
    with store.open_value("k", ByteRange(0)) as reader:
        assert bytes(reader.read(0, reader.size)) == b"".join(pieces)
    proxy.inject(faults.denied(), method="PUT", skip=2)
    with pytest.raises(StoreError, match="'k'"):
        store.set("k", [b"new" * 12_000_000])
    assert store.getsize("k") == 36_000_000


# --- plain HTTP servers ---


@pytest.fixture(params=["http_server", "plain_http_server"])
def files(request):
    """A server with ranges, and one without."""
    return request.getfixturevalue(request.param)


def test_arrays_are_read_by_http(files):
    place = files.root / "field.zarr"
    values = np.arange(6000, dtype="int32").reshape(60, 100)
    large = np.random.default_rng(3).integers(0, 2**60, (300, 400))
    if not place.exists():
        root = zarr.create_group(place)
        root.create_array("a", data=values, chunks=(20, 30))
        root.create_array("s", data=values, chunks=(10, 10), shards=(60, 50))
        # Each shard is larger than what opening it requests.
        root.create_array("large", data=large, chunks=(30, 40), shards=(150, 200))
    group = zarr.open(f"{files.url}/field.zarr", storage_options={"retry_config": FEW_RETRIES})
    assert group.read_only
    for name in ("a", "s"):
        assert np.array_equal(group[name][...], values)
        assert np.array_equal(group[name][7:33, 2:90:9], values[7:33, 2:90:9])
    assert np.array_equal(group["large"][...], large)
    assert np.array_equal(group["large"][100:200:7, 3], large[100:200:7, 3])
    store = group.store
    assert not store.supports_listing
    for call in (lambda: list(store.list()), lambda: store.list_dir("")):
        with pytest.raises(StoreCapabilityError, match="webdav"):
            call()
    with pytest.raises(StoreReadOnlyError):
        store.set("k", b"")
    with pytest.raises(StoreReadOnlyError):
        zarr.open(f"{files.url}/field.zarr", mode="a")
    assert store.get("none/at/all") is None
    assert not store.exists("none")
    (files.root / "empty").write_bytes(b"")
    top = ObjectStore.from_url(files.url)
    assert bytes(top.get("empty")) == b""
    assert get_into(top, "empty", memoryview(bytearray(4))) == 0
    with top.open_value("empty", ByteRange(-4)) as reader:
        assert reader.size == 0
    with pytest.raises(StoreError):
        ObjectStore.from_url("http://127.0.0.1:1/", retry_config={"max_retries": 0}).get("k")


def test_whole_values_of_a_server_without_parts_are_limited(plain_http_server, monkeypatch):
    monkeypatch.setattr("zarr_stores.object.reader._MOST_UNREQUESTED", 1 << 16)
    (plain_http_server.root / "large").write_bytes(bytes(1 << 18))
    store = ObjectStore.from_url(plain_http_server.url)
    with (
        store.open_value("large", ByteRange(-9)) as reader,
        pytest.raises(StoreError, match="does not support range requests.*zarr-core serve"),
    ):
        reader.read(777, 20)
    assert len(store.get("large")) == 1 << 18


def test_a_repeated_option_object_is_not_changed(s3_server):
    options = s3_options(s3_server)
    before = copy.deepcopy(options)
    store = ObjectStore.from_url("s3://b/p", **options)
    assert options == before
    assert same_place(store, s3_server) == store
    with pytest.raises(StoreReadError):
        store.get("k")


def test_a_bucket_may_be_copied_to_one_of_its_name_elsewhere():
    from obstore.store import S3Store
    from zarr_transfer.plan import is_within_location

    def bucket(endpoint, root=""):
        options = {"endpoint": endpoint, "access_key_id": "x", "secret_access_key": "y"}
        client = {"allow_http": True}
        return ObjectStore(S3Store("data", **options, region="r", client_options=client), root=root)

    here, there = bucket("http://127.0.0.1:1"), bucket("http://127.0.0.1:2")
    assert not is_within_location(there, "a.zarr", here, "a.zarr")
    assert is_within_location(here, "a.zarr/g", bucket("http://127.0.0.1:1", "a.zarr"), "g")
    assert not is_within_location(here, "a.zarr/g", bucket("http://127.0.0.1:2", "a.zarr"), "g")
