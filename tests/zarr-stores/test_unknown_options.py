"""Unknown options raise an error when a store is created, or when its client library connects."""

import pickle
from datetime import timedelta

import pytest
import zarr_core as zarr
from zarr_core.extension import StoreError
from zarr_stores._attempts import reached

SECRET = "S3CR3TPW"


@pytest.mark.parametrize(
    ("url", "option", "known"),
    [
        ("zip:///data/a.zip", "compresion", "compression"),
        ("reference+https://host/r.json", "remote_option", "remote_options"),
        (f"reference+https://user:{SECRET}@host/r.json?sig={SECRET}", "colour", "remote_options"),
        ("sqlite:///data/a.sqlite", "colour", "the options are fsync"),
        ("lmdb:///data/a.lmdb", "colour", "fsync, map_size, subdir"),
        ("dbm:///data/a.dbm", "colour", "backend"),
    ],
)
def test_an_unknown_option_is_rejected_with_those_that_are_known(url, option, known):
    with pytest.raises(StoreError, match=f"unknown option: {option}") as caught:
        zarr.resolve_store_path(url, storage_options={option: SECRET})
    text = str(caught.value)
    assert SECRET not in text + repr(caught.value.args)
    assert known in text


@pytest.mark.parametrize("url", ["redis://[::1]", "mongodb://[::1]", "postgresql://[::1]"])
@pytest.mark.parametrize("option", ["pasword", "pwd", "timeot"])
def test_the_client_library_rejects_an_unknown_option(url, option):
    for given, options in [(url, {option: SECRET}), (f"{url}?{option}={SECRET}", {})]:
        store, _ = zarr.resolve_store_path(given, storage_options=options)
        with pytest.raises(StoreError, match=f"(?i)option.*{option}") as caught:
            store.get("k")
        assert SECRET not in str(caught.value) + repr(caught.value.args)
        assert not any("[::1]" in str(server) for server in reached)
        if option != "timeot":
            with pytest.raises(StoreError, match=f"cannot be pickled.*{option}"):
                pickle.dumps(store)


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("redis://host", {"socket_timeout": 2, "client_name": "a", "max_connections": 3}),
        ("rediss://host", {"ssl_ca_certs": "a.pem", "ssl_check_hostname": True}),
        ("unix:///run/redis.sock", {"socket_timeout": 2}),
        ("mongodb://host?authSource=admin&MAXPOOLSIZE=3", {"readPreference": "primary"}),
        ("mongodb://host", {"tlsCAFile": "a.pem", "replicaSet": "a", "w": 1}),
        ("postgresql://host?sslmode=require", {"keepalives": 1, "service": "a"}),
        ("postgresql://host", {"prepare_threshold": None}),
    ],
)
def test_options_of_the_client_library_are_accepted(url, options):
    store, _ = zarr.resolve_store_path(
        url, storage_options=options | {"timeout": 3, "retry_timeout": 2}
    )
    assert pickle.loads(pickle.dumps(store)) == store


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("redis://host", "ssl_password"),
        ("mongodb://host", "tlsCertificateKeyFilePassword"),
        ("postgresql://host", "sslpassword"),
    ],
)
def test_secrets_of_the_client_library_are_not_pickled(url, option):
    store, _ = zarr.resolve_store_path(url, storage_options={option: SECRET})
    with pytest.raises(StoreError, match="cannot be pickled") as caught:
        pickle.dumps(store)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "options", "name"),
    [
        ("s3://bucket/x", {"acces_key_id": SECRET}, "acces_key_id"),
        ("s3://bucket/x", {"config": {"regin": SECRET}}, "regin"),
        ("https://host/x", {"raed_timeout": SECRET}, "raed_timeout"),
    ],
)
def test_obstore_rejects_an_unknown_option(url, options, name):
    with pytest.raises(StoreError, match=f"obstore rejects .* option: .*{name}") as caught:
        zarr.resolve_store_path(url, storage_options=options)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("url", ["s3://bucket/x", "gs://bucket/x", "https://host/x"])
def test_durations_are_numbers_of_seconds_too(url):
    for value in (5, 5.0, "5s", timedelta(seconds=5)):
        for options, name in (
            ({"timeout": value}, "read_timeout"),
            ({"client_options": {"timeout": value}}, "timeout"),
        ):
            store, _ = zarr.resolve_store_path(url, storage_options=options)
            assert store.store.client_options[name] == "5s"
        if value != "5s":
            store, _ = zarr.resolve_store_path(url, storage_options={"retry_timeout": value})
            assert store.store.retry_config["retry_timeout"] == timedelta(seconds=5)
    store, _ = zarr.resolve_store_path(
        url, storage_options={"connect_timeout": 0.25, "read_timeout": 90}
    )
    found = store.store.client_options
    assert (found["connect_timeout"], found["read_timeout"]) == ("250ms", "1m 30s")


@pytest.mark.parametrize("value", [True, float("nan"), float("inf"), -1, [5]])
def test_invalid_duration_error_names_the_option(value):
    for options, name in (
        ({"timeout": value}, "timeout"),
        ({"client_options": {"read_timeout": value}}, "read_timeout"),
        ({"retry_config": {"retry_timeout": value}}, "retry_timeout"),
        ({"retry_config": {"backoff": {"max_backoff": value}}}, "max_backoff"),
    ):
        with pytest.raises(StoreError, match=f"the option {name} must be a number of seconds"):
            zarr.resolve_store_path("s3://bucket/x", storage_options=options)
