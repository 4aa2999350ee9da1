"""Buckets of S3 that are in another region than requests are sent to."""

import logging
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
from loopback import responding
from object_stores import NO_RETRIES
from zarr_core.errors import StoreError
from zarr_stores.object import ObjectStore

REGION = "eu-west-1"
LISTING = b"<ListBucketResult><Name>b</Name><KeyCount>0</KeyCount></ListBucketResult>"


def error(code):
    return b"<Error><Code>" + code + b"</Code></Error>"


def redirect(request):
    """The response of S3 to path-style requests."""
    return 301, {"x-amz-bucket-region": REGION}, error(b"PermanentRedirect")


def malformed(request):
    """The response of MinIO, and of S3 to requests for the address of a bucket."""
    if request.method == "HEAD" and "Authorization" in request.headers:
        return 400, {}, b""
    fields = {} if "Authorization" in request.headers else {"x-amz-bucket-region": REGION}
    return 400, fields, error(b"AuthorizationHeaderMalformed")


def bucket(other):
    """A bucket in ``REGION``; ``other`` computes the response of other regions."""

    def respond(request):
        if f"/{REGION}/s3/" not in request.headers.get("Authorization", ""):
            return other(request)
        fields = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 1970 00:00:00 GMT"}
        return 200, fields, LISTING if "list-type" in request.path else b"value"

    return responding(respond)


def store_at(server, **further):
    options = {"endpoint": server.url, "key": "me", "secret": "hidden", "retry_config": NO_RETRIES}
    return ObjectStore.from_url("s3://b/p", **options, **further)


CALLS = {
    "get": lambda store: bytes(store.get("k")) == b"value",
    "exists": lambda store: store.exists("k"),
    "set": lambda store: store.set("k", b"value") is None,
    "list": lambda store: list(store.list()) == [],
    "list_dir": lambda store: store.list_dir("") == ([], []),
    "update": lambda store: store.update("k", lambda reader: b"new") is None,
}


@pytest.mark.parametrize("other", [redirect, malformed])
@pytest.mark.parametrize("call", CALLS)
def test_the_region_of_the_bucket_is_found(call, other):
    with bucket(other) as server:
        store = store_at(server, region="us-east-1")
        assert CALLS[call](store)
        failed = len(server.requests)
        assert failed <= 5
        assert CALLS[call](store)
        assert all(REGION in it.headers["Authorization"] for it in server.requests[failed:])
        assert store.store.config["region"] == REGION


def test_the_region_is_requested_once_by_several_threads(caplog):
    caplog.set_level(logging.INFO, logger="zarr_core")
    with bucket(redirect) as server:
        store = store_at(server)
        with ThreadPoolExecutor(8) as pool:
            assert [*pool.map(lambda key: bytes(store.get(key)), "abcdefgh")] == [b"value"] * 8
        assert [it.path for it in server.requests if it.method == "HEAD"] == ["/b"]
        assert "s3://b/p at" in caplog.text
        assert "the bucket is in the region eu-west-1" in caplog.text


def test_a_pickle_has_the_region(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    with bucket(redirect) as server:
        store = ObjectStore.from_url("s3://b/p", endpoint=server.url)
        store.get("k")
        asked = len(server.requests)
        assert bytes(pickle.loads(pickle.dumps(store)).get("k")) == b"value"
        assert len(server.requests) == asked + 1


@pytest.mark.parametrize("fields", [{}, {"x-amz-bucket-region": "us-east-1"}])
def test_a_redirect_without_another_region_is_an_error(fields):
    with responding(lambda request: (301, fields, b"")) as server:
        store = store_at(server)
        with pytest.raises(StoreError, match="incorrectly configured region"):
            store.get("k")
        assert len(server.requests) == 2


def test_requests_state_that_the_requester_pays():
    with bucket(redirect) as server:
        store_at(server, requester_pays=True).get("k")
        assert server.requests[-1].headers["x-amz-request-payer"] == "requester"
