"""URLs and options that cannot have an effect are refused, in words without secrets."""

import numpy as np
import pytest
import zarr_core as zarr
from loopback import responding
from zarr_core.errors import NodeNotFoundError, StoreError
from zarr_stores.object import ObjectStore

SECRET = "hunter2hunter2"
DATE = "Thu, 01 Jan 1970 00:00:01 GMT"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"s3://me:{SECRET}@bucket/a", "pass access_key_id and secret_access_key"),
        (f"s3a://{SECRET}@bucket/a", "pass access_key_id and secret_access_key"),
        (f"gs://me:{SECRET}@bucket", "pass service_account_key or bearer_token"),
        (f"abfs://container:{SECRET}@account.host/a", "pass account_key or sas_token"),
        (f"s3://bucket/a?X-Amz-Signature={SECRET}", "open a presigned URL with https://"),
        (f"az://container/a?sig={SECRET}", "open a presigned URL with https://"),
        (f"gs://bucket?{SECRET}", "no query and no fragment"),
        (f"s3://bucket/a#{SECRET}", "no query and no fragment"),
    ],
)
def test_parts_of_urls_of_buckets(url, reason):
    with pytest.raises(StoreError, match=reason) as caught:
        zarr.open(url, "r")
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["abfs://container@account.dfs.core.windows.net/a", "s3://b/%3F%23"]
)
def test_urls_of_buckets_that_have_all_their_parts(url):
    ObjectStore.from_url(url, skip_signature=True)


@pytest.mark.parametrize(
    ("url", "options", "reason"),
    [
        (
            "s3://b",
            {"secret_access_key": [SECRET]},
            "secret_access_key must be a string.* not list",
        ),
        ("s3://b", {"key": SECRET.encode()}, "access_key_id .* not bytes; decode it"),
        ("s3://b", {"config": {"session_token": {SECRET}}}, "session_token .* not set"),
        ("az://b", {"account_name": "a", "account_key": (SECRET,)}, "account_key .* not tuple"),
        ("gs://b", {"bearer_token": f"{SECRET}\n"}, "bearer_token contains a line end"),
        ("s3://b", {"session_token": f"{SECRET}\r\n"}, "session_token contains a line end"),
        ("s3://b", {"region": "eu\0"}, "region contains a control character"),
        (
            "http://h",
            {"headers": {"Authorization": f"{SECRET}\n"}},
            "header Authorization contains",
        ),
        ("http://h", {"headers": [SECRET]}, "headers must be a mapping"),
        ("s3://b", {"headers": {"A": SECRET}}, "use default_headers in client_options"),
        ("s3://b", {"endpoint": "http://[bad"}, "endpoint must be a URL"),
        ("s3://b", {"endpoint_url": "127.0.0.1:9000"}, "endpoint must be a URL"),
        ("az://b", {"account_name": "a", "endpoint": "https://:1"}, "endpoint must be a URL"),
        ("s3://b", {"nonsense": 1}, "nonsense"),
        ("s3://b", {"config": {"nonsense": 1}}, "nonsense"),
        ("s3://b", {"config": "region"}, "config must be a mapping"),
        ("s3://b", {"client_options": {"nonsense": 1}}, "nonsense"),
        ("s3://b", {"retry_config": {"nonsense": 1}}, "unknown settings in retry_config: nonsense"),
        ("s3://b", {"retry_config": {"backoff": {"nonsense": 1}}}, "retry_config: nonsense"),
        ("s3://b", {"max_concurrency": 0}, "max_concurrency must be at least 1, not 0"),
        ("s3://", {}, "obstore rejects the URL"),
        ("obstore://b", {}, "the scheme is not one of s3, s3a, gs"),
        ("az://b", {}, "obstore rejects the URL.*AZURE_STORAGE_ACCOUNT_NAME"),
        ("https://", {}, "obstore rejects the URL"),
        ("s3://b", {"secret": SECRET, "secret_access_key": "other"}, "secret and .* contradict"),
        ("s3://b", {"webdav": True}, "webdav"),
        # of s3fs
        ("s3://b", {"session": "a session"}, r"option session is not supported; use fsspec\+s3://"),
        ("s3://b", {"version_aware": True}, "option version_aware is not supported; use fsspec"),
        ("s3://b", {"client_kwargs": {"verify": False}}, "client_kwargs with verify is not supp"),
        ("s3://b", {"client_kwargs": 1}, "client_kwargs must be a mapping"),
        ("s3://b", {"config_kwargs": {"retries": {}}}, "config_kwargs with retries is not supp"),
        ("s3://b", {"config_kwargs": {"signature_version": "s3"}}, "with signature_version is not"),
        ("s3://b", {"config_kwargs": 1}, "config_kwargs must be a mapping"),
        ("s3://b", {"s3_additional_kwargs": {"ACL": "x"}}, "s3_additional_kwargs with ACL is not"),
    ],
    ids=str,
)
def test_options_that_are_refused(url, options, reason, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(StoreError, match=reason) as caught:
        ObjectStore.from_url(url, **options)
    assert SECRET not in str(caught.value)
    assert url.rstrip("/") in str(caught.value) or "max_concurrency" in options


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("s3://b", "AWS_SESSION_TOKEN"),
        ("s3://b", "AWS_ENDPOINT_URL"),
        ("az://b", "AZURE_STORAGE_ACCOUNT_KEY"),
        ("gs://b", "GOOGLE_BEARER_TOKEN"),
    ],
)
def test_variables_of_the_environment(monkeypatch, url, name):
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "a")
    monkeypatch.setenv(name, f"{SECRET}\n")
    with pytest.raises(StoreError, match=f"variable {name} contains a line end") as caught:
        zarr.open(url, "r")
    assert SECRET not in str(caught.value)


def test_a_document_in_an_option_has_lines():
    key = '{\n"disable_oauth": true, "client_email": "", "private_key": "", "private_key_id": ""}'
    ObjectStore.from_url("gs://b", service_account_key=key)


# --- web servers ---


class Files:
    """The values of a group, for requests with a signature or a header."""

    def __init__(self):
        self.values = {}
        self.asked = []
        zarr.create_group(zarr.MemoryStore(self.values)).create_array("x", data=np.arange(5))

    def respond(self, request):
        path, _, query = request.path.partition("?")
        self.asked.append(path)
        if SECRET not in query + request.headers.get("Authorization", ""):
            return 403, {}, b""
        value = self.values.get(path.removeprefix("/d/a.zarr/"))
        headers = {"ETag": '"1"', "Last-Modified": DATE}
        return (404, {}, b"") if value is None else (200, headers, bytes(value))


@pytest.fixture
def server():
    files = Files()
    with responding(files.respond) as server:
        server.files = files
        yield server


@pytest.mark.parametrize("prefix", ["", "fsspec+", "simplecache::"])
@pytest.mark.parametrize("end", ["", "/"])
def test_signed_urls_of_hierarchies(server, prefix, end):
    if prefix:
        pytest.importorskip("aiohttp")
    root = zarr.open_group(f"{prefix}{server.url}/d/a.zarr{end}?sig={SECRET}", mode="r")
    assert root["x"][3] == 3
    assert SECRET not in f"{root.store}{root.store.url}{root['x']!r}"
    assert {path.partition("/d/a.zarr/")[0] for path in server.files.asked} == {""}


def test_schemes_in_any_case(server):
    url = server.url.replace("http", "HTTP")
    array = zarr.open_array(f"{url}/d/a.zarr/x", mode="r", storage_options={
        "headers": {"Authorization": SECRET}
    })  # fmt: skip
    assert array[4] == 4
    assert array.store.url.startswith("http://")
    assert (
        zarr.open_group("MEMORY://any", mode="a").store
        == zarr.open_group("memory://any", mode="r").store
    )


def test_headers_are_sent_with_those_of_the_client_options(server):
    options = {
        "headers": {"Authorization": SECRET},
        "client_options": {"default_headers": {"User-Agent": "test"}},
    }
    assert zarr.load(f"{server.url}/d/a.zarr", path="x", storage_options=options)[2] == 2


@pytest.mark.parametrize("name", ["refs.json", "refs.parq"])
def test_references_without_their_scheme(server, name):
    url = f"{server.url}/d/{name}"
    with pytest.raises(NodeNotFoundError, match=f"Open references as reference\\+{url}") as caught:
        zarr.open(f"{url}?sig={SECRET}", mode="r")
    assert SECRET not in str(caught.value)
