"""Features of the servers that the tests of stores depend on, without the stores."""

import http.client

import pytest
from object_stores import azure_environment, gcs_environment, s3_environment
from servers.azure_server import AzureServer
from servers.gcs_server import GcsServer
from servers.http_server import NginxServer
from servers.s3_server import MotoServer
from zarr_stores.object import ObjectStore

pytest_plugins = ["servers.fixtures"]

# Requests with method, path, body and headers, and their responses: a status, and the content.
REQUESTS = {
    "http_server": [
        ("PUT", "/dav/x/y", b"0123456789", {}, 201, b""),
        ("GET", "/dav/x/y", None, {"Range": "bytes=2-3"}, 206, b"23"),
        ("GET", "/dav/x/y", None, {"Range": "bytes=-3"}, 206, b"789"),
        ("PROPFIND", "/dav/x/", None, {"Depth": "1"}, 207 if NginxServer.lists else 405, None),
        ("DELETE", "/dav/x/y", None, {}, 204, b""),
    ],
    "webdav_server": [
        ("PUT", "/new", b"1", {"If-None-Match": "*"}, 201, None),
        ("PUT", "/new", b"2", {"If-None-Match": "*"}, 412, None),
        ("GET", "/new", None, {"Range": "bytes=0-0"}, 206, b"1"),
        ("PROPFIND", "/", None, {"Depth": "1"}, 207, None),
    ],
    "plain_http_server": [
        ("GET", "/a%20b", None, {"Range": "bytes=2-3"}, 200, b"content"),  # without ranges
    ],
}


@pytest.mark.parametrize("name", REQUESTS)
def test_http_servers_answer_as_the_tests_of_stores_expect(name, request):
    server = request.getfixturevalue(name)
    (server.root / "a b").write_bytes(b"content")
    for method, path, body, headers, status, content in [
        ("GET", "/a%20b", None, {}, 200, b"content"),
        *REQUESTS[name],
    ]:
        connection = http.client.HTTPConnection(server.host, server.port, timeout=60)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        assert response.status == status
        assert content in (None, response.read())
        connection.close()


@pytest.mark.parametrize(
    ("kind", "url", "environment"),
    [
        (MotoServer, "s3://{0.bucket}", s3_environment),
        (AzureServer, "az://{0.container}", azure_environment),
        (GcsServer, "gs://{0.bucket}", lambda server: gcs_environment(server.url)),
    ],
)
def test_servers_in_memory_have_an_empty_bucket_after_each_start(
    kind, url, environment, own_server, monkeypatch
):
    pytest.importorskip("obstore")
    server = own_server(kind)
    for name, value in environment(server).items():
        monkeypatch.setenv(name, value)
    store = ObjectStore.from_url(url.format(server))
    assert list(store.list()) == []
    if kind is not GcsServer:  # which obstore cannot write to
        store.set("a", b"v")
        assert list(store.list()) == ["a"]
    server.kill()
    server.start()
    assert list(store.list()) == []
