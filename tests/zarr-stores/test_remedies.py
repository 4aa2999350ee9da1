"""Messages about failures of services say what to do."""

import socket
import threading

import pytest
import zarr_core as zarr
from loopback import responding
from object_stores import NO_RETRIES
from zarr_core.errors import StoreError

pytest_plugins = ["servers.fixtures"]
KEYS = {"access_key_id": "A", "secret_access_key": "S", "region": "us-east-1"}
DATE = "Thu, 01 Jan 1970 00:00:01 GMT"


def document(code, message="refused"):
    return f"<Error><Code>{code}</Code><Message>{message}</Message></Error>".encode()


def message_of(url, **options):
    with pytest.raises(StoreError) as caught:
        zarr.open(url, "r", storage_options=options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("status", "headers", "body", "remedy"),
    [
        (400, {}, document("ExpiredToken"), "the credentials have expired: renew them"),
        (403, {}, document("RequestTimeTooSkewed"), "set the clock of this computer"),
        (403, {}, document("SignatureDoesNotMatch"), "check the credentials"),
        (301, {}, document("PermanentRedirect"), "pass its endpoint and region"),
        (301, {"Location": "/b/zarr.json"}, b"", "open the address to which it redirects"),
        (400, {}, document("AuthorizationHeaderMalformed"), "pass the region of the bucket"),
    ],
)
def test_responses_of_s3(status, headers, body, remedy):
    with responding(lambda request: (status, headers, body)) as server:
        options = {**KEYS, "endpoint": server.url, "retry_config": NO_RETRIES}
        assert remedy in message_of("s3://b", **options)


@pytest.mark.parametrize("code", ["ExpiredToken", "SignatureDoesNotMatch"])
def test_responses_to_s3fs(code):
    pytest.importorskip("s3fs")
    with responding(lambda request: (403, {}, document(code))) as server:
        options = {"key": "a", "secret": "b", "endpoint_url": server.url, "retry_timeout": 0}
        found = message_of("fsspec+s3://b", **options)
    assert "check that the credentials" in found or "the credentials have expired" in found


def test_the_address_for_tokens_is_not_the_bucket(monkeypatch):
    for name in ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_APPLICATION_CREDENTIALS"):
        monkeypatch.delenv(name, raising=False)
    with responding(lambda request: (403, {}, b"")) as server:
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_ROOT", "GCE_METADATA_IP"):
            monkeypatch.setenv(name, server.url.removeprefix("http://"))
        found = message_of("gs://b", retry_config=NO_RETRIES)
    assert "no credentials were found, and the machine provides none" in found


@pytest.fixture
def cutting():
    """The port of a server that sends the beginning of a value."""
    head = f'HTTP/1.1 200 OK\r\nContent-Length: 99\r\nETag: "a"\r\nLast-Modified: {DATE}\r\n\r\n{{'
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(head.encode())

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]


@pytest.mark.parametrize("url", ["http://127.0.0.1:{}/a", "s3://b"])
def test_values_that_are_cut(cutting, url):
    more = {**KEYS, "endpoint": f"http://127.0.0.1:{cutting}"} if url.startswith("s3") else {}
    found = message_of(url.format(cutting), retry_config=NO_RETRIES, **more)
    assert "the connection was closed before the whole value was received" in found


@pytest.mark.parametrize(
    ("url", "needs"),
    [
        ("fsspec+http://127.0.0.1:1/a", "aiohttp"),
        ("sftp://u@127.0.0.1:1/a", "paramiko"),
        ("fsspec+ftp://127.0.0.1:1/a", "fsspec"),
    ],
)
def test_addresses_of_fsspec_without_a_server(url, needs):
    pytest.importorskip(needs)
    assert "check the host and the port" in message_of(url)


@pytest.mark.parametrize("status", [401, 403])
def test_denials_to_fsspec_over_http(status):
    pytest.importorskip("aiohttp")
    with responding(lambda request: (status, {}, b"")) as server:
        found = message_of(f"fsspec+{server.url}/a", retry_timeout=0)
    assert "check that the credentials in storage_options permit this" in found


def test_roles_of_postgresql(postgres_server):
    url = f"postgresql://nosuch:wrong@{postgres_server.host}:{postgres_server.port}/postgres"
    assert "check the user name and the password" in message_of(url, retry_timeout=0)
